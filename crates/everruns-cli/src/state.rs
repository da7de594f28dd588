//! Where this program keeps heads and sessions.

use std::path::{Path, PathBuf};

use etcetera::{BaseStrategy as _, choose_base_strategy};

use crate::failure::Failure;

/// The state folder and what is in it.
#[derive(Clone, Debug)]
pub(crate) struct StateFolder(PathBuf);

impl StateFolder {
    /// The folder given, or `everruns` in the user's state folder (on Linux `$XDG_STATE_HOME`, else
    /// `~/.local/state`).
    pub(crate) fn choose(given: Option<PathBuf>) -> Result<Self, Failure> {
        if let Some(folder) = given {
            let absolute = std::path::absolute(&folder).map_err(|source| {
                Failure::new(format!(
                    "{} cannot be made absolute: {source}",
                    folder.display()
                ))
                .hint("give `--state` a folder that exists or can be made")
            })?;
            return Ok(Self(absolute));
        }
        let strategy = choose_base_strategy().map_err(|source| {
            Failure::new(format!("the home folder is not known: {source}"))
                .hint("set HOME, or say where to keep state with `--state DIR` or EVERRUNS_STATE")
        })?;
        let base = strategy.state_dir().unwrap_or_else(|| strategy.data_dir());
        Ok(Self(base.join("everruns")))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The Git backend's state. The name is older than the word backend, and stays.
    pub(crate) fn git(&self) -> PathBuf {
        self.0.join("workspace-provider")
    }
}
