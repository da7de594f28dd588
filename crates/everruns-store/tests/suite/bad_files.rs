//! Proves H72: files that are refused stay as they are.

use std::path::{Path, PathBuf};

use everruns_core::session::{EventQuery, Sequence, SessionStore as _, StoreError};
use everruns_core::workspace::WorkspaceHeadAccess::Isolated;
use everruns_store::SqliteSessionStore;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode};
use sqlx::{ConnectOptions as _, Connection as _};

use crate::support::samples::{append, binding, id, leased, new_session};

/// A closed database with sessions, bindings and some pages of events.
async fn filled(folder: &Path) -> PathBuf {
    let file = folder.join("sessions.db");
    let store = SqliteSessionStore::open(&file).await.unwrap();
    let token = leased(&store, "s").await;
    store.bind(&id("s"), binding("h", Isolated)).await.unwrap();
    for n in 0..20 {
        let key = format!("{n}-{}", "x".repeat(1_000));
        append(&store, "s", token, n, &key).await.unwrap();
    }
    store.close().await;
    let log = folder.join("sessions.db-wal");
    assert!(!log.exists(), "a closed database is one file");
    file
}

/// Changes the file with any statement, as another program would.
async fn with_raw(file: &Path, statements: &'static str) {
    let mut connection = SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(true)
        .connect()
        .await
        .unwrap();
    sqlx::raw_sql(statements)
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
}

/// Opens a file that must be refused, and checks that its bytes stay.
async fn refused(file: &Path) -> StoreError {
    let before = std::fs::read(file).unwrap();
    let error = SqliteSessionStore::open(file).await.unwrap_err();
    assert!(
        std::fs::read(file).unwrap() == before,
        "{error}: the file was changed"
    );
    assert!(!error.is_retryable(), "{error}");
    error
}

async fn refused_as_corrupt(file: &Path) -> String {
    match refused(file).await {
        StoreError::CorruptDatabase { location, reason } => {
            assert_eq!(location, file);
            reason
        }
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn h72_a_newer_schema() {
    let folder = tempfile::tempdir().unwrap();
    let file = filled(folder.path()).await;
    with_raw(&file, "PRAGMA user_version = 7").await;
    match refused(&file).await {
        StoreError::NewerSchema {
            found, supported, ..
        } => assert_eq!((found, supported), (7, 1)),
        other => panic!("{other}"),
    }
}

/// The newer version is in the write-ahead log only, because a newer program has the file open.
#[tokio::test]
async fn h72_a_newer_schema_in_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let file = filled(folder.path()).await;
    let mut newer = SqliteConnectOptions::new()
        .filename(&file)
        .journal_mode(SqliteJournalMode::Wal)
        .connect()
        .await
        .unwrap();
    sqlx::raw_sql("PRAGMA user_version = 7")
        .execute(&mut newer)
        .await
        .unwrap();
    let error = refused(&file).await;
    assert!(
        matches!(error, StoreError::NewerSchema { found: 7, .. }),
        "{error}"
    );
    newer.close().await.unwrap();
}

#[tokio::test]
async fn h72_no_database() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.txt");
    for bytes in [
        b"x".to_vec(),
        b"Just some notes.\n".repeat(500),
        b"SQLite format 3\0".to_vec(),
        [b"SQLite format 3\0".as_slice(), &[0xff; 8_192]].concat(),
        vec![0; 4_096],
    ] {
        std::fs::write(&file, &bytes).unwrap();
        refused_as_corrupt(&file).await;
    }
}

#[tokio::test]
async fn h72_truncated_files() {
    let folder = tempfile::tempdir().unwrap();
    let file = filled(folder.path()).await;
    let whole = std::fs::read(&file).unwrap();
    for length in [1, 99, 100, 512, 4_096, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&file, &whole[..length]).unwrap();
        refused_as_corrupt(&file).await;
    }
}

#[tokio::test]
async fn h72_a_damaged_schema_page() {
    let folder = tempfile::tempdir().unwrap();
    let file = filled(folder.path()).await;
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[100..2_000].fill(0xa5);
    std::fs::write(&file, &bytes).unwrap();
    refused_as_corrupt(&file).await;
}

#[tokio::test]
async fn h72_an_empty_file_whose_log_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sessions.db");
    std::fs::write(&file, b"").unwrap();
    std::fs::write(folder.path().join("sessions.db-wal"), b"what is left").unwrap();
    refused_as_corrupt(&file).await;
}

#[tokio::test]
async fn h72_a_database_of_another_program() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("other.db");
    with_raw(
        &file,
        "CREATE TABLE sessions (id TEXT); PRAGMA user_version = 1",
    )
    .await;
    assert!(refused_as_corrupt(&file).await.contains("another program"));
}

#[tokio::test]
async fn h72_a_missing_table() {
    let folder = tempfile::tempdir().unwrap();
    let file = filled(folder.path()).await;
    with_raw(&file, "DROP TABLE leases").await;
    assert!(refused_as_corrupt(&file).await.contains("leases"));
}

/// Damage that opening cannot see without reading everything is found on demand, and by what reads it.
#[tokio::test]
async fn h72_a_damaged_page_of_events() {
    let folder = tempfile::tempdir().unwrap();
    let file = filled(folder.path()).await;
    let store = SqliteSessionStore::open(&file).await.unwrap();
    store.check_integrity().await.unwrap();
    store.close().await;
    let mut bytes = std::fs::read(&file).unwrap();
    let end = bytes.len();
    bytes[end - 8_192..].fill(0xa5);
    std::fs::write(&file, &bytes).unwrap();
    let store = SqliteSessionStore::open(&file).await.unwrap();
    let error = store.check_integrity().await.unwrap_err();
    assert!(
        matches!(error, StoreError::CorruptDatabase { .. }),
        "{error}"
    );
}

#[tokio::test]
async fn h72_a_folder_in_place_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let error = SqliteSessionStore::open(folder.path()).await.unwrap_err();
    assert!(
        matches!(error, StoreError::CorruptDatabase { .. }),
        "{error}"
    );
}

#[tokio::test]
async fn missing_folders_are_made_and_odd_names_work() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "a/b/sessions.db",
        "file:c?mode=ro#x.db",
        "späce %20.db",
        ":memory:",
    ] {
        let file = folder.path().join(name);
        let store = SqliteSessionStore::open(&file).await.unwrap();
        store.create(new_session("s")).await.unwrap();
        store.close().await;
        assert!(file.is_file(), "{name}");
        // The second time the file is looked at first.
        let store = SqliteSessionStore::open(&file).await.unwrap();
        store.session(&id("s")).await.unwrap();
    }
}

/// Proves C15 for a store: a binding that was tampered with is an error of its session alone, and names it.
#[tokio::test]
async fn c15_a_corrupt_binding_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = filled(folder.path()).await;
    for statement in [
        "UPDATE workspace_bindings SET payload = '{'",
        "UPDATE workspace_bindings SET payload = '{\"api_key\": \"hunter2\"}'",
        "UPDATE workspace_bindings SET payload = 'null', head_id = ''",
        "UPDATE workspace_bindings SET head_id = 'h'; UPDATE sessions SET agent = '[]'",
    ] {
        with_raw(&file, statement).await;
        let store = SqliteSessionStore::open(&file).await.unwrap();
        let error = store.session(&id("s")).await.unwrap_err();
        match &error {
            StoreError::CorruptRecord { session, .. } => assert_eq!(*session, id("s")),
            other => panic!("{statement}: {other}"),
        }
        assert!(!error.to_string().contains("hunter2"), "{error}");
        store.close().await;
    }
}

/// Places have no gaps, so a missing event is not passed over in silence.
#[tokio::test]
async fn a_missing_event_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = filled(folder.path()).await;
    with_raw(
        &file,
        "DROP TRIGGER events_are_not_removed; DELETE FROM events WHERE seq = 7",
    )
    .await;
    let store = SqliteSessionStore::open(&file).await.unwrap();
    for query in [
        EventQuery::after(Sequence::START, 100),
        EventQuery::last(100),
    ] {
        let error = store.events(&id("s"), query).await.unwrap_err();
        assert!(matches!(error, StoreError::CorruptRecord { .. }), "{error}");
    }
    let page = store.events(&id("s"), EventQuery::last(5)).await.unwrap();
    assert_eq!(page.events.len(), 5);
}

/// Proves H72 for permissions. Run as an ordinary user, because root may write everything.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h72_no_permission_to_write() {
    crate::support::ordinary::run_as_ordinary_user(
        concat!(module_path!(), "::h72_no_permission_to_write"),
        no_permission_to_write,
    )
    .await;
}

#[cfg(unix)]
async fn no_permission_to_write() {
    use std::os::unix::fs::PermissionsExt as _;
    let set = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let folder = tempfile::tempdir().unwrap();
    let file = filled(folder.path()).await;
    let read_only = |error: StoreError| {
        assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
    };
    // The file may not be written, its folder may.
    set(&file, 0o400);
    read_only(refused(&file).await);
    // Neither, as on a read-only disk.
    set(folder.path(), 0o500);
    read_only(refused(&file).await);
    // The file may, but its log cannot be made.
    set(&file, 0o600);
    read_only(refused(&file).await);
    // A new file, and one in a new folder.
    for name in ["new.db", "new/new.db"] {
        let error = SqliteSessionStore::open(folder.path().join(name)).await;
        read_only(error.unwrap_err());
    }
    set(folder.path(), 0o700);
    SqliteSessionStore::open(&file).await.unwrap();
    // The file may not even be read.
    set(&file, 0o000);
    let error = SqliteSessionStore::open(&file).await.unwrap_err();
    read_only(error);
}

/// Pages that are sound may still hold rows that belong to nothing.
#[tokio::test]
async fn h72_events_of_no_session_are_found_on_demand() {
    let folder = tempfile::tempdir().unwrap();
    let file = filled(folder.path()).await;
    with_raw(
        &file,
        "PRAGMA foreign_keys = OFF; DELETE FROM sessions; DELETE FROM workspace_bindings; DELETE FROM leases",
    )
    .await;
    let store = SqliteSessionStore::open(&file).await.unwrap();
    let error = store.check_integrity().await.unwrap_err();
    let StoreError::CorruptDatabase { reason, .. } = error else {
        panic!("{error}");
    };
    assert!(
        reason.contains("events belongs to nothing in sessions"),
        "{reason}"
    );
    store.close().await;
}
