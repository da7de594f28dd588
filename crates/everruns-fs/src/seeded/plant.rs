use everruns_core::file_system::{FileSystemError, Precondition, SessionFileSystem};
use everruns_core::path::WorkspacePath;

use super::SeededFileSystem;

impl SeededFileSystem {
    /// Writes each seed where there is nothing yet. What is there already is left alone, so this may be repeated.
    /// The result names the files written.
    ///
    /// # Errors
    /// As [`SessionFileSystem::write`]; seeds before the one that failed are written.
    pub async fn plant(&self) -> Result<Vec<WorkspacePath>, FileSystemError> {
        self.plant_into(self.inner.as_ref()).await
    }

    /// As [`plant`](Self::plant), into a file system further inside: an application may seed what its own policy
    /// lets nobody write.
    ///
    /// # Errors
    /// As [`plant`](Self::plant).
    pub async fn plant_into(
        &self,
        files: &dyn SessionFileSystem,
    ) -> Result<Vec<WorkspacePath>, FileSystemError> {
        let mut written = Vec::new();
        for seed in &self.seeds.all {
            match files.stat(&seed.path).await {
                Ok(_) => continue,
                Err(FileSystemError::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
            let content = seed.content.clone();
            match files.write(&seed.path, content, Precondition::Absent).await {
                Ok(_) => written.push(seed.path.clone()),
                // Somebody else was faster.
                Err(FileSystemError::Conflict { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(written)
    }
}
