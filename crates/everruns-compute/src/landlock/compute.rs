use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use everruns_core::compute::{
    CommandOutcome, CommandRequest, Compute, ComputeError, ComputeIsolation,
};
use everruns_core::file_system::SessionFileSystem;

use super::probe::Probe;
use super::{filter, rules};
use crate::folder::HeadFolder;
use crate::process::{Job, Programs};

/// Runs commands that the kernel confines, by Landlock and a system call filter.
///
/// * **Writes** reach the files and folders that the head has at its top when the command starts, a private folder,
///   and `/dev/null` and its like. `.git` is not among them, and a command can make nothing new directly at the top,
///   because Landlock could not tell a new file from a new `.git`. [`LandlockBuilder::folder`] makes folders for
///   what builds put there; [`LandlockBuilder::whole_head`] gives the protection of `.git` up.
/// * **Reads** reach the head, the private folder, the system's programs and libraries, and what
///   [`LandlockBuilder::readable`] adds. Not the user's home, not `/proc` of other processes.
/// * **The network** is denied, local sockets included, unless [`LandlockBuilder::allow_network`] allows it.
/// * Processes outside can be neither traced nor, from Linux 6.12 on, signalled.
///
/// Not confined: that files outside exist and their sizes (`stat`), the modes and times of files of the same user
/// (`chmod`, `utime`), memory, processors, and the number of processes. A `.git` in a folder below the top is a file
/// like any other.
#[derive(Clone, Debug)]
pub struct LandlockCompute {
    folder: HeadFolder,
    programs: Programs,
    settings: Arc<Settings>,
}

/// What a command may do beyond the least.
#[derive(Debug, Default)]
pub(super) struct Settings {
    pub(super) readable: Vec<PathBuf>,
    pub(super) whole_head: bool,
    pub(super) network: bool,
}

/// A [`LandlockCompute`] about to be built.
#[derive(Debug)]
pub struct LandlockBuilder {
    folder: HeadFolder,
    programs: Programs,
    settings: Settings,
    folders: Vec<String>,
    probe: Probe,
}

impl LandlockCompute {
    /// Commands on the head that has these files, with the least that they may do.
    ///
    /// # Errors
    /// [`ComputeError::IsolationUnavailable`] when this host can't enforce it, [`ComputeError::WorkingFolder`] when
    /// the files are not on this host.
    pub fn new(files: &Arc<dyn SessionFileSystem>) -> Result<Self, ComputeError> {
        Self::builder(files)?.build()
    }

    /// Begins a compute on the head that has these files.
    ///
    /// # Errors
    /// [`ComputeError::WorkingFolder`] when the files are not on this host.
    pub fn builder(files: &Arc<dyn SessionFileSystem>) -> Result<LandlockBuilder, ComputeError> {
        Ok(LandlockBuilder::of(HeadFolder::of(files)?))
    }

    /// Begins a compute in this folder.
    pub fn in_folder(folder: impl Into<PathBuf>) -> LandlockBuilder {
        LandlockBuilder::of(HeadFolder::at(folder))
    }
}

impl LandlockBuilder {
    fn of(folder: HeadFolder) -> Self {
        Self {
            folder,
            programs: Programs::default(),
            settings: Settings::default(),
            folders: Vec::new(),
            probe: Probe::of_this_host(),
        }
    }

    /// Makes a folder at the head's top where there is none, for commands to write to, such as `target`.
    #[must_use]
    pub fn folder(mut self, name: impl Into<String>) -> Self {
        self.folders.push(name.into());
        self
    }

    /// Lets commands read a file, or a folder and all below it.
    #[must_use]
    pub fn readable(mut self, path: impl Into<PathBuf>) -> Self {
        self.settings.readable.push(path.into());
        self
    }

    /// Looks for programs in `folder` first, and lets commands read it.
    #[must_use]
    pub fn programs(mut self, folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        self.programs.put_first(folder.clone());
        self.readable(folder)
    }

    /// Lets commands write everywhere in the head, **its `.git` included**: what it makes there can run on this host
    /// when somebody uses Git in the head.
    #[must_use]
    pub fn whole_head(mut self) -> Self {
        self.settings.whole_head = true;
        self
    }

    /// Lets commands use the network and local sockets.
    #[must_use]
    pub fn allow_network(mut self) -> Self {
        self.settings.network = true;
        self
    }

    /// Builds it.
    ///
    /// # Errors
    /// [`ComputeError::IsolationUnavailable`] when this host can't enforce it, [`ComputeError::WorkingFolder`] for a
    /// folder that can't be made.
    pub fn build(self) -> Result<LandlockCompute, ComputeError> {
        self.probe.check()?;
        for name in &self.folders {
            self.folder.make(name)?;
        }
        Ok(LandlockCompute {
            folder: self.folder,
            programs: self.programs,
            settings: Arc::new(self.settings),
        })
    }
}

#[async_trait]
impl Compute for LandlockCompute {
    fn name(&self) -> &'static str {
        "landlock"
    }

    fn isolation(&self) -> ComputeIsolation {
        ComputeIsolation {
            writes_confined: true,
            reads_confined: true,
            network_denied: !self.settings.network,
        }
    }

    async fn run(&self, request: CommandRequest) -> Result<CommandOutcome, ComputeError> {
        let job = Job::new(request, self.programs.clone())?;
        let (folder, settings) = (self.folder.clone(), Arc::clone(&self.settings));
        let confined = folder.clone();
        let confine = move |home: &std::path::Path| {
            let head = confined.open()?;
            let program = filter::build(!settings.network)?;
            rules::apply(&head, home, &settings)?;
            filter::apply(&program)
        };
        job.run(folder, confine).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h85_a_host_that_cannot_confine_fails_closed_and_says_what_is_missing() {
        let rows = [
            (
                Probe {
                    landlock: false,
                    filter: true,
                },
                "Landlock",
            ),
            (
                Probe {
                    landlock: true,
                    filter: false,
                },
                "system call filter",
            ),
        ];
        for (probe, missing) in rows {
            let mut builder = LandlockCompute::in_folder("/tmp").folder("never-made");
            builder.probe = probe;
            let error = builder.build().expect_err("it can't confine");
            assert!(matches!(error, ComputeError::IsolationUnavailable { .. }));
            assert!(error.to_string().contains(missing), "{error}");
            assert!(error.to_string().ends_with("nothing was run"), "{error}");
        }
        assert!(!std::path::Path::new("/tmp/never-made").exists());
    }
}
