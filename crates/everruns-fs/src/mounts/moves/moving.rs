use everruns_core::file_system::{FileKind, FileSystemError, Replace};
use everruns_core::path::WorkspacePath;

use super::super::MountedFileSystem;
use super::super::rebase::Tree;
use super::copying::copy_all;
use super::end::End;
use super::one_entry::Entries;
use super::plan::Plan;

impl MountedFileSystem {
    /// Copies, verifies, removes. The first half is undone when it fails; the second never loses anything.
    pub(in super::super) async fn move_across(
        &self,
        source: &Tree,
        from: &WorkspacePath,
        target: &Tree,
        to: &WorkspacePath,
        replace: Replace,
    ) -> Result<(), FileSystemError> {
        let (source, target) = (End::new(source, from), End::new(target, to));
        if from.is_top() {
            return Err(FileSystemError::InvalidOperation {
                path: from.clone(),
                reason: "the top folder of a mount cannot be moved",
            });
        }
        let stat = source.stat(&source.path).await?;
        if stat.kind == FileKind::Directory && source.holds(&target).await? {
            return Err(FileSystemError::InvalidOperation {
                path: to.clone(),
                reason: "a folder cannot be moved into itself",
            });
        }
        let before = target.before(stat.kind, replace).await?;
        if before.replace != Replace::Never {
            match source.compare(&source.path, &target, &target.path).await? {
                Entries::One => return source.onto_itself(to, replace).await,
                Entries::Unknown if source.looks_like(&target).await? => {
                    return Err(FileSystemError::InvalidOperation {
                        path: to.clone(),
                        reason: "it is as what would replace it, and the trees do not tell whether both are one: \
                                 remove one of them",
                    });
                }
                Entries::Unknown | Entries::Two => {}
            }
        }
        let plan = Plan::of(&source, &stat, &target).await?;
        let partial = |error| FileSystemError::PartialMove {
            from: from.clone(),
            to: to.clone(),
            source: Box::new(error),
        };
        let mut copied = Vec::new();
        if let Err(error) = copy_all(&source, &target, &plan, before, &mut copied).await {
            // What replaced a file cannot be taken back; a new file can, if it is still the one we wrote.
            let is_left = match before.replace {
                Replace::Never => !target.undo(&source, &plan, &copied).await,
                _ => !copied.is_empty(),
            };
            return Err(match (is_left, plan.folders.is_empty()) {
                (false, _) => not_moved(error),
                (true, true) => partial(error),
                // Of a folder, not all need be there.
                (true, false) => FileSystemError::PartialCopy {
                    from: from.clone(),
                    to: to.clone(),
                    source: Box::new(error),
                },
            });
        }
        let removed = source.remove_all(&target, &plan, &copied).await;
        removed.map_err(|error| match error {
            FileSystemError::NotFlushed { source, .. } => FileSystemError::NotFlushed {
                path: to.clone(),
                source,
            },
            error @ FileSystemError::NotPutBack { .. } => error,
            error => partial(error),
        })
    }
}

/// The error of a move whose source is whole, and whose destination is as before.
fn not_moved(error: FileSystemError) -> FileSystemError {
    match error {
        FileSystemError::NotFlushed { path, source } => FileSystemError::Io {
            path,
            step: "keep the copy at",
            source,
        },
        error => error,
    }
}
