//! Others keep the file locked.

use std::time::{Duration, Instant};

use everruns_core::session::StoreError;
use everruns_store::{RetryPolicy, SqliteSessionStore};
use futures::future::join_all;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Connection as _};

use crate::support::samples::{all_events, append, leased};

const IMPATIENT: RetryPolicy = RetryPolicy {
    attempts: 3,
    lock_wait: Duration::from_millis(20),
    pause: Duration::from_millis(5),
    silence: Duration::from_secs(1),
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

/// All that wait behind a locked file are told so at once, not one after the other.
#[tokio::test]
async fn all_that_wait_are_told_that_the_file_is_locked() {
    const SESSIONS: usize = 16;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sessions.db");
    let policy = RetryPolicy {
        lock_wait: Duration::from_millis(500),
        ..IMPATIENT
    };
    let store = SqliteSessionStore::open_with(&file, policy).await.unwrap();
    let names: Vec<_> = (0..SESSIONS).map(|number| format!("s{number}")).collect();
    let mut tokens = Vec::new();
    for name in &names {
        tokens.push(leased(&store, name).await);
    }
    let mut other = raw(&file).await;
    let lock = other.begin_with("BEGIN IMMEDIATE").await.unwrap();
    let begun = Instant::now();
    let appends = || {
        let appends = names.iter().zip(&tokens);
        join_all(appends.map(|(name, token)| append(&store, name, *token, 0, "key")))
    };
    for answer in appends().await {
        let error = answer.unwrap_err();
        assert!(
            matches!(error, StoreError::Busy { attempts: 3, .. }),
            "{error}"
        );
    }
    // Three attempts of half a second; one after the other they would take 25 seconds.
    assert!(begun.elapsed() < Duration::from_secs(12));
    lock.rollback().await.unwrap();
    for answer in appends().await {
        answer.unwrap();
    }
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
