//! Others keep the file locked.

use std::time::Duration;

use everruns_core::session::StoreError;
use everruns_store::{RetryPolicy, SqliteSessionStore};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Connection as _};

use crate::support::samples::{all_events, append, leased};

const IMPATIENT: RetryPolicy = RetryPolicy {
    attempts: 3,
    lock_wait: Duration::from_millis(20),
    pause: Duration::from_millis(5),
};

async fn raw(file: &std::path::Path) -> SqliteConnection {
    SqliteConnectOptions::new()
        .filename(file)
        .connect()
        .await
        .unwrap()
}

/// Proves H71: bounded retries, then a typed error that says the same call may succeed later, and it does.
#[tokio::test]
async fn h71_a_locked_file_is_busy_and_then_works() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sessions.db");
    let store = SqliteSessionStore::open_with(&file, IMPATIENT)
        .await
        .unwrap();
    let token = leased(&store, "s").await;

    let mut other = raw(&file).await;
    let lock = other.begin_with("BEGIN IMMEDIATE").await.unwrap();
    let error = append(&store, "s", token, 0, "key").await.unwrap_err();
    assert!(
        matches!(error, StoreError::Busy { attempts: 3, .. }),
        "{error}"
    );
    assert!(error.is_retryable());
    // Readers do not wait for writers.
    assert!(all_events(&store, "s").await.is_empty());

    lock.rollback().await.unwrap();
    append(&store, "s", token, 0, "key").await.unwrap();
}

/// Proves H71: a lock that is given up during the retries is not seen by the caller.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h71_a_short_lock_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sessions.db");
    let policy = RetryPolicy {
        attempts: 50,
        ..IMPATIENT
    };
    let store = SqliteSessionStore::open_with(&file, policy).await.unwrap();
    let token = leased(&store, "s").await;
    let mut other = raw(&file).await;
    let lock = other.begin_with("BEGIN IMMEDIATE").await.unwrap();
    let waiting = tokio::spawn(async move { append(&store, "s", token, 0, "key").await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!waiting.is_finished());
    lock.rollback().await.unwrap();
    assert_eq!(waiting.await.unwrap().unwrap().last.0, 1);
}

/// Opening needs the lock too.
#[tokio::test]
async fn h71_a_fresh_file_that_is_locked_is_busy() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sessions.db");
    let mut other = SqliteConnectOptions::new()
        .filename(&file)
        .create_if_missing(true)
        .connect()
        .await
        .unwrap();
    let lock = other.begin_with("BEGIN EXCLUSIVE").await.unwrap();
    let error = SqliteSessionStore::open_with(&file, IMPATIENT)
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::Busy { .. }), "{error}");
    drop(lock);
    other.close().await.unwrap();
    SqliteSessionStore::open_with(&file, IMPATIENT)
        .await
        .unwrap();
}
