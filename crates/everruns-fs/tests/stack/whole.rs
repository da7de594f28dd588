//! The layers together, as an engine stacks them.

use std::sync::Arc;

use everruns_core::file_system::{
    FileSystemError, Precondition, Removal, Replace, SessionFileSystem, SessionFileSystemExt as _,
};
use everruns_fs::{PolicyFileSystem, RootAccess, SeededFile, SeededFileSystem, WorkspacePolicy};

use crate::support::{disk, glob, memory, mounted, names, path, search, text};

fn stack(
    head: Arc<dyn SessionFileSystem>,
    docs: Arc<dyn SessionFileSystem>,
    policy: WorkspacePolicy,
) -> Arc<dyn SessionFileSystem> {
    let mounts = mounted(head, "docs", docs, RootAccess::ReadOnly);
    let policy = PolicyFileSystem::new(Arc::new(mounts), policy);
    let seed = SeededFile::read_only(path("AGENTS.md"), "rules");
    Arc::new(SeededFileSystem::new(Arc::new(policy), vec![seed]).unwrap())
}

/// Proves C04: the namespace is the same on disk and in memory, and no host path is in it or in an error.
#[tokio::test]
async fn c04_one_namespace_whatever_is_below() {
    let (on_disk, folder) = disk();
    let heads: [Arc<dyn SessionFileSystem>; 2] = [on_disk, memory(&[]).await];
    let host = folder.path().to_str().unwrap();
    let mut answers = Vec::new();
    for head in heads {
        let fs = stack(
            head,
            memory(&[("guide.md", "docs")]).await,
            WorkspacePolicy::read_write(),
        );
        fs.write_all("src/lib.rs", "code").await.unwrap();
        let (found, _) = search(fs.as_ref(), glob("/workspace", "*")).await;
        let mut said = found;
        said.extend(names(fs.as_ref(), "/workspace").await);
        said.extend(names(fs.as_ref(), "/roots/docs").await);
        let any = Precondition::Any;
        let errors = [
            text(fs.as_ref(), "missing").await.unwrap_err(),
            text(fs.as_ref(), "src").await.unwrap_err(),
            text(fs.as_ref(), ".env").await.unwrap_err(),
            text(fs.as_ref(), ".git/config").await.unwrap_err(),
            fs.write_all("/roots/docs/guide.md", "x").await.unwrap_err(),
            fs.write_all("AGENTS.md", "x").await.unwrap_err(),
            fs.remove(&path("src"), Removal::Entry, any)
                .await
                .unwrap_err(),
            fs.rename(&path("src"), &path("src/in"), Replace::Never)
                .await
                .unwrap_err(),
            fs.write(&path("src/lib.rs"), "x".into(), Precondition::Absent)
                .await
                .unwrap_err(),
        ];
        said.extend(errors.iter().map(ToString::to_string));
        assert!(said.iter().all(|line| !line.contains(host)), "{said:?}");
        answers.push(said);
    }
    assert_eq!(answers[0], answers[1]);
}

/// Proves C21: seeds, policy and mounts each keep their word in one stack.
#[tokio::test]
async fn c21_every_layer_is_asked() {
    let head = memory(&[("AGENTS.md", "forged"), ("secret/a", "s"), ("a", "1")]).await;
    let policy = WorkspacePolicy::builder()
        .allow_write("**")
        .deny_read("secret")
        .deny_read("AGENTS.md")
        .build()
        .unwrap();
    let fs = stack(head.clone(), memory(&[("guide.md", "docs")]).await, policy);
    assert_eq!(text(fs.as_ref(), "AGENTS.md").await.unwrap(), "rules");
    let denied = text(fs.as_ref(), "secret/a").await;
    assert!(matches!(denied, Err(FileSystemError::Denied { .. })));
    let read_only = fs
        .rename(&path("a"), &path("/roots/docs/a"), Replace::Never)
        .await;
    assert!(matches!(read_only, Err(FileSystemError::ReadOnly { .. })));
    let onto_seed = fs
        .rename(&path("a"), &path("AGENTS.md"), Replace::File)
        .await;
    assert!(matches!(onto_seed, Err(FileSystemError::ReadOnly { .. })));
    assert_eq!(names(fs.as_ref(), ".").await, ["AGENTS.md", "a"]);
    assert_eq!(text(head.as_ref(), "AGENTS.md").await.unwrap(), "forged");
}
