//! One contract for every file system and wrapper, and one for both backends.

use std::sync::Arc;

use bytes::Bytes;
use everruns_core::file_system::SessionFileSystem;
use everruns_core::path::Mount;
use everruns_core::workspace::WorkspaceBackend;
use everruns_fs::{
    AuditEvent, AuditFileSystem, DirectoryWorkspaceBackend, FileLimits, LimitsFileSystem,
    MemoryFileSystem, MemoryWorkspaceBackend, MountedFileSystem, PolicyFileSystem, RootAccess,
    SeededFile, SeededFileSystem, WorkspacePolicy, WorkspaceRootSet,
};
use everruns_testkit::conformance::file_system::{self, Options, Subject};
use everruns_testkit::conformance::workspace_backend::{self, Capabilities};

use crate::support::{disk, memory, mounted, path};

fn permissive() -> WorkspacePolicy {
    WorkspacePolicy::builder()
        .allow_write("**")
        .allow_sensitive(true)
        .allow_recursive_delete(true)
        .build()
        .unwrap()
}

fn seeded(inner: Arc<dyn SessionFileSystem>) -> SeededFileSystem {
    // The suite wants an empty tree, so the seed lies where it does not look.
    let elsewhere = path("seed").with_mount(Mount::Root(crate::support::root("seeds")));
    let seed = SeededFile::read_only(elsewhere, Bytes::from_static(b"seed"));
    SeededFileSystem::new(inner, vec![seed]).unwrap()
}

/// The whole stack, as an engine builds it.
fn stack(head: Arc<dyn SessionFileSystem>) -> Arc<dyn SessionFileSystem> {
    let root = Arc::new(MemoryFileSystem::new());
    let mounts = mounted(head, "docs", root, RootAccess::ReadOnly);
    let policy = PolicyFileSystem::new(Arc::new(mounts), permissive());
    Arc::new(seeded(Arc::new(policy)))
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_keeps_the_contract() {
    file_system::check(Options::default(), || async {
        Subject::new(Arc::new(MemoryFileSystem::new()))
    })
    .await;
}

/// Proves C20 for the contract's sake: a policy changes nothing else.
#[tokio::test(flavor = "multi_thread")]
async fn policy_keeps_the_contract() {
    file_system::check(Options::default(), || async {
        let inner = Arc::new(MemoryFileSystem::new());
        Subject::new(Arc::new(PolicyFileSystem::new(inner, permissive())))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mounts_keep_the_contract() {
    file_system::check(Options::default(), || async {
        let head = memory(&[]).await;
        Subject::new(Arc::new(MountedFileSystem::new(
            head,
            WorkspaceRootSet::new(),
        )))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn seeds_keep_the_contract() {
    file_system::check(Options::default(), || async {
        Subject::new(Arc::new(seeded(Arc::new(MemoryFileSystem::new()))))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn audit_keeps_the_contract() {
    file_system::check(Options::default(), || async {
        let (inner, folder) = disk();
        let sink = Arc::new(|_: &AuditEvent<'_>| ());
        Subject::new(Arc::new(AuditFileSystem::new(inner, sink))).keeping(folder)
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_keep_the_contract() {
    file_system::check(Options::default(), || async {
        let (inner, folder) = disk();
        let limits = FileLimits::new()
            .file_bytes(1 << 30)
            .files(1 << 20)
            .total_bytes(1 << 40);
        Subject::new(Arc::new(LimitsFileSystem::new(inner, limits))).keeping(folder)
    })
    .await;
}

/// Proves C21: the stack as a whole is one more file system.
#[tokio::test(flavor = "multi_thread")]
async fn c21_the_whole_stack_keeps_the_contract_in_memory() {
    file_system::check(Options::default(), || async {
        Subject::new(stack(Arc::new(MemoryFileSystem::new())))
    })
    .await;
}

/// Proves C21: the stack as a whole is one more file system.
#[tokio::test(flavor = "multi_thread")]
async fn c21_the_whole_stack_keeps_the_contract_on_disk() {
    file_system::check(Options::default(), || async {
        let (files, folder) = disk();
        Subject::new(stack(files)).keeping(folder)
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_heads_keep_the_contract() {
    file_system::check(Options::default(), || async {
        let backend: Arc<dyn WorkspaceBackend> = Arc::new(MemoryWorkspaceBackend::new());
        let workspace = everruns_core::workspace::Workspace::open(backend, "project")
            .await
            .unwrap();
        Subject::new(workspace.head("head").create().await.unwrap().file_system())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_backend_keeps_the_contract() {
    workspace_backend::check(|| async {
        workspace_backend::Subject::new(Arc::new(MemoryWorkspaceBackend::new()), "project")
            .can(Capabilities {
                revisions: true,
                merges_into: Some("main".to_owned()),
                ..Capabilities::default()
            })
            .other_workspace("another project")
    })
    .await;
}

/// Proves C18 for the contract's sake
#[tokio::test(flavor = "multi_thread")]
async fn c18_directory_backend_keeps_the_contract() {
    workspace_backend::check(|| async {
        let folder = tempfile::tempdir().unwrap();
        let (tree, state) = (folder.path().join("tree"), folder.path().join("state"));
        std::fs::create_dir(&tree).unwrap();
        std::os::unix::fs::symlink("tree", folder.path().join("link")).unwrap();
        let backend = DirectoryWorkspaceBackend::open(&tree, &state).unwrap();
        let locator = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let subject = workspace_backend::Subject::new(Arc::new(backend), locator("tree"))
            .can(Capabilities {
                isolated: false,
                many_heads: false,
                tracks_changes: false,
                checkpoints: false,
                forks: false,
                destroys: false,
                ..Capabilities::default()
            })
            .also_at(locator("link"))
            .also_at(locator("tree/."))
            .bad_locator(locator("missing"))
            .bad_locator(locator("state"))
            .bad_locator("");
        subject
            .restarting(move || {
                let backend = DirectoryWorkspaceBackend::open(&tree, &state).unwrap();
                async move { Arc::new(backend) as Arc<dyn WorkspaceBackend> }
            })
            .keeping(folder)
    })
    .await;
}
