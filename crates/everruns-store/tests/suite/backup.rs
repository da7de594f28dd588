//! Copies of a database in use, and databases made of them.

use std::sync::Arc;
use std::time::Duration;

use everruns_core::clock::Timestamp;
use everruns_core::session::{
    AppendRequest, EventPayload, EventQuery, LeaseOwner, Sequence, SessionStore as _, StoreError,
};
use everruns_store::SqliteSessionStore;

use crate::support::samples::new_session;

const TERM: Duration = Duration::from_secs(10);

async fn append(
    store: &SqliteSessionStore,
    session: &everruns_core::ids::SessionId,
    token: everruns_core::session::FencingToken,
    place: u64,
) -> Result<(), StoreError> {
    let request = AppendRequest {
        session: session.clone(),
        token,
        expected: Sequence(place),
        idempotency_key: format!("key {place}"),
        at: Timestamp::from_millis(1),
        events: vec![EventPayload::UserMessage {
            text: format!("message {place}"),
        }],
    };
    store.append(request).await.map(drop)
}

/// Every copy that is made while events are appended is sound, and holds the first so many of them.
#[tokio::test]
async fn a_backup_of_a_busy_database_is_of_one_moment() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteSessionStore::open(folder.path().join("sessions.db"))
        .await
        .unwrap();
    let session = new_session("ses_busy");
    let id = session.id.clone();
    store.create(session).await.unwrap();
    let owner = LeaseOwner("one".into());
    let lease = store
        .acquire_lease(&id, &owner, Timestamp::from_millis(0), TERM)
        .await
        .unwrap();
    let writing = Arc::new(store.clone());
    let (writer, writer_id) = (Arc::clone(&writing), id.clone());
    let task = tokio::spawn(async move {
        for place in 0..200 {
            append(&writer, &writer_id, lease.token, place)
                .await
                .unwrap();
        }
    });
    for number in 0..3 {
        let target = folder.path().join(format!("backup {number}"));
        store.backup(&target).await.unwrap();
        let error = store.backup(&target).await.unwrap_err();
        assert!(matches!(error, StoreError::FileExists { .. }), "{error}");
        let copy = SqliteSessionStore::open(&target).await.unwrap();
        copy.check_integrity().await.unwrap();
        let last = copy.session(&id).await.unwrap().last_sequence;
        let all = EventQuery::after(Sequence::START, 1_000);
        let events = copy.events(&id, all).await.unwrap().events;
        assert_eq!(events.len() as u64, last.0);
        copy.close().await;
    }
    task.await.unwrap();
    let names = std::fs::read_dir(folder.path()).unwrap();
    let parts = names.filter(|name| {
        let name = name.as_ref().unwrap().file_name();
        name.to_string_lossy().ends_with(".part")
    });
    assert_eq!(parts.count(), 0);
}

/// Proves H73 for the store: whoever held a lease before is fenced off, and no token is given twice.
#[tokio::test]
async fn h73_a_restored_backup_fences_off_those_who_went_on() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteSessionStore::open(folder.path().join("sessions.db"))
        .await
        .unwrap();
    let session = new_session("ses_a");
    let id = session.id.clone();
    store.create(session).await.unwrap();
    let session = new_session("ses_unused");
    let unused = session.id.clone();
    store.create(session).await.unwrap();
    let owner = LeaseOwner("one".into());
    let now = Timestamp::from_millis(0);
    let lease = store.acquire_lease(&id, &owner, now, TERM).await.unwrap();
    append(&store, &id, lease.token, 0).await.unwrap();
    let backup = folder.path().join("backup");
    store.backup(&backup).await.unwrap();
    append(&store, &id, lease.token, 1).await.unwrap();
    store.release_lease(&id, lease.token).await.unwrap();
    let later = store.acquire_lease(&id, &owner, now, TERM).await.unwrap();

    let target = folder.path().join("restored.db");
    SqliteSessionStore::restore(&backup, &target).await.unwrap();
    let error = SqliteSessionStore::restore(&backup, &target)
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::FileExists { .. }), "{error}");
    let restored = SqliteSessionStore::open(&target).await.unwrap();
    assert_eq!(
        restored.session(&id).await.unwrap().last_sequence,
        Sequence(2)
    );
    let all = EventQuery::after(Sequence::START, 10);
    let events = restored.events(&id, all).await.unwrap().events;
    assert_eq!(events[1].payload, EventPayload::RecordRestored);
    let unused = restored.session(&unused).await.unwrap();
    assert_eq!(unused.last_sequence, Sequence::START, "nothing is missing");
    for token in [lease.token, later.token] {
        let error = append(&restored, &id, token, 2).await.unwrap_err();
        assert!(matches!(error, StoreError::Fenced { .. }), "{error}");
    }
    let taken = restored
        .acquire_lease(&id, &owner, now, TERM)
        .await
        .unwrap();
    assert!(taken.token > later.token);
    append(&restored, &id, taken.token, 2).await.unwrap();
}

/// Proves H61 and H73 together: a fork that was deleted before the backup is no fork that was never made, also in what is
/// made of it.
#[tokio::test]
async fn h61_h73_a_restored_backup_knows_what_was_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteSessionStore::open(folder.path().join("sessions.db"))
        .await
        .unwrap();
    let new = ["ses_used", "ses_unused", "ses_later"].map(new_session);
    let [used, unused, later] = new.clone().map(|session| session.id);
    for session in new {
        store.create(session).await.unwrap();
    }
    let (owner, now) = (LeaseOwner("one".into()), Timestamp::from_millis(0));
    let lease = store.acquire_lease(&used, &owner, now, TERM).await.unwrap();
    store.delete(&used, Some(lease.token)).await.unwrap();
    store.delete(&unused, None).await.unwrap();
    let backup = folder.path().join("backup");
    store.backup(&backup).await.unwrap();
    store.delete(&later, None).await.unwrap();

    let target = folder.path().join("restored.db");
    SqliteSessionStore::restore(&backup, &target).await.unwrap();
    let restored = SqliteSessionStore::open(&target).await.unwrap();
    restored.check_integrity().await.unwrap();
    let never = new_session("ses_never").id;
    for (session, expected) in [(used, true), (unused, true), (later, false), (never, false)] {
        let told = restored.is_deleted(&session).await.unwrap();
        assert_eq!(told, expected, "{session}");
    }
}

#[tokio::test]
async fn what_is_no_backup_is_not_restored() {
    let folder = tempfile::tempdir().unwrap();
    let (other, target) = (folder.path().join("other"), folder.path().join("target"));
    std::fs::write(&other, vec![b'x'; 5_000]).unwrap();
    let error = SqliteSessionStore::restore(&other, &target)
        .await
        .unwrap_err();
    assert!(
        matches!(error, StoreError::CorruptDatabase { .. }),
        "{error}"
    );
    let missing = folder.path().join("missing");
    SqliteSessionStore::restore(&missing, &target)
        .await
        .unwrap_err();
    assert!(!target.exists(), "nothing was made");
}

/// Whatever a user has named like an unfinished copy is the user's, and so is what has the copy's name.
#[tokio::test]
async fn a_copy_touches_no_file_but_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let names = || {
        let names = std::fs::read_dir(folder.path()).unwrap();
        let mut names: Vec<_> = names.map(|name| name.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let database = tempfile::tempdir().unwrap();
    let store = SqliteSessionStore::open(database.path().join("sessions.db"))
        .await
        .unwrap();
    store.create(new_session("s")).await.unwrap();
    let theirs = ["backup.part", "restored.part", "taken", "taken.part"];
    for name in theirs {
        std::fs::write(at(name), name).unwrap();
    }
    store.backup(at("backup")).await.unwrap();
    SqliteSessionStore::restore(at("backup"), at("restored"))
        .await
        .unwrap();
    std::os::unix::fs::symlink("nowhere", at("link")).unwrap();
    let made = names();
    assert_eq!(made.len(), theirs.len() + 3, "{made:?}");
    for taken in ["taken", "link", "backup"] {
        for refused in [
            store.backup(at(taken)).await,
            SqliteSessionStore::restore(at("backup"), at(taken)).await,
        ] {
            let error = refused.unwrap_err();
            assert!(matches!(error, StoreError::FileExists { .. }), "{error}");
        }
    }
    SqliteSessionStore::restore(at("taken"), at("other"))
        .await
        .unwrap_err();
    assert_eq!(names(), made);
    for name in theirs {
        assert_eq!(std::fs::read(at(name)).unwrap(), name.as_bytes());
    }
    for copy in ["backup", "restored"] {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(at(copy)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{copy} is nobody else's business");
        let copy = SqliteSessionStore::open(at(copy)).await.unwrap();
        copy.session(&everruns_core::ids::SessionId::new("s").unwrap())
            .await
            .unwrap();
    }
}
