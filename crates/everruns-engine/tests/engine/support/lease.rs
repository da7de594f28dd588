use std::time::Duration;

use everruns_core::clock::{Clock as _, SystemClock};
use everruns_core::ids::SessionId;
use everruns_core::session::{HeldLease, Lease, LeaseOwner, SessionStore, StoreError};

/// Takes the lease from whoever has it, as one does who has not seen it renewed in time.
pub(crate) async fn rob(store: &dyn SessionStore, session: &SessionId, by: &LeaseOwner) -> Lease {
    let (now, term) = (SystemClock.now(), Duration::from_mins(1));
    match store.acquire_lease(session, by, now, term).await {
        Err(StoreError::LeaseHeld {
            owner, expires_at, ..
        }) => {
            let held = HeldLease { owner, expires_at };
            store
                .take_over_lease(session, by, &held, now, term)
                .await
                .unwrap()
        }
        taken => taken.unwrap(),
    }
}
