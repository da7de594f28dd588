use bytes::Bytes;
use everruns_core::file_system::{
    ContentVersion, FileKind, FileStat, FileSystemError, PageRequest, Precondition, ReadRange,
    Removal, Replace,
};
use everruns_core::path::WorkspacePath;

use super::MountedFileSystem;
use super::rebase::Tree;

/// One end of a move: a tree, and the path in it as the tree knows it.
struct End<'a> {
    tree: &'a Tree,
    path: WorkspacePath,
}

/// A file that was copied.
struct Copied {
    from: WorkspacePath,
    to: WorkspacePath,
    version: ContentVersion,
}

/// What a move is about to copy, folders before what is in them.
#[derive(Default)]
struct Plan {
    folders: Vec<(WorkspacePath, WorkspacePath)>,
    files: Vec<(WorkspacePath, WorkspacePath)>,
}

impl MountedFileSystem {
    /// Copies, verifies, removes. The first half is undone when it fails; the second never loses anything.
    pub(super) async fn move_across(
        &self,
        source: &Tree,
        from: &WorkspacePath,
        target: &Tree,
        to: &WorkspacePath,
        replace: Replace,
    ) -> Result<(), FileSystemError> {
        let source = End {
            tree: source,
            path: Tree::inward(from),
        };
        let target = End {
            tree: target,
            path: Tree::inward(to),
        };
        if from.is_top() {
            return Err(FileSystemError::InvalidOperation {
                path: from.clone(),
                reason: "the top folder of a mount cannot be moved",
            });
        }
        let stat = source.stat(&source.path).await?;
        let before = target.precondition(stat.kind, replace).await?;
        let plan = source.plan(&stat, &target.path).await?;
        let partial = |error| FileSystemError::PartialMove {
            from: from.clone(),
            to: to.clone(),
            source: Box::new(error),
        };
        let mut copied = Vec::new();
        if let Err(error) = copy_all(&source, &target, &plan, before, &mut copied).await {
            // What replaced a file cannot be taken back; a new file can, if it is still the one we wrote.
            let is_left = match before {
                Precondition::Absent => !target.undo(&plan, &copied).await,
                _ => !copied.is_empty(),
            };
            return Err(if is_left && plan.folders.is_empty() {
                partial(error)
            } else {
                not_moved(error)
            });
        }
        let removed = source.remove(&plan, &copied).await;
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

async fn copy_all(
    source: &End<'_>,
    target: &End<'_>,
    plan: &Plan,
    before: Precondition,
    copied: &mut Vec<Copied>,
) -> Result<(), FileSystemError> {
    for (_, to) in &plan.folders {
        target.tree.errors(target.tree.files.create_dir(to).await)?;
    }
    for (from, to) in &plan.files {
        let content = source
            .tree
            .errors(source.tree.files.read(from, ReadRange::ALL).await)?;
        let written = target.write(to, content.bytes().clone(), before).await;
        let there = match &written {
            Ok(version) => Some(*version),
            Err(error) => error.is_of_a_made_change().then_some(content.version()),
        };
        copied.extend(there.map(|version| Copied {
            from: from.clone(),
            to: to.clone(),
            version,
        }));
        let version = written?;
        let length = ReadRange {
            offset: 0,
            length: Some(0),
        };
        let kept = target
            .tree
            .errors(target.tree.files.read(to, length).await)?;
        if version != content.version() || kept.version() != content.version() {
            return Err(FileSystemError::Conflict {
                path: target.tree.outward(to),
                expected: Precondition::Matches(content.version()),
                current: Some(kept.version()),
            });
        }
    }
    Ok(())
}

impl End<'_> {
    async fn stat(&self, path: &WorkspacePath) -> Result<FileStat, FileSystemError> {
        self.tree.errors(self.tree.files.stat(path).await)
    }

    async fn write(
        &self,
        path: &WorkspacePath,
        bytes: Bytes,
        before: Precondition,
    ) -> Result<ContentVersion, FileSystemError> {
        let written = self.tree.files.write(path, bytes, before).await;
        self.tree.errors(written)
    }

    /// What must hold of the destination, as far as `replace` allows something to be there.
    async fn precondition(
        &self,
        kind: FileKind,
        replace: Replace,
    ) -> Result<Precondition, FileSystemError> {
        let path = self.tree.outward(&self.path);
        match (self.stat(&self.path).await, replace) {
            (Err(FileSystemError::NotFound { .. }), Replace::Matches(_)) => {
                replace.precondition().check(&path, None)?;
                Ok(replace.precondition())
            }
            (Err(FileSystemError::NotFound { .. }), _) => Ok(Precondition::Absent),
            (Err(error), _) => Err(error),
            (Ok(_), Replace::Never) => Err(FileSystemError::AlreadyExists { path }),
            (Ok(there), _) => match (kind, there.kind) {
                (FileKind::File, FileKind::File) => Ok(replace.precondition()),
                (FileKind::File, kind) => Err(FileSystemError::NotAFile { path, kind }),
                _ => Err(FileSystemError::AlreadyExists { path }),
            },
        }
    }

    /// Lists all that would move, and refuses what a copy could not keep.
    async fn plan(&self, stat: &FileStat, to: &WorkspacePath) -> Result<Plan, FileSystemError> {
        let mut plan = Plan::default();
        let mut open = vec![(self.path.clone(), to.clone(), stat.clone())];
        while let Some((from, to, stat)) = open.pop() {
            match stat.kind {
                FileKind::Directory => {
                    // The last one in is looked at first, so this goes by name.
                    open.extend(self.entries(&from, &to).await?.into_iter().rev());
                    plan.folders.push((from, to));
                }
                FileKind::File if !stat.executable => plan.files.push((from, to)),
                FileKind::File => {
                    return Err(self.refused(
                        &from,
                        "an executable file cannot move to another mount, \
                         as its mode would be lost: write its content there instead",
                    ));
                }
                _ => {
                    return Err(
                        self.refused(&from, "only files and folders can move to another mount")
                    );
                }
            }
        }
        Ok(plan)
    }

    fn refused(&self, path: &WorkspacePath, reason: &'static str) -> FileSystemError {
        FileSystemError::InvalidOperation {
            path: self.tree.outward(path),
            reason,
        }
    }

    async fn entries(
        &self,
        from: &WorkspacePath,
        to: &WorkspacePath,
    ) -> Result<Vec<(WorkspacePath, WorkspacePath, FileStat)>, FileSystemError> {
        let mut entries = Vec::new();
        let mut request = PageRequest::default();
        loop {
            let page = self
                .tree
                .errors(self.tree.files.list(from, request.clone()).await)?;
            if !page.unrepresentable.is_empty() {
                return Err(self.refused(from, "it holds names that are not Unicode"));
            }
            for entry in page.entries {
                entries.push((from.join(&entry.name)?, to.join(&entry.name)?, entry.stat));
            }
            match page.next {
                Some(next) => request.after = Some(next),
                None => return Ok(entries),
            }
        }
    }

    /// Removes what was copied, each file only as it was copied; then the folders, which must be empty. A removal that
    /// may not last is told of at the end.
    async fn remove(&self, plan: &Plan, copied: &[Copied]) -> Result<(), FileSystemError> {
        let files = copied
            .iter()
            .map(|file| (&file.from, Precondition::Matches(file.version)));
        let folders = plan.folders.iter().rev();
        let folders = folders.map(|(folder, _)| (folder, Precondition::Any));
        let mut all = Ok(());
        for (path, unchanged) in files.chain(folders) {
            let removed = self.tree.files.remove(path, Removal::Entry, unchanged);
            match self.tree.errors(removed.await) {
                Err(error @ FileSystemError::NotFlushed { .. }) => all = Err(error),
                other => other?,
            }
        }
        all
    }

    /// Takes back what a failed copy left, and says whether nothing of it is there. What cannot be removed stays: it is
    /// a copy.
    async fn undo(&self, plan: &Plan, copied: &[Copied]) -> bool {
        let files = copied
            .iter()
            .map(|file| (&file.to, Precondition::Matches(file.version)));
        let folders = plan.folders.iter().rev();
        let folders = folders.map(|(_, folder)| (folder, Precondition::Any));
        let mut all = true;
        for (path, unchanged) in files.chain(folders) {
            let removed = self.tree.files.remove(path, Removal::Entry, unchanged);
            match removed.await {
                Ok(()) | Err(FileSystemError::NotFound { .. }) => {}
                Err(error) if error.is_of_a_made_change() => {}
                // It is somebody else's by now.
                Err(FileSystemError::Conflict { .. }) => {}
                Err(error) => {
                    all = false;
                    let path = self.tree.outward(path);
                    tracing::warn!(%path, %error, "a part of a failed move is left");
                }
            }
        }
        all
    }
}
