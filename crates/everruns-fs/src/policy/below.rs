use everruns_core::file_system::{FileKind, FileSystemError, LastLink, PageRequest};
use everruns_core::path::WorkspacePath;

use super::PolicyFileSystem;

impl PolicyFileSystem {
    /// Checks that all below the folder `from` may be removed, and may be written below `to` if it moves there.
    ///
    /// It costs one listing of each folder below. The error names the rule and `from`, not what is protected.
    pub(super) async fn check_below(
        &self,
        from: &WorkspacePath,
        to: Option<&WorkspacePath>,
    ) -> Result<(), FileSystemError> {
        let resolved = self.inner.resolve(from, LastLink::Keep).await?;
        let refused = |error: FileSystemError| error.map_paths(&|_| from.clone());
        let mut folders = vec![(resolved, to.cloned())];
        while let Some((folder, target)) = folders.pop() {
            let mut request = PageRequest::default();
            loop {
                let page = self.inner.list(&folder, request.clone()).await?;
                for entry in page.entries {
                    let path = folder.join(&entry.name)?;
                    let target = target.as_ref().map(|to| to.join(&entry.name)).transpose()?;
                    self.policy.check_write(&path).map_err(refused)?;
                    if let Some(target) = &target {
                        self.policy.check_write(target).map_err(refused)?;
                    }
                    if entry.stat.kind == FileKind::Directory {
                        folders.push((path, target));
                    }
                }
                match page.next {
                    Some(next) => request.after = Some(next),
                    None => break,
                }
            }
        }
        Ok(())
    }
}
