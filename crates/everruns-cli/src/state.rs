//! Where this program keeps heads and sessions.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use etcetera::{BaseStrategy as _, choose_base_strategy};

use crate::failure::Failure;
use crate::hints::quoted;

/// The state folder and what is in it.
#[derive(Clone, Debug)]
pub(crate) struct StateFolder {
    path: PathBuf,
    /// As a command has to name it to mean this folder again; none when it is found without.
    flag: Option<String>,
}

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
            let from_environment = std::env::var_os("EVERRUNS_STATE") == Some(folder.into());
            let flag = (!from_environment).then(|| absolute.display().to_string());
            return Ok(Self {
                path: absolute,
                flag,
            });
        }
        let strategy = choose_base_strategy().map_err(|source| {
            Failure::new(format!("the home folder is not known: {source}"))
                .hint("set HOME, or say where to keep state with `--state DIR` or EVERRUNS_STATE")
        })?;
        let base = strategy.state_dir().unwrap_or_else(|| strategy.data_dir());
        Ok(Self {
            path: base.join("everruns"),
            flag: None,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A command of this program as it can be pasted into a shell: it names the state folder and the repository at
    /// `locator` where they would not be found from the present folder.
    pub(crate) fn command(&self, words: &[&str], locator: Option<&str>) -> String {
        let mut command = String::from("everruns");
        for word in words {
            command.push(' ');
            command.push_str(&quoted(word));
        }
        let elsewhere = locator.filter(|locator| {
            std::env::current_dir().is_ok_and(|present| !present.starts_with(locator))
        });
        for (option, value) in [("--repo", elsewhere), ("--state", self.flag.as_deref())] {
            if let Some(value) = value {
                let _ = write!(command, " {option} {}", quoted(value));
            }
        }
        command
    }

    /// The sessions' database.
    pub(crate) fn database(&self) -> PathBuf {
        self.path.join("sessions.db")
    }

    /// The Git backend's state. The name is older than the word backend, and stays.
    pub(crate) fn git(&self) -> PathBuf {
        self.path.join("workspace-provider")
    }
}
