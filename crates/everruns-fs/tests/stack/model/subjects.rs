use std::path::Path;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use everruns_fs::disk::{DiskFileSystem, DiskOptions, Resolution};
use everruns_fs::{
    AuditEvent, AuditFileSystem, FileLimits, LimitsFileSystem, MemoryFileSystem, PolicyFileSystem,
    RootAccess, SeededFile, SeededFileSystem, WorkspacePolicy,
};
use proptest::prelude::*;

use super::plain::Rules;
use super::run::{Log, Seen, Subject, contents};
use super::step::{Step, any_steps};
use crate::support::{mounted, path};

/// Trees without mounts.
const HEAD: &[&str] = &["/workspace"];

/// The head and a root that may be written.
const HEAD_AND_ROOT: &[&str] = &["/workspace", "/workspace", "/roots/docs"];

fn check(mut subject: Subject, steps: &[Step]) {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(async {
        for step in steps {
            subject.step(step).await;
        }
        subject.compare_all().await;
    });
}

fn tree(folder: &Path, name: &str, resolution: Resolution) -> DiskFileSystem {
    let root = folder.join(name);
    std::fs::create_dir(&root).unwrap();
    let options = DiskOptions::new(folder.join("locks")).resolution(resolution);
    let files = DiskFileSystem::open(root, options).unwrap();
    assert_eq!(files.resolution(), resolution);
    files
}

fn check_on_disk(resolution: Resolution, steps: &[Step]) {
    let folder = tempfile::tempdir().unwrap();
    let mut subject = Subject::new(tree(folder.path(), "head", resolution));
    subject.hosts = vec![("/workspace", folder.path().join("head"))];
    check(subject, steps);
}

/// What lies in a folder that is shown, and must outlive everything.
fn put_secret(subject: &mut Subject, host: &Path) {
    std::fs::create_dir(host.join("b")).unwrap();
    std::fs::write(host.join("b/secret"), "kept").unwrap();
    subject.plain.entries.insert(path("b"), None);
    let kept = Some(Bytes::from_static(b"kept"));
    subject.plain.entries.insert(path("b/secret"), kept);
}

/// Audit over limits over seeds over policy over mounts over two trees on disk.
fn whole_stack(folder: &Path, resolution: Resolution) -> Subject {
    let head = Arc::new(tree(folder, "head", resolution));
    let docs = Arc::new(tree(folder, "docs", resolution));
    let mounts = mounted(head, "docs", docs, RootAccess::ReadWrite);
    let policy = WorkspacePolicy::builder()
        .allow_write("**")
        .allow_sensitive(true)
        .allow_recursive_delete(true)
        .deny_read("**/secret")
        .build();
    let mounts = Arc::new(mounts);
    let policed = PolicyFileSystem::over_mounts(Arc::clone(&mounts), &policy.unwrap());
    // The plain map knows no seeds, so this one lies where no step goes.
    let elsewhere = path("/roots/seeds/seed");
    let seeds = vec![SeededFile::read_only(elsewhere, "seed")];
    let seeded = SeededFileSystem::new(Arc::new(policed), seeds).unwrap();
    let seeded = seeded.over_mounts(&mounts);
    let rules = Rules {
        denied: Some("secret"),
        file_bytes: Some(10),
        files: Some(12),
        total_bytes: Some(60),
    };
    let limits = FileLimits::new().file_bytes(10).files(12).total_bytes(60);
    let limited = LimitsFileSystem::new(Arc::new(seeded), limits);
    let log = Log::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&log);
    let audited = AuditFileSystem::new(
        Arc::new(limited.clone()),
        Arc::new(move |event: &AuditEvent<'_>| sink.lock().unwrap().push(Seen::of(event))),
    );
    let mut subject = Subject::new(audited);
    subject.plain.rules = rules;
    subject.mounts = &["/workspace", "/roots/docs"];
    subject.hosts = vec![
        ("/workspace", folder.join("head")),
        ("/roots/docs", folder.join("docs")),
    ];
    subject.log = Some(log);
    subject.limits = Some(limited);
    put_secret(&mut subject, &folder.join("head"));
    subject
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Random operations give what a plain map gives; a fork taken on the way keeps the state of that moment.
    #[test]
    fn memory_agrees_with_a_plain_map(steps in any_steps(HEAD, 40), fork_at in 0_usize..40) {
        let files = MemoryFileSystem::new();
        let mut subject = Subject::new(files.clone());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut fork = None;
            for (index, step) in steps.iter().enumerate() {
                if index == fork_at {
                    fork = Some((files.fork(), subject.plain.entries.clone()));
                }
                subject.step(step).await;
            }
            subject.compare_all().await;
            if let Some((fork, then)) = fork {
                assert_eq!(contents(&fork, HEAD).await, then);
            }
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_disk_agrees_with_a_plain_map(steps in any_steps(HEAD, 40)) {
        check_on_disk(Resolution::Kernel, &steps);
    }

    #[test]
    fn the_walked_disk_agrees_with_a_plain_map(steps in any_steps(HEAD, 40)) {
        check_on_disk(Resolution::Walk, &steps);
    }

    /// Proves C21: the layers together do what each does, and what a policy hides outlives every operation.
    #[test]
    fn c21_the_whole_stack_agrees_with_a_plain_map(
        steps in any_steps(HEAD_AND_ROOT, 40),
        walked in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let resolution = if walked { Resolution::Walk } else { Resolution::Kernel };
        check(whole_stack(folder.path(), resolution), &steps);
    }
}
