//! A disk that is full while events are appended.

use everruns_core::session::{SessionStore as _, StoreError};
use everruns_store::SqliteSessionStore;
use everruns_testkit::disks::SmallDisk;

use crate::support::samples::{all_events, append, leased, text_of};

/// Proves H74 for the store: what was acknowledged stays, the error says what failed, and the same request is applied
/// once when there is space again.
#[tokio::test]
async fn h74_appends_on_a_full_disk() {
    let Some(disk) = SmallDisk::mount(2048) else {
        return;
    };
    for left in [0, 20_000, 60_000] {
        let file = disk.folder().join(format!("sessions-{left}.db"));
        let store = SqliteSessionStore::open(&file).await.unwrap();
        let token = leased(&store, "s").await;
        disk.fill(left);
        let mut place = 0;
        let key = |place: u64| format!("{place} {}", "x".repeat(500));
        let failure = loop {
            match append(&store, "s", token, place, &key(place)).await {
                Ok(receipt) => place = receipt.last.0,
                Err(error) => break error,
            }
            assert!(place < 10_000, "the disk is never full");
        };
        let StoreError::Failed { operation, source } = &failure else {
            panic!("{failure:?}");
        };
        assert_eq!(*operation, "append events");
        assert!(source.to_string().contains("full"), "{source}");

        disk.free();
        append(&store, "s", token, place, &key(place))
            .await
            .unwrap();
        let events = all_events(&store, "s").await;
        let expected: Vec<_> = (0..=place).map(key).collect();
        let found: Vec<_> = events.iter().map(text_of).collect();
        assert_eq!(found, expected);
        store.check_integrity().await.unwrap();
        assert_eq!(
            store
                .session(&crate::support::samples::id("s"))
                .await
                .unwrap()
                .last_sequence
                .0,
            place + 1
        );
        store.close().await;
    }
}
