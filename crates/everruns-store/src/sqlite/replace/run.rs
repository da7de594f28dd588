use std::path::Path;

use everruns_core::failpoint::hit;
use everruns_core::session::StoreError;

use super::super::backup::{failed, restore};
use super::leftovers::{Alone, clear, making};
use super::lock::Lock;
use super::names::{exchange, remove};
use crate::RetryPolicy;
use crate::task::{blocking, to_its_end};

pub(super) const REPLACE: &str = "replace the database";

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
        let (place, folder) = (location.clone(), aside.clone());
        let alone = blocking(REPLACE, move || {
            let alone = Alone::take(&place)?;
            if let Some(alone) = &alone
                && let Err(error) = clear(alone, folder.parent().unwrap_or(&folder))
            {
                tracing::warn!(%error, "what an earlier restoration left is left where it is");
            }
            Ok(alone)
        })
        .await?;
        let new = making(&aside);
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
        drop(alone);
        replaced
    })
    .await
}
