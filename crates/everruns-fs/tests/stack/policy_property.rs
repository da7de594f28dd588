//! Random trees under random policies.

use std::collections::BTreeSet;
use std::sync::Arc;

use everruns_core::file_system::{
    FileKind, PageRequest, Precondition, Removal, Replace, SessionFileSystem,
    SessionFileSystemExt as _,
};
use everruns_core::path::{Mount, WorkspacePath};
use everruns_fs::{MemoryFileSystem, PolicyFileSystem, WorkspacePolicy};
use proptest::prelude::*;

use crate::policy::{any_path, any_policy};
use crate::support::{glob, grep, search};

/// Every file that listings lead to, in pages of `limit`.
async fn listed(fs: &dyn SessionFileSystem, limit: usize) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![WorkspacePath::root()];
    while let Some(folder) = open.pop() {
        let mut request = PageRequest { after: None, limit };
        // A policy that shows nothing refuses the top folder, too.
        while let Ok(page) = fs.list(&folder, request.clone()).await {
            for entry in page.entries {
                let path = folder.join(&entry.name).unwrap();
                if entry.stat.kind == FileKind::Directory {
                    open.push(path);
                } else {
                    found.insert(path.to_string());
                }
            }
            match page.next {
                Some(next) => request.after = Some(next),
                None => break,
            }
        }
    }
    found
}

async fn tree(paths: &[WorkspacePath]) -> MemoryFileSystem {
    let fs = MemoryFileSystem::new();
    for path in paths {
        // Some are in each other's way, and some are `.git`.
        let path = path.with_mount(Mount::Head);
        drop(fs.write(&path, "word\n".into(), Precondition::Any).await);
    }
    fs
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    /// Proves C20: listings and searches show exactly the files that may be read, whatever the policy.
    #[test]
    fn c20_what_is_shown_is_what_may_be_read(
        paths in prop::collection::vec(any_path(), 1..15),
        policy in any_policy(),
        limit in 1_usize..4,
    ) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let inner = tree(&paths).await;
            let readable: BTreeSet<String> = listed(&inner, 100)
                .await
                .into_iter()
                .filter(|path| policy.permits_read(&WorkspacePath::parse(path).unwrap()))
                .collect();
            let fs = PolicyFileSystem::new(Arc::new(inner), policy.clone());
            assert_eq!(listed(&fs, limit).await, readable);
            if policy.permits_list(&WorkspacePath::root()) {
                for mut query in [grep(".", "word"), glob(".", "**")] {
                    query.hidden = true;
                    let (found, _) = search(&fs, query).await;
                    assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), readable);
                }
            }
            for path in &readable {
                assert_eq!(fs.read_all(path).await.unwrap(), "word\n");
            }
        });
    }

    /// Proves C20: whatever is tried under a policy, no file that it protects changes or goes.
    #[test]
    fn c20_no_change_reaches_what_may_not_be_written(
        paths in prop::collection::vec(any_path(), 1..10),
        policy in any_policy(),
        tried in prop::collection::vec((any_path(), any_path(), 0_u8..5), 1..20),
    ) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let inner = Arc::new(tree(&paths).await);
            let before = protected(inner.as_ref(), &policy).await;
            let fs = PolicyFileSystem::new(inner.clone(), policy.clone());
            for (one, two, kind) in &tried {
                let (one, two) = (one.with_mount(Mount::Head), two.with_mount(Mount::Head));
                let any = Precondition::Any;
                // Most are refused; what matters is what is left.
                drop(match kind {
                    0 => fs.write(&one, "changed".into(), any).await.map(drop),
                    1 => fs.remove(&one, Removal::Entry, any).await,
                    2 => fs.remove(&one, Removal::Recursive, any).await,
                    3 => fs.rename(&one, &two, Replace::File).await,
                    _ => fs.create_dir(&one).await,
                });
            }
            assert_eq!(protected(inner.as_ref(), &policy).await, before);
        });
    }
}

/// The files that the policy lets nobody write, with what they hold.
async fn protected(fs: &MemoryFileSystem, policy: &WorkspacePolicy) -> BTreeSet<(String, Vec<u8>)> {
    let mut found = BTreeSet::new();
    for path in listed(fs, 100).await {
        if !policy.permits_write(&WorkspacePath::parse(&path).unwrap()) {
            let bytes = fs.read_all(&path).await.unwrap();
            found.insert((path, bytes.to_vec()));
        }
    }
    found
}
