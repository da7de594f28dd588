use std::path::{Path, PathBuf};

use everruns_core::session::StoreError;
use tempfile::TempPath;

use super::backup::{failed, flush};
use crate::task::blocking;

/// A file beside the one that is to be made, of a name that nothing had before; its owner alone may read it.
#[derive(Debug)]
pub(super) struct Draft {
    file: TempPath,
    target: PathBuf,
}

impl Draft {
    /// `FileExists` when there is no need to begin.
    pub(super) async fn beside(
        target: PathBuf,
        operation: &'static str,
    ) -> Result<Self, StoreError> {
        blocking(operation, move || {
            if std::fs::symlink_metadata(&target).is_ok() {
                return Err(StoreError::FileExists { location: target });
            }
            let mut prefix = target.file_name().unwrap_or_default().to_owned();
            prefix.push(".");
            let made = tempfile::Builder::new()
                .prefix(&prefix)
                .suffix(".part")
                .tempfile_in(target.parent().unwrap_or(&target))
                .map_err(|error| failed(operation, error))?;
            Ok(Self {
                file: made.into_temp_path(),
                target,
            })
        })
        .await
    }

    pub(super) fn path(&self) -> &Path {
        &self.file
    }

    /// Gives it the name of what was to be made, or removes it when that failed or the name is taken.
    pub(super) async fn finish(
        self,
        made: Result<(), StoreError>,
        operation: &'static str,
    ) -> Result<(), StoreError> {
        blocking(operation, move || made.and_then(|()| self.name(operation))).await
    }

    fn name(self, operation: &'static str) -> Result<(), StoreError> {
        flush(&self.file).map_err(|error| failed(operation, error))?;
        let target = self.target;
        match self.file.persist_noclobber(&target) {
            Ok(()) => {}
            Err(taken) if taken.error.kind() == std::io::ErrorKind::AlreadyExists => {
                return Err(StoreError::FileExists { location: target });
            }
            Err(other) => return Err(failed(operation, other.error)),
        }
        flush(target.parent().unwrap_or(&target)).map_err(|error| failed(operation, error))
    }
}
