use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use everruns_core::compute::{
    CommandOutcome, CommandRequest, Compute, ComputeError, ComputeIsolation,
};
use everruns_core::file_system::SessionFileSystem;

use crate::folder::HeadFolder;
use crate::process::{Job, Programs};

/// Runs commands as plain processes of this user. **Nothing is confined**: a command can do what the user can.
#[derive(Clone, Debug)]
pub struct HostCompute {
    folder: HeadFolder,
    programs: Programs,
}

impl HostCompute {
    /// Commands on the head that has these files.
    ///
    /// # Errors
    /// [`ComputeError::WorkingFolder`] when the files are not on this host.
    pub fn new(files: &Arc<dyn SessionFileSystem>) -> Result<Self, ComputeError> {
        Ok(Self {
            folder: HeadFolder::of(files)?,
            programs: Programs::default(),
        })
    }

    /// Commands in this folder.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: HeadFolder::at(folder),
            programs: Programs::default(),
        }
    }

    /// Looks for programs in `folder` first.
    #[must_use]
    pub fn with_programs(mut self, folder: impl Into<PathBuf>) -> Self {
        self.programs.put_first(folder.into());
        self
    }
}

#[async_trait]
impl Compute for HostCompute {
    fn name(&self) -> &'static str {
        "host"
    }

    fn isolation(&self) -> ComputeIsolation {
        ComputeIsolation::default()
    }

    async fn run(&self, request: CommandRequest) -> Result<CommandOutcome, ComputeError> {
        let folder = self.folder.clone();
        Job::new(request, self.programs.clone())?
            .run(folder, |_| Ok(()))
            .await
    }
}
