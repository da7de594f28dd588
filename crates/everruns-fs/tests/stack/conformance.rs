//! One contract for every file system and wrapper, and one for both backends.

use std::sync::Arc;

use bytes::Bytes;
use everruns_core::file_system::SessionFileSystem;
use everruns_core::path::Mount;
use everruns_core::workspace::WorkspaceBackend;
use everruns_fs::disk::{DiskFileSystem, DiskOptions, Resolution};
use everruns_fs::{
    AuditEvent, AuditFileSystem, DirectoryWorkspaceBackend, FileLimits, LimitsFileSystem,
    MemoryFileSystem, MemoryWorkspaceBackend, MountedFileSystem, PolicyFileSystem, RootAccess,
    SeededFile, SeededFileSystem, WorkspacePolicy, WorkspaceRootSet,
};
use everruns_testkit::conformance::file_system::{self, Options, Subject};
use everruns_testkit::conformance::workspace_backend::{self, Capabilities};
use everruns_testkit::doubles::BelowRootFileSystem;

use crate::support::{disk, disk_resolved_by, mounted, path};

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

fn audited(inner: Arc<dyn SessionFileSystem>) -> Arc<dyn SessionFileSystem> {
    let sink = Arc::new(|_: &AuditEvent<'_>| ());
    Arc::new(AuditFileSystem::new(inner, sink))
}

fn limited(inner: Arc<dyn SessionFileSystem>) -> Arc<dyn SessionFileSystem> {
    let limits = FileLimits::new()
        .file_bytes(1 << 30)
        .files(1 << 20)
        .total_bytes(1 << 40);
    Arc::new(LimitsFileSystem::new(inner, limits))
}

/// The whole stack over a head and a root: as an engine builds it, with limits on top.
fn stack(
    head: Arc<dyn SessionFileSystem>,
    docs: Arc<dyn SessionFileSystem>,
) -> Arc<dyn SessionFileSystem> {
    let mounts = Arc::new(mounted(audited(head), "docs", docs, RootAccess::ReadWrite));
    let policy = PolicyFileSystem::over_mounts(Arc::clone(&mounts), &permissive());
    let seeded = seeded(Arc::new(policy)).over_mounts(&mounts);
    audited(limited(Arc::new(seeded)))
}

fn below_root(inner: Arc<dyn SessionFileSystem>) -> Arc<dyn SessionFileSystem> {
    Arc::new(BelowRootFileSystem::new(
        inner,
        crate::support::root("docs"),
    ))
}

/// What is different where the files are in memory.
fn in_memory() -> Options {
    Options::default().without_links()
}

/// Checks what `wrap` makes of an empty tree on disk, which holds everything.
async fn check_over_disk<W>(resolution: Resolution, wrap: W)
where
    W: Fn(Arc<dyn SessionFileSystem>) -> Arc<dyn SessionFileSystem> + Send + Sync,
{
    file_system::check(Options::default(), || async {
        let (files, folder) = disk_resolved_by(resolution);
        Subject::new(wrap(files)).keeping(folder)
    })
    .await;
}

async fn check_over_memory<W>(wrap: W)
where
    W: Fn(Arc<dyn SessionFileSystem>) -> Arc<dyn SessionFileSystem> + Send + Sync,
{
    file_system::check(in_memory(), || async {
        Subject::new(wrap(Arc::new(MemoryFileSystem::new())))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_keeps_the_contract() {
    check_over_memory(|files| files).await;
}

/// Proves C20 for the contract's sake: a policy changes nothing else.
#[tokio::test(flavor = "multi_thread")]
async fn policy_keeps_the_contract() {
    let wrap = |inner| Arc::new(PolicyFileSystem::new(inner, permissive())) as _;
    check_over_disk(Resolution::Auto, wrap).await;
    check_over_memory(wrap).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mounts_keep_the_contract() {
    let wrap = |head| Arc::new(MountedFileSystem::new(head, WorkspaceRootSet::new())) as _;
    check_over_disk(Resolution::Auto, wrap).await;
    check_over_memory(wrap).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn seeds_keep_the_contract() {
    check_over_disk(Resolution::Auto, |inner| Arc::new(seeded(inner))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn audit_keeps_the_contract() {
    check_over_disk(Resolution::Auto, audited).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_keep_the_contract() {
    check_over_disk(Resolution::Auto, limited).await;
}

/// Proves C21: the stack as a whole is one more file system.
#[tokio::test(flavor = "multi_thread")]
async fn c21_the_whole_stack_keeps_the_contract_in_memory() {
    check_over_memory(|head| stack(head, Arc::new(MemoryFileSystem::new()))).await;
}

/// Proves C21: the stack as a whole is one more file system.
#[tokio::test(flavor = "multi_thread")]
async fn c21_the_whole_stack_keeps_the_contract_on_disk() {
    let wrap = |head| stack(head, Arc::new(MemoryFileSystem::new()));
    check_over_disk(Resolution::Auto, wrap).await;
}

/// Proves C21: the stack as a whole is one more file system, also where no kernel helps to resolve paths.
#[tokio::test(flavor = "multi_thread")]
async fn c21_the_whole_stack_keeps_the_contract_on_a_walked_disk() {
    let wrap = |head| stack(head, Arc::new(MemoryFileSystem::new()));
    check_over_disk(Resolution::Walk, wrap).await;
}

/// Proves C19: a root keeps what a head keeps.
#[tokio::test(flavor = "multi_thread")]
async fn c19_mounts_keep_the_contract_below_a_root() {
    let wrap = |docs| {
        let head = Arc::new(MemoryFileSystem::new());
        let mounts = mounted(head, "docs", docs, RootAccess::ReadWrite);
        below_root(Arc::new(mounts))
    };
    check_over_disk(Resolution::Auto, wrap).await;
    check_over_memory(wrap).await;
}

/// Proves C19 and C21: a root keeps what a head keeps, through all layers.
#[tokio::test(flavor = "multi_thread")]
async fn c19_c21_the_whole_stack_keeps_the_contract_below_a_root_in_memory() {
    check_over_memory(|docs| below_root(stack(Arc::new(MemoryFileSystem::new()), docs))).await;
}

/// Proves C19 and C21: a root keeps what a head keeps, through all layers.
#[tokio::test(flavor = "multi_thread")]
async fn c19_c21_the_whole_stack_keeps_the_contract_below_a_root_on_disk() {
    let wrap = |docs| below_root(stack(Arc::new(MemoryFileSystem::new()), docs));
    check_over_disk(Resolution::Auto, wrap).await;
}

/// Proves C19 and C21: a root keeps what a head keeps, through all layers and without the kernel's help.
#[tokio::test(flavor = "multi_thread")]
async fn c19_c21_the_whole_stack_keeps_the_contract_below_a_root_on_a_walked_disk() {
    let wrap = |docs| below_root(stack(Arc::new(MemoryFileSystem::new()), docs));
    check_over_disk(Resolution::Walk, wrap).await;
}

/// Proves H06 and C21: a root that lies in the head's own folder keeps what a head keeps, by either name.
#[tokio::test(flavor = "multi_thread")]
async fn h06_c21_an_overlapping_root_keeps_the_contract_by_either_name() {
    for by_root in [true, false] {
        file_system::check(Options::default(), || async {
            let (outer, folder) = disk();
            let tree = folder.path().join("tree");
            std::fs::create_dir(tree.join("docs")).unwrap();
            let options = DiskOptions::new(folder.path().join("locks2"));
            let inner = Arc::new(DiskFileSystem::open(tree.join("docs"), options).unwrap());
            // The tree under test is the one in the other, as head or as root.
            let files = if by_root {
                below_root(stack(outer, inner))
            } else {
                stack(inner, outer)
            };
            Subject::new(files).keeping(folder)
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_heads_keep_the_contract() {
    file_system::check(in_memory(), || async {
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
                commits: true,
                patches: true,
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
