//! Moves from one mount to another: what moves is whole at the source or at the destination, as it was.

mod arriving;
mod failing;
mod random;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use everruns_core::file_system::{
    FileKind, FileMode, FileSystemError, LinkTarget, Precondition, ReadRange, Replace,
    SessionFileSystem, SessionFileSystemExt as _,
};
use everruns_fs::{AuditEvent, AuditFileSystem, MountedFileSystem, RootAccess};

use crate::support::{mounted, path};

/// An entry that is no folder, as it must arrive.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Thing {
    File(Bytes, bool),
    Link(LinkTarget),
}

/// All that is in the folder `dir`, by its path below it; nothing if there is no such folder.
async fn things(fs: &dyn SessionFileSystem, dir: &str) -> BTreeMap<String, Thing> {
    let top = path(dir);
    let mut found = BTreeMap::new();
    let mut open = vec![top.clone()];
    while let Some(folder) = open.pop() {
        let entries = match fs.list_all(&folder).await {
            Err(FileSystemError::NotFound { .. }) => continue,
            other => other.unwrap(),
        };
        for entry in entries {
            let at = folder.join(&entry.name).unwrap();
            let thing = match entry.stat.kind {
                FileKind::Directory => {
                    open.push(at);
                    continue;
                }
                FileKind::Symlink => Thing::Link(fs.read_link(&at).await.unwrap()),
                _ => {
                    let content = fs.read(&at, ReadRange::ALL).await.unwrap();
                    Thing::File(content.into_bytes(), entry.stat.executable)
                }
            };
            let below = at.relative().strip_prefix(top.relative()).unwrap();
            found.insert(below.to_owned(), thing);
        }
    }
    found
}

fn target(text: &str) -> LinkTarget {
    LinkTarget::new(text.as_bytes().to_vec()).unwrap()
}

async fn write_executable(fs: &dyn SessionFileSystem, at: &str, bytes: &'static str) {
    let (at, any) = (path(at), Precondition::Any);
    fs.write_with_mode(&at, bytes.into(), FileMode::Executable, any)
        .await
        .unwrap();
}

/// A folder `d` of every kind of thing; links in it go with `links`.
async fn fill(fs: &dyn SessionFileSystem, links: bool) -> BTreeMap<String, Thing> {
    fs.write_all("d/plain", "1").await.unwrap();
    write_executable(fs, "d/bin/run", "2").await;
    if links {
        for (at, text) in [
            ("d/latest", "bin/run"),
            ("d/bin/up", ".././/plain"),
            ("d/nowhere", "not/there"),
        ] {
            fs.create_link(&path(at), &target(text), Replace::Never)
                .await
                .unwrap();
        }
    }
    let all = things(fs, "d").await;
    assert_eq!(all.len(), if links { 5 } else { 2 });
    all
}

/// Counts the changes that are asked of `inner`.
fn counted(inner: Arc<dyn SessionFileSystem>) -> (Arc<dyn SessionFileSystem>, Arc<AtomicUsize>) {
    let changes = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&changes);
    let sink = Arc::new(move |_: &AuditEvent<'_>| {
        counter.fetch_add(1, Ordering::SeqCst);
    });
    (Arc::new(AuditFileSystem::new(inner, sink)), changes)
}

fn two_mounts(
    head: Arc<dyn SessionFileSystem>,
    docs: Arc<dyn SessionFileSystem>,
) -> MountedFileSystem {
    mounted(head, "docs", docs, RootAccess::ReadWrite)
}
