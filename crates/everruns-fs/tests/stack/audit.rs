use std::sync::{Arc, Mutex};

use everruns_core::file_system::{
    ContentVersion, FileSystemError, Precondition, Removal, Replace, SessionFileSystem,
    SessionFileSystemExt as _,
};
use everruns_fs::{
    AuditEvent, AuditFileSystem, AuditOperation, AuditOutcome, MemoryFileSystem, WorkspacePolicy,
};
use everruns_testkit::doubles::RefusingFileSystem;

use crate::support::{memory, path, under};

/// What was recorded, as text: what, where, before, after, how it ended.
type Log = Arc<Mutex<Vec<String>>>;

fn short(version: Option<ContentVersion>) -> String {
    let known = ["one", "two", "three"];
    match version {
        None => "-".to_owned(),
        Some(version) => known
            .into_iter()
            .find(|text| ContentVersion::of(text.as_bytes()) == version)
            .unwrap_or("?")
            .to_owned(),
    }
}

fn audited(inner: Arc<dyn SessionFileSystem>) -> (AuditFileSystem, Log) {
    let log = Log::default();
    let to = log.clone();
    let sink = move |event: &AuditEvent<'_>| {
        let kind = match event.operation {
            AuditOperation::Write { bytes, .. } => format!("write {bytes}"),
            AuditOperation::Remove { removal } => format!("remove {removal:?}"),
            AuditOperation::Rename { to, .. } => format!("move to {}", to.relative()),
            AuditOperation::CreateDir => "folder".to_owned(),
            other => format!("{other:?}"),
        };
        let outcome = match event.outcome {
            AuditOutcome::Done => "done",
            AuditOutcome::Failed(FileSystemError::Conflict { .. }) => "conflict",
            AuditOutcome::Failed(FileSystemError::Denied { .. }) => "denied",
            AuditOutcome::Failed(_) => "failed",
            AuditOutcome::Abandoned => "abandoned",
            _ => "?",
        };
        let (before, after) = (short(event.before), short(event.after));
        to.lock().unwrap().push(format!(
            "{kind} {}: {before} {after} {outcome}",
            event.path.relative()
        ));
    };
    (AuditFileSystem::new(inner, Arc::new(sink)), log)
}

#[tokio::test]
async fn every_change_is_recorded_once_with_its_versions() {
    let (files, log) = audited(Arc::new(MemoryFileSystem::new()));
    files.write_all("a", "one").await.unwrap();
    files.write_all("a", "two").await.unwrap();
    let two = ContentVersion::of(b"two");
    files
        .write(&path("a"), "three".into(), Precondition::Matches(two))
        .await
        .unwrap();
    files.create_dir(&path("d")).await.unwrap();
    files
        .rename(&path("a"), &path("d/b"), Replace::Never)
        .await
        .unwrap();
    files
        .remove(&path("d/b"), Removal::Entry, Precondition::Any)
        .await
        .unwrap();
    files
        .remove(&path("d"), Removal::Recursive, Precondition::Any)
        .await
        .unwrap();
    assert_eq!(
        *log.lock().unwrap(),
        [
            "write 3 a: - one done",
            "write 3 a: one two done",
            "write 5 a: two three done",
            "folder d: - - done",
            "move to d/b a: three three done",
            "remove Entry d/b: three - done",
            "remove Recursive d: - - done",
        ]
    );
}

#[tokio::test]
async fn looking_is_not_recorded() {
    let (files, log) = audited(memory(&[("a", "one")]).await);
    files.read_all("a").await.unwrap();
    files.list_all(&path(".")).await.unwrap();
    files.stat(&path("a")).await.unwrap();
    assert_eq!(*log.lock().unwrap(), [""; 0]);
}

#[tokio::test]
async fn refused_and_failed_changes_are_recorded_with_what_was_there() {
    let inner = under(
        memory(&[("a", "one"), (".env", "two")]).await,
        WorkspacePolicy::read_write(),
    );
    let (files, log) = audited(Arc::new(inner));
    let stale = Precondition::Matches(ContentVersion::of(b"three"));
    let conflict = files.write(&path("a"), "x".into(), stale).await;
    assert!(matches!(conflict, Err(FileSystemError::Conflict { .. })));
    files.write_all(".env", "x").await.unwrap_err();
    files
        .rename(&path("missing"), &path("b"), Replace::Never)
        .await
        .unwrap_err();
    assert_eq!(
        *log.lock().unwrap(),
        [
            "write 1 a: one - conflict",
            // The policy does not show what is there either.
            "write 1 .env: - - denied",
            "move to b missing: - - failed",
        ]
    );
    let (files, log) = audited(Arc::new(RefusingFileSystem::new()));
    files.create_dir(&path("d")).await.unwrap_err();
    assert_eq!(*log.lock().unwrap(), ["folder d: - - denied"]);
}

/// Proves H55 for the record: a change that nobody waits for is not left out.
#[tokio::test]
async fn h55_abandoned_changes_are_recorded() {
    let (disk, _folder) = crate::support::disk();
    let (files, log) = audited(disk);
    let at = path("a");
    let mut write = files.write(&at, "one".into(), Precondition::Absent);
    let waited = futures::poll!(write.as_mut());
    assert!(waited.is_pending());
    drop(write);
    assert_eq!(*log.lock().unwrap(), ["write 3 a: - - abandoned"]);
}
