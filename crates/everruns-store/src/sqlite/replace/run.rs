use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use everruns_core::failpoint::hit;
use everruns_core::session::StoreError;

use super::super::backup::{failed, restore_in_place};
use super::alone::Alone;
use super::lock::Lock;
use super::names::exchange;
use super::workplace::Workplace;
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
        let (place, beside) = (location.clone(), aside.clone());
        let (alone, work) = blocking(REPLACE, move || {
            is_beside(&place, &beside)?;
            let alone = Alone::take(&place)?;
            let work = Workplace::make(alone.as_ref(), &place)?;
            Ok((alone, work))
        })
        .await?;
        let replaced = in_workplace(&backup, &location, &aside, policy, &work).await;
        if matches!(replaced, Err(StoreError::HalfReplaced { .. })) {
            return replaced;
        }
        let ended = blocking(REPLACE, move || work.end()).await;
        if let Err(error) = ended {
            tracing::warn!(%error, "what was made for a restoration is left where it is");
        }
        drop(alone);
        replaced
    })
    .await
}

async fn in_workplace(
    backup: &Path,
    location: &Path,
    aside: &Path,
    policy: RetryPolicy,
    work: &Workplace,
) -> Result<bool, StoreError> {
    restore_in_place(backup, work.copy(), policy).await?;
    let lock = Lock::take(location, policy).await?;
    let (work, location, aside) = (work.clone(), location.to_owned(), aside.to_owned());
    let done = blocking(REPLACE, move || {
        hit("store.replace.after-lock")?;
        exchange(&work, &location, &aside)
    })
    .await;
    lock.give_up().await;
    done
}

/// What is noted of a restoration, and its lock, are those of one folder.
fn is_beside(location: &Path, aside: &Path) -> Result<(), StoreError> {
    let folder = |path: &Path| {
        let found = std::fs::metadata(path.parent().unwrap_or(path));
        let found = found.map_err(|error| failed(REPLACE, error))?;
        Ok::<_, StoreError>((found.dev(), found.ino()))
    };
    if aside.file_name().is_some() && folder(location)? == folder(aside)? {
        return Ok(());
    }
    let reason = "the database before is kept beside the new one, in the same folder";
    Err(failed(
        REPLACE,
        io::Error::new(io::ErrorKind::InvalidInput, reason),
    ))
}
