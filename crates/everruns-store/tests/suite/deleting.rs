//! Sessions that are deleted while somebody appends to them.

use std::sync::Arc;

use everruns_core::session::StoreError;

use crate::support::place::Place;
use crate::support::samples::{all_events, append, id, lease, leased};

on_each! {
    /// Proves H55 for a deletion that others do not expect.
    h55_a_session_deleted_under_its_appends_leaves_nothing,
}

/// A lease that ran out keeps nobody from deleting, and its holder may not know. Every append comes before the deletion
/// or finds no session; those of others, which share a commit with them, are not concerned.
async fn h55_a_session_deleted_under_its_appends_leaves_nothing(place: Place) {
    const OTHERS: usize = 3;
    let store = place.open().await;
    let mut others = Vec::new();
    for number in 0..OTHERS {
        let name = format!("other-{number}");
        let token = leased(store.as_ref(), &name).await;
        others.push((name, token));
    }
    for round in 0..20_u64 {
        let token = leased(store.as_ref(), "s").await;
        let appending = {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                let mut appended = 0;
                loop {
                    let key = format!("{round} {appended}");
                    match append(store.as_ref(), "s", token, appended, &key).await {
                        Ok(receipt) => {
                            appended += 1;
                            assert_eq!((receipt.last.0, receipt.replayed), (appended, false));
                        }
                        Err(StoreError::NotFound { .. }) => return appended,
                        Err(error) => panic!("{error}"),
                    }
                }
            })
        };
        let mut beside = Vec::new();
        for (name, token) in others.clone() {
            let store = Arc::clone(&store);
            beside.push(tokio::spawn(async move {
                for place in 5 * round..5 * (round + 1) {
                    let key = place.to_string();
                    append(store.as_ref(), &name, token, place, &key)
                        .await
                        .unwrap();
                }
            }));
        }
        tokio::time::sleep(std::time::Duration::from_micros(500 * round)).await;
        store.delete(&id("s"), Some(token)).await.unwrap();
        appending.await.unwrap();
        for task in beside {
            task.await.unwrap();
        }
        let found = store.session(&id("s")).await;
        assert!(matches!(found, Err(StoreError::NotFound { .. })));
    }
    // Another of this id has nothing of those before.
    store
        .create(crate::support::samples::new_session("s"))
        .await
        .unwrap();
    assert_eq!(all_events(store.as_ref(), "s").await, []);
    let token = lease(store.as_ref(), "s", "owner", 1).await;
    append(store.as_ref(), "s", token, 0, "0 0").await.unwrap();
    for (name, _) in others {
        assert_eq!(all_events(store.as_ref(), &name).await.len(), 100);
    }
}
