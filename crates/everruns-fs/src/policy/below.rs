use everruns_core::file_system::{FileKind, FileSystemError, LastLink, PageRequest};
use everruns_core::path::WorkspacePath;

use super::PolicyFileSystem;

impl PolicyFileSystem {
    /// Checks that all below the folder `from` may be removed, and may be written below `to` if it moves there, links with
    /// what they say included. `to` is given with where it really lies.
    ///
    /// It costs one listing of each folder below. The error names the rule and `from`, not what is protected.
    pub(super) async fn check_below(
        &self,
        from: &WorkspacePath,
        to: Option<(&WorkspacePath, &WorkspacePath)>,
    ) -> Result<(), FileSystemError> {
        let resolved = self.inner.resolve(from, LastLink::Keep).await?;
        let refused = |error: FileSystemError| error.map_paths(&|_| from.clone());
        let mut folders = vec![(
            resolved,
            to.map(|(to, really)| (to.clone(), really.clone())),
        )];
        while let Some((folder, target)) = folders.pop() {
            let mut request = PageRequest::default();
            loop {
                let page = self.inner.list(&folder, request.clone()).await?;
                for entry in page.entries {
                    let path = folder.join(&entry.name)?;
                    self.policy.check_write(&path).map_err(refused)?;
                    let target = match &target {
                        None => None,
                        Some((to, really)) => {
                            let (to, really) = (to.join(&entry.name)?, really.join(&entry.name)?);
                            self.policy.check_write(&to).map_err(refused)?;
                            self.policy.check_write(&really).map_err(refused)?;
                            if entry.stat.kind == FileKind::Symlink {
                                let checked = self.check_moved_link(&path, &to, &really).await;
                                checked.map_err(refused)?;
                            }
                            Some((to, really))
                        }
                    };
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
