//! Appends of many sessions at once share the flush of the disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use everruns_core::clock::Timestamp;
use everruns_core::failpoint;
use everruns_core::ids::SessionId;
use everruns_core::session::{
    AppendRequest, EventPayload, FencingToken, LeaseOwner, Sequence, SessionStore, StoreError,
};
use futures::future::join_all;

use crate::support::child;
use crate::support::place::Place;
use crate::support::samples::new_session;

const APPENDS: u64 = 40;

on_each! {
    /// The figure depends on the disk: without flushes to share there is nothing to gain. So that the test means
    /// something on any machine, it only refuses that many sessions are slower than one.
    many_sessions_append_no_slower_than_one,
    /// One batch that is refused does not stop those which are written with it.
    each_of_a_group_gets_its_own_answer,
}

fn request(session: &SessionId, token: FencingToken, place: u64) -> AppendRequest {
    AppendRequest {
        session: session.clone(),
        token,
        expected: Sequence(place),
        idempotency_key: format!("key {place}"),
        at: Timestamp::from_millis(1),
        events: vec![EventPayload::UserMessage {
            text: format!("message {place} of {session}"),
        }],
    }
}

async fn leased(store: &dyn SessionStore, name: &str) -> (SessionId, FencingToken) {
    let session = new_session(name);
    let id = session.id.clone();
    store.create(session).await.unwrap();
    let owner = LeaseOwner("one".into());
    let term = Duration::from_secs(10);
    let now = Timestamp::from_millis(0);
    let lease = store.acquire_lease(&id, &owner, now, term).await.unwrap();
    (id, lease.token)
}

/// So many sessions append one event after the other; gives the appends a second.
async fn throughput(store: &Arc<dyn SessionStore>, sessions: u64) -> f64 {
    let mut leases = Vec::new();
    for number in 0..sessions {
        leases.push(leased(store.as_ref(), &format!("ses_{sessions}_{number}")).await);
    }
    let began = Instant::now();
    let mut tasks = Vec::new();
    for (id, token) in leases {
        let store = Arc::clone(store);
        tasks.push(tokio::spawn(async move {
            for place in 0..APPENDS {
                store.append(request(&id, token, place)).await.unwrap();
            }
            let last = store.session(&id).await.unwrap().last_sequence;
            assert_eq!(last, Sequence(APPENDS));
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let appends = u32::try_from(sessions * APPENDS).unwrap();
    f64::from(appends) / began.elapsed().as_secs_f64()
}

async fn many_sessions_append_no_slower_than_one(place: Place) {
    let store = place.open().await;
    let one = throughput(&store, 1).await;
    let many = throughput(&store, 16).await;
    println!(
        "1 session: {one:.0} appends/s; 16 sessions: {many:.0} appends/s, {:.1} times",
        many / one
    );
    assert!(
        many > one,
        "{many:.0} appends/s by 16 sessions, {one:.0} by one"
    );
}

async fn each_of_a_group_gets_its_own_answer(place: Place) {
    let store = place.open().await;
    let mut tasks = Vec::new();
    for number in 0..30_u64 {
        let (id, token) = leased(store.as_ref(), &format!("ses_{number}")).await;
        let store = Arc::clone(&store);
        tasks.push(tokio::spawn(async move {
            match number % 3 {
                0 => store
                    .append(request(&id, token, 0))
                    .await
                    .map(drop)
                    .unwrap(),
                1 => {
                    let error = store.append(request(&id, token, 5)).await.unwrap_err();
                    let StoreError::SequenceConflict { session, .. } = error else {
                        panic!("{error}");
                    };
                    assert_eq!(session, id);
                }
                _ => {
                    let wrong = FencingToken(token.0 + 1);
                    let error = store.append(request(&id, wrong, 0)).await.unwrap_err();
                    let StoreError::Fenced { session, .. } = error else {
                        panic!("{error}");
                    };
                    assert_eq!(session, id);
                }
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn those_that_wait_share_a_commit_in_sqlite() {
    let test = concat!(module_path!(), "::those_that_wait_share_a_commit_in_sqlite");
    those_that_wait_share_a_commit_unless_it_fails(Place::sqlite(test)).await;
}

#[cfg(feature = "postgres")]
#[tokio::test]
async fn those_that_wait_share_a_commit_in_postgres() {
    let test = concat!(
        module_path!(),
        "::those_that_wait_share_a_commit_in_postgres"
    );
    if let Some(place) = Place::postgres(test).await {
        those_that_wait_share_a_commit_unless_it_fails(place).await;
    }
}

/// Counted where a transaction is about to be committed, in a process of its own. All begin to wait before the first is
/// written, because the one thread first asks each of them to begin.
async fn those_that_wait_share_a_commit_unless_it_fails(place: Place) {
    if !place.is_child {
        let mut child = place.spawn("");
        assert_eq!(child.hear().as_deref(), Some("counted"));
        assert!(child.wait().success());
        return;
    }
    let store = place.open().await;
    let mut sessions = Vec::new();
    for number in 0..16 {
        sessions.push(leased(store.as_ref(), &format!("ses_{number}")).await);
    }
    let commits = Arc::new(AtomicUsize::new(0));
    let fails = Arc::new(AtomicUsize::new(usize::MAX));
    {
        let (commits, fails) = (Arc::clone(&commits), Arc::clone(&fails));
        failpoint::arm("store.append.before-commit", move || {
            commits.fetch_add(1, Ordering::SeqCst) != fails.load(Ordering::SeqCst)
        });
    }
    let round = async |place| {
        let appends = sessions
            .iter()
            .map(|(id, token)| store.append(request(id, *token, place)));
        for receipt in join_all(appends).await {
            let receipt = receipt.unwrap();
            assert_eq!((receipt.last.0, receipt.replayed), (place + 1, false));
        }
        commits.swap(0, Ordering::SeqCst)
    };
    assert_eq!(round(0).await, 1, "one commit for all");
    fails.store(0, Ordering::SeqCst);
    assert_eq!(round(1).await, 1 + 16, "each alone when it fails for all");
    fails.store(usize::MAX, Ordering::SeqCst);
    assert_eq!(round(2).await, 1, "together again");
    child::tell("counted");
}

/// A runtime that shuts down takes along the task that was to write.
#[cfg(feature = "sqlite")]
#[test]
fn who_comes_after_a_writer_that_has_gone_writes() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
    };
    let folder = tempfile::tempdir().unwrap();
    let stays = runtime();
    let (store, session, token) = stays.block_on(async {
        let file = folder.path().join("sessions.db");
        let store = everruns_store::SqliteSessionStore::open(file)
            .await
            .unwrap();
        let (session, token) = leased(&store, "s").await;
        (store, session, token)
    });
    let goes = runtime();
    let mut abandoned = Box::pin(store.append(request(&session, token, 0)));
    goes.block_on(async {
        assert!(futures::poll!(&mut abandoned).is_pending());
    });
    drop(goes);
    let told = stays.block_on(abandoned).unwrap_err();
    assert!(matches!(told, StoreError::Unavailable { .. }), "{told}");
    let receipt = stays.block_on(store.append(request(&session, token, 0)));
    assert_eq!(receipt.unwrap().last, Sequence(1));
}
