//! A server that refuses, is slow, or goes away in the middle.

use std::time::{Duration, Instant};

use everruns_core::failpoint;
use everruns_core::session::{FencingToken, SessionStore as _, StoreError};
use everruns_core::workspace::WorkspaceHeadAccess::Isolated;
use everruns_store::{PostgresSessionStore, RetryPolicy};
use futures::future::join_all;
use sqlx::{Connection as _, PgConnection};

use crate::support::child;
use crate::support::place::Place;
use crate::support::proxy::{Cut, Proxy};
use crate::support::samples::{
    all_events, append, binding, id, lease, leased, new_session, text_of,
};
use crate::support::server::Server;

const IMPATIENT: RetryPolicy = RetryPolicy {
    attempts: 3,
    lock_wait: Duration::from_millis(20),
    pause: Duration::from_millis(5),
    silence: Duration::from_millis(500),
};

async fn raw(url: &str) -> PgConnection {
    PgConnection::connect(url).await.unwrap()
}

async fn run(url: &str, statements: &'static str) {
    let mut connection = raw(url).await;
    sqlx::raw_sql(statements)
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
}

/// Proves H70: the connection is lost at COMMIT, before or after the server commits; the append is there once, and
/// the caller is told so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h70_a_connection_lost_at_commit() {
    let Some(server) = Server::start().await else {
        return;
    };
    let url = server.fresh_database().await;
    let proxy = Proxy::start(server.port()).await;
    let store = PostgresSessionStore::connect(&proxy.through(&url))
        .await
        .unwrap();
    let token = leased(&store, "s").await;
    for (n, (cut, replayed)) in [(Cut::BeforeCommit, false), (Cut::AfterCommit, true)]
        .into_iter()
        .enumerate()
    {
        let last = u64::try_from(n).unwrap();
        proxy.cut_next(cut);
        let receipt = append(&store, "s", token, last, &format!("key-{n}"))
            .await
            .unwrap();
        assert!(proxy.has_cut(), "{cut:?} did not happen");
        assert_eq!(
            (receipt.last.0, receipt.replayed),
            (last + 1, replayed),
            "{cut:?}"
        );
        assert_eq!(all_events(&store, "s").await.len(), n + 1);

        // Binding is the same twice as once.
        let name = format!("bound-{n}");
        store.create(new_session(&name)).await.unwrap();
        proxy.cut_next(cut);
        store
            .bind(&id(&name), binding(&name, Isolated))
            .await
            .unwrap();
        assert!(proxy.has_cut(), "{cut:?} did not happen");
        assert!(store.session(&id(&name)).await.unwrap().binding.is_some());

        // Recording is not: the caller is told that the outcome is unknown.
        let name = format!("new-{n}");
        proxy.cut_next(cut);
        let error = store.create(new_session(&name)).await.unwrap_err();
        assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
        assert_eq!(store.session(&id(&name)).await.is_ok(), replayed, "{cut:?}");
    }
}

/// Proves H71: serialization failures are retried, and not for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h71_serialization_failures() {
    let Some(server) = Server::start().await else {
        return;
    };
    let url = server.fresh_database().await;
    let store = PostgresSessionStore::connect_with(&url, IMPATIENT)
        .await
        .unwrap();
    let token = leased(&store, "s").await;
    // A sequence counts what was rolled back too.
    run(
        &url,
        "CREATE SEQUENCE failures;
         CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN
             IF nextval('failures') <= 2 THEN
                 RAISE EXCEPTION 'as if' USING ERRCODE = '40001';
             END IF;
             RETURN NEW;
         END $$;
         CREATE TRIGGER fail BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION fail();",
    )
    .await;
    let receipt = append(&store, "s", token, 0, "key").await.unwrap();
    assert!(!receipt.replayed);
    run(&url, "ALTER SEQUENCE failures RESTART").await;
    let policy = RetryPolicy {
        attempts: 2,
        ..IMPATIENT
    };
    let hasty = PostgresSessionStore::connect_with(&url, policy)
        .await
        .unwrap();
    let error = append(&hasty, "s", token, 1, "next").await.unwrap_err();
    assert!(
        matches!(error, StoreError::Busy { attempts: 2, .. }),
        "{error}"
    );
    assert!(error.is_retryable());
    assert_eq!(all_events(&store, "s").await.len(), 1);
}

/// Proves H71: a row that others keep locked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h71_a_locked_session_is_busy_and_then_works() {
    let Some(server) = Server::start().await else {
        return;
    };
    let url = server.fresh_database().await;
    let store = PostgresSessionStore::connect_with(&url, IMPATIENT)
        .await
        .unwrap();
    let token = leased(&store, "s").await;
    let mut other = raw(&url).await;
    let mut lock = other.begin().await.unwrap();
    sqlx::raw_sql("SELECT 1 FROM sessions FOR UPDATE")
        .execute(&mut *lock)
        .await
        .unwrap();
    let error = append(&store, "s", token, 0, "key").await.unwrap_err();
    assert!(
        matches!(error, StoreError::Busy { attempts: 3, .. }),
        "{error}"
    );
    assert!(
        all_events(&store, "s").await.is_empty(),
        "readers do not wait"
    );
    lock.rollback().await.unwrap();
    append(&store, "s", token, 0, "key").await.unwrap();
}

/// Sessions are executed at the same time without waiting for each other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_session_does_not_hold_up_others() {
    let Some(server) = Server::start().await else {
        return;
    };
    let url = server.fresh_database().await;
    let store = PostgresSessionStore::connect_with(&url, IMPATIENT)
        .await
        .unwrap();
    leased(&store, "s").await;
    let token = leased(&store, "t").await;
    let mut other = raw(&url).await;
    let mut lock = other.begin().await.unwrap();
    sqlx::raw_sql("SELECT 1 FROM sessions WHERE id = 's' FOR UPDATE")
        .execute(&mut *lock)
        .await
        .unwrap();
    append(&store, "t", token, 0, "key").await.unwrap();
    store.delete(&id("t"), Some(token)).await.unwrap();
    lock.rollback().await.unwrap();
}

/// Nor does an append to it, which waits, hold up those that come later.
#[tokio::test]
async fn an_append_to_a_locked_session_does_not_hold_up_later_ones() {
    let Some(server) = Server::start().await else {
        return;
    };
    let url = server.fresh_database().await;
    let store = PostgresSessionStore::connect(&url).await.unwrap();
    let tokens = [leased(&store, "s").await, leased(&store, "t").await];
    let mut other = raw(&url).await;
    let mut lock = other.begin().await.unwrap();
    sqlx::raw_sql("SELECT 1 FROM sessions WHERE id = 's' FOR UPDATE")
        .execute(&mut *lock)
        .await
        .unwrap();
    let held = append(&store, "s", tokens[0], 0, "key");
    tokio::pin!(held);
    let later = async {
        // The first is being written by now.
        tokio::time::sleep(Duration::from_millis(100)).await;
        append(&store, "t", tokens[1], 0, "key").await
    };
    tokio::select! {
        biased;
        held = &mut held => panic!("{held:?} while another has the session"),
        later = later => later.map(drop).unwrap(),
    }
    lock.rollback().await.unwrap();
    held.await.unwrap();
}

/// The same for those that wait to be written together: whoever has the locked session waits alone. One thread asks all of
/// them to begin before the first is written.
#[tokio::test]
async fn a_locked_session_does_not_hold_up_its_group() {
    let Some(server) = Server::start().await else {
        return;
    };
    let url = server.fresh_database().await;
    let store = PostgresSessionStore::connect(&url).await.unwrap();
    let names = ["s", "t", "u"];
    let mut tokens = Vec::new();
    for name in names {
        tokens.push(leased(&store, name).await);
    }
    let mut other = raw(&url).await;
    let mut lock = other.begin().await.unwrap();
    sqlx::raw_sql("SELECT 1 FROM sessions WHERE id = 't' FOR UPDATE")
        .execute(&mut *lock)
        .await
        .unwrap();
    let held = append(&store, "t", tokens[1], 0, "key");
    let free = join_all([
        append(&store, "s", tokens[0], 0, "key"),
        append(&store, "u", tokens[2], 0, "key"),
    ]);
    tokio::pin!(held);
    let free = tokio::select! {
        biased;
        held = &mut held => panic!("{held:?} while another has the session"),
        free = free => free,
    };
    assert!(free.iter().all(Result::is_ok), "{free:?}");
    assert!(all_events(&store, "t").await.is_empty());
    lock.rollback().await.unwrap();
    held.await.unwrap();
    for name in names {
        assert_eq!(all_events(&store, name).await.len(), 1);
    }
}

/// Proves H70 for those that are written together: each is there once, and is told so.
#[tokio::test]
async fn h70_a_connection_lost_at_the_commit_of_a_group() {
    let Some(server) = Server::start().await else {
        return;
    };
    let url = server.fresh_database().await;
    let proxy = Proxy::start(server.port()).await;
    let store = PostgresSessionStore::connect(&proxy.through(&url))
        .await
        .unwrap();
    let names = ["s", "t", "u"];
    let mut tokens = Vec::new();
    for name in names {
        tokens.push(leased(&store, name).await);
    }
    for (place, (cut, replayed)) in [(Cut::BeforeCommit, false), (Cut::AfterCommit, true)]
        .into_iter()
        .enumerate()
    {
        let place = u64::try_from(place).unwrap();
        let key = format!("key-{place}");
        proxy.cut_next(cut);
        let appends = names.iter().zip(&tokens);
        let appends = appends.map(|(name, token)| append(&store, name, *token, place, &key));
        for receipt in join_all(appends).await {
            let receipt = receipt.unwrap();
            assert_eq!(
                (receipt.last.0, receipt.replayed),
                (place + 1, replayed),
                "{cut:?}"
            );
        }
        assert!(proxy.has_cut(), "{cut:?} did not happen");
    }
    for name in names {
        assert_eq!(all_events(&store, name).await.len(), 2);
    }
}

/// Of two locked sessions the one that is freed does not wait for the other; its batches keep their order.
#[tokio::test]
async fn locked_sessions_do_not_wait_for_each_other() {
    let Some(server) = Server::start().await else {
        return;
    };
    let url = server.fresh_database().await;
    let store = PostgresSessionStore::connect(&url).await.unwrap();
    let tokens = [leased(&store, "s").await, leased(&store, "t").await];
    let mut connections = [raw(&url).await, raw(&url).await];
    let mut locks = Vec::new();
    for (connection, text) in connections.iter_mut().zip([
        "SELECT 1 FROM sessions WHERE id = 's' FOR UPDATE",
        "SELECT 1 FROM sessions WHERE id = 't' FOR UPDATE",
    ]) {
        let mut lock = connection.begin().await.unwrap();
        sqlx::raw_sql(text).execute(&mut *lock).await.unwrap();
        locks.push(lock);
    }
    let freed = locks.pop().unwrap();
    let held = append(&store, "s", tokens[0], 0, "key");
    let both = join_all([
        append(&store, "t", tokens[1], 0, "first"),
        append(&store, "t", tokens[1], 1, "second"),
    ]);
    tokio::pin!(held, both);
    let free = async {
        // Both wait by now.
        assert!(futures::poll!(&mut both).is_pending());
        tokio::time::sleep(Duration::from_millis(100)).await;
        freed.rollback().await.unwrap();
        both.await
    };
    let free = tokio::select! {
        biased;
        held = &mut held => panic!("{held:?} while another has the session"),
        free = free => free,
    };
    assert!(free.iter().all(Result::is_ok), "{free:?}");
    let events = all_events(&store, "t").await;
    let texts: Vec<_> = events.iter().map(text_of).collect();
    assert_eq!(texts, ["first", "second"]);
    locks.pop().unwrap().rollback().await.unwrap();
    held.await.unwrap();
}

/// Whoever loses its lease while its append waits for others writes nothing.
#[tokio::test]
async fn an_append_that_waits_is_fenced_when_its_lease_goes() {
    let Some(server) = Server::start().await else {
        return;
    };
    let url = server.fresh_database().await;
    let store = PostgresSessionStore::connect(&url).await.unwrap();
    let tokens = [leased(&store, "s").await, leased(&store, "t").await];
    let mut other = raw(&url).await;
    let mut lock = other.begin().await.unwrap();
    sqlx::raw_sql(
        "SELECT 1 FROM sessions WHERE id = 's' FOR UPDATE;
         UPDATE leases SET token = token + 1, owner = 'another' WHERE session_id = 's'",
    )
    .execute(&mut *lock)
    .await
    .unwrap();
    let late = append(&store, "s", tokens[0], 0, "key");
    let other = append(&store, "t", tokens[1], 0, "key");
    tokio::pin!(late);
    tokio::select! {
        biased;
        late = &mut late => panic!("{late:?} while another has the session"),
        other = other => other.map(drop).unwrap(),
    }
    lock.commit().await.unwrap();
    let error = late.await.unwrap_err();
    assert!(matches!(error, StoreError::Fenced { .. }), "{error}");
    assert!(all_events(&store, "s").await.is_empty());
}

/// A process that is stopped in the middle of a change keeps nobody from its sessions.
#[tokio::test]
async fn h53_a_process_that_stops_in_a_transaction_is_taken_over_from() {
    const TEST: &str = concat!(
        module_path!(),
        "::h53_a_process_that_stops_in_a_transaction_is_taken_over_from"
    );
    let Some(place) = Place::postgres(TEST).await else {
        return;
    };
    if place.is_child {
        let store = place.open_with(IMPATIENT).await;
        let token = FencingToken(child::argument().parse().unwrap());
        failpoint::arm("store.append.before-commit", || {
            child::tell("stopped");
            loop {
                std::thread::park();
            }
        });
        drop(append(store.as_ref(), "s", token, 0, "lost").await);
        unreachable!("the process was stopped");
    }
    let store = place.open().await;
    let token = leased(store.as_ref(), "s").await;
    let mut child = place.spawn(&token.0.to_string());
    assert_eq!(child.hear().as_deref(), Some("stopped"));
    let next = lease(store.as_ref(), "s", "other", 1_000_000).await;
    assert!(next > token);
    append(store.as_ref(), "s", next, 0, "key").await.unwrap();
    assert_eq!(all_events(store.as_ref(), "s").await.len(), 1);
    child.kill();
}

/// A server that does not answer any more holds up nobody for longer than the policy says, although its connection stays.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_connection_is_given_up() {
    let Some(server) = Server::start().await else {
        return;
    };
    let url = server.fresh_database().await;
    let proxy = Proxy::start(server.port()).await;
    let policy = RetryPolicy {
        attempts: 5,
        lock_wait: Duration::from_secs(2),
        ..IMPATIENT
    };
    let store = PostgresSessionStore::connect_with(&proxy.through(&url), policy)
        .await
        .unwrap();
    let tokens = [leased(&store, "s").await, leased(&store, "t").await];
    // More often than there are connections: those that were silent are not kept.
    for place in 0..10 {
        proxy.cut_next(Cut::Silence);
        let key = format!("key-{place}");
        let appends = join_all([
            append(&store, "s", tokens[0], place, &key),
            append(&store, "t", tokens[1], place, &key),
        ]);
        for receipt in appends.await {
            assert_eq!(receipt.unwrap().last.0, place + 1);
        }
        assert!(proxy.has_cut(), "the silence did not happen");
    }
    assert_eq!(all_events(&store, "s").await.len(), 10);
}

/// When the server is gone, all that wait are told so at once, not one after the other.
#[tokio::test]
async fn all_that_wait_are_told_that_the_server_is_gone() {
    const SESSIONS: usize = 8;
    let Some(server) = Server::start().await else {
        return;
    };
    let url = server.fresh_database().await;
    let store = PostgresSessionStore::connect_with(&url, IMPATIENT)
        .await
        .unwrap();
    let names: Vec<_> = (0..SESSIONS).map(|number| format!("s{number}")).collect();
    let mut tokens = Vec::new();
    for name in &names {
        tokens.push(leased(&store, name).await);
    }
    drop(server);
    let appends = names.iter().zip(&tokens);
    let appends = appends.map(|(name, token)| append(&store, name, *token, 0, "key"));
    let begun = Instant::now();
    for answer in join_all(appends).await {
        let error = answer.unwrap_err();
        assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
        assert!(error.is_retryable(), "{error}");
    }
    // A connection is waited for once, for 10 seconds; one after the other they would take 90.
    assert!(begun.elapsed() < Duration::from_secs(50));
}

/// Leases cost no flush; and one that a failing server has lost leaves no token that is given to somebody else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_what_is_recorded_waits_for_the_disk() {
    let Some(server) = Server::start().await else {
        return;
    };
    let url = server.fresh_database().await;
    let store = PostgresSessionStore::connect(&url).await.unwrap();
    run(
        &url,
        "CREATE TABLE seen (what text, setting text);
         CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             INSERT INTO seen VALUES (TG_TABLE_NAME, current_setting('synchronous_commit'));
             RETURN NULL;
         END $$;
         CREATE TRIGGER note AFTER INSERT OR UPDATE ON leases FOR EACH ROW EXECUTE FUNCTION note();
         CREATE TRIGGER note AFTER INSERT ON events FOR EACH ROW EXECUTE FUNCTION note();",
    )
    .await;
    let token = leased(&store, "s").await;
    append(&store, "s", token, 0, "key").await.unwrap();
    store.release_lease(&id("s"), token).await.unwrap();
    let mut connection = raw(&url).await;
    let seen: Vec<(String, String)> = sqlx::query_as("SELECT what, setting FROM seen")
        .fetch_all(&mut connection)
        .await
        .unwrap();
    let seen: Vec<_> = seen
        .iter()
        .map(|(what, setting)| (what.as_str(), setting.as_str()))
        .collect();
    assert_eq!(
        seen,
        [("leases", "off"), ("events", "on"), ("leases", "off")]
    );
    run(&url, "DELETE FROM leases").await;
    let next = lease(&store, "s", "other", 1).await;
    assert!(next > token, "{next:?} {token:?}");
}

/// Proves H72 for PostgreSQL.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h72_newer_schemas_and_read_only_databases() {
    let Some(server) = Server::start().await else {
        return;
    };
    let url = server.fresh_database().await;
    let store = PostgresSessionStore::connect(&url).await.unwrap();
    let token = leased(&store, "s").await;
    store.close().await;
    run(&url, "INSERT INTO everruns_schema VALUES (7)").await;
    let error = PostgresSessionStore::connect(&url).await.unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::NewerSchema {
                found: 7,
                supported: 1,
                ..
            }
        ),
        "{error}"
    );
    run(&url, "DELETE FROM everruns_schema WHERE version = 7").await;
    let store = PostgresSessionStore::connect(&url).await.unwrap();
    run(
        &url,
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN RAISE EXCEPTION 'as if' USING ERRCODE = '25006'; END $$;
         CREATE TRIGGER refuse BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION refuse();",
    )
    .await;
    let error = append(&store, "s", token, 0, "key").await.unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
}

/// A server that is gone: a typed, retryable error after a bounded time, without the password.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unreachable_server() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let start = Instant::now();
    let url = format!("postgres://everruns:hunter2@127.0.0.1:{port}/x");
    let error = PostgresSessionStore::connect_with(&url, IMPATIENT)
        .await
        .unwrap_err();
    assert!(error.is_retryable(), "{error}");
    assert!(error.to_string().contains("refused"), "{error}");
    assert!(start.elapsed() < Duration::from_mins(1));
    assert!(
        !format!("{error} {error:?}").contains("hunter2"),
        "{error:?}"
    );
    let error = PostgresSessionStore::connect("no url:hunter2")
        .await
        .unwrap_err();
    assert!(!error.is_retryable());
    assert!(
        !format!("{error} {error:?}").contains("hunter2"),
        "{error:?}"
    );
}
