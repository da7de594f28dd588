use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use everruns_core::failpoint::hit;
use everruns_core::session::StoreError;

use super::super::backup::{failed, restore};
use super::lock::Lock;
use super::names::{exchange, remove, with_suffix};
use crate::RetryPolicy;
use crate::task::{blocking, to_its_end};

pub(super) const REPLACE: &str = "replace the database";

/// Tells those apart that are at work in one process.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Makes a database of `backup` in the place of the one at `location`, which gets the name `aside`; `false` when there
/// was none.
pub(in super::super) async fn replace(
    backup: &Path,
    location: &Path,
    aside: &Path,
    policy: RetryPolicy,
) -> Result<bool, StoreError> {
    let absolute = |path: &Path| std::path::absolute(path).map_err(|error| failed(REPLACE, error));
    let (backup, location, aside) = (absolute(backup)?, absolute(location)?, absolute(aside)?);
    to_its_end(REPLACE, async move {
        let (process, number) = (std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let new = with_suffix(&aside, &format!(".new-{process}-{number}"));
        restore(&backup, &new, policy).await?;
        let replaced = match Lock::take(&location, policy).await {
            Ok(lock) => {
                let (new, location) = (new.clone(), location.clone());
                let done = blocking(REPLACE, move || {
                    hit("store.replace.after-lock")?;
                    exchange(&new, &location, &aside)
                })
                .await;
                lock.give_up().await;
                done
            }
            Err(error) => Err(error),
        };
        if replaced.is_err() {
            blocking(REPLACE, move || remove(new)).await?;
        }
        replaced
    })
    .await
}
