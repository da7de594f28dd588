use everruns_core::file_system::{
    ContentVersion, FileMode, FileSystemError, LinkTarget, Precondition, ReadRange, Replace,
};
use everruns_core::path::WorkspacePath;

use super::end::{Before, End};
use super::one_entry::Entries;
use super::plan::{Plan, Planned, What};

/// What was copied.
pub(super) struct Copied {
    from: WorkspacePath,
    to: WorkspacePath,
    what: Kept,
}

/// What a copy must still be to be removed, whichever of the two it is.
enum Kept {
    File(ContentVersion),
    Link(LinkTarget),
}

/// Copies what is planned and looks at each copy.
pub(super) async fn copy_all(
    source: &End<'_>,
    target: &End<'_>,
    plan: &Plan,
    before: Before,
    copied: &mut Vec<Copied>,
) -> Result<(), FileSystemError> {
    for (_, to, permissions) in &plan.folders {
        let made = match permissions {
            Some(permissions) => target.tree.files.create_dir_within(to, *permissions).await,
            None => target.tree.files.create_dir(to).await,
        };
        target.tree.errors(made)?;
    }
    for planned in &plan.entries {
        match &planned.what {
            What::File {
                executable,
                permissions,
            } => {
                let mode = target.mode(*executable, *permissions, before);
                copy_file(source, target, planned, mode, before, copied).await?;
                target
                    .must_be_as(&planned.to, *executable, *permissions)
                    .await?;
            }
            What::Link(text) => copy_link(target, planned, text, before.replace, copied).await?,
        }
    }
    Ok(())
}

async fn copy_file(
    source: &End<'_>,
    target: &End<'_>,
    Planned { from, to, .. }: &Planned,
    mode: FileMode,
    before: Before,
    copied: &mut Vec<Copied>,
) -> Result<(), FileSystemError> {
    let content = source.tree.files.read(from, ReadRange::ALL).await;
    let content = source.tree.errors(content)?;
    let bytes = content.bytes().clone();
    let written = target.write(to, bytes, mode, before.precondition()).await;
    let there = match &written {
        Ok(version) => Some(*version),
        Err(error) => error.is_of_a_made_change().then_some(content.version()),
    };
    copied.extend(there.map(|version| Copied {
        from: from.clone(),
        to: to.clone(),
        what: Kept::File(version),
    }));
    let version = written?;
    let length = ReadRange {
        offset: 0,
        length: Some(0),
    };
    let kept = target.tree.files.read(to, length).await;
    let kept = target.tree.errors(kept)?;
    if version != content.version() || kept.version() != content.version() {
        return Err(FileSystemError::Conflict {
            path: target.tree.outward(to),
            expected: Precondition::Matches(content.version()),
            current: Some(kept.version()),
        });
    }
    Ok(())
}

async fn copy_link(
    target: &End<'_>,
    Planned { from, to, .. }: &Planned,
    text: &LinkTarget,
    replace: Replace,
    copied: &mut Vec<Copied>,
) -> Result<(), FileSystemError> {
    let made = target.create_link(to, text, replace).await;
    let is_there = match &made {
        Ok(()) => true,
        Err(error) => error.is_of_a_made_change(),
    };
    if is_there {
        copied.push(Copied {
            from: from.clone(),
            to: to.clone(),
            what: Kept::Link(text.clone()),
        });
    }
    made?;
    if target.read_link(to).await? == *text {
        Ok(())
    } else {
        Err(target.refused(to, "the link was changed while it was made"))
    }
}

impl Kept {
    /// Removes the copy at `path`, only as it was copied. A link has no version, so it is looked at just before.
    async fn remove(&self, end: &End<'_>, path: &WorkspacePath) -> Result<(), FileSystemError> {
        match self {
            Self::File(version) => end.remove(path, Precondition::Matches(*version)).await,
            Self::Link(text) if end.read_link(path).await? == *text => {
                end.remove(path, Precondition::Any).await
            }
            Self::Link(_) => Err(end.refused(path, CHANGED)),
        }
    }
}

impl Copied {
    /// Fails when the copy is no other entry than its source, as when somebody has exchanged folders meanwhile: whichever
    /// is removed, nothing would be left. The copy must still be there, too.
    async fn must_be_two(&self, source: &End<'_>, target: &End<'_>) -> Result<(), FileSystemError> {
        match source.compare(&self.from, target, &self.to).await? {
            Entries::One => Err(source.refused(&self.from, "its copy became the same entry")),
            Entries::Two | Entries::Unknown => Ok(()),
        }
    }
}

const CHANGED: &str = "the link was changed while it was moved";

impl End<'_> {
    /// Removes what was copied, each entry only as it was copied; then the folders, which must be empty. A removal that
    /// may not last is told of at the end.
    pub(super) async fn remove_all(
        &self,
        target: &End<'_>,
        plan: &Plan,
        copied: &[Copied],
    ) -> Result<(), FileSystemError> {
        let mut all = Ok(());
        let mut note = |removed: Result<(), FileSystemError>| match removed {
            Err(error @ FileSystemError::NotFlushed { .. }) => {
                all = Err(error);
                Ok(())
            }
            other => other,
        };
        for entry in copied {
            entry.must_be_two(self, target).await?;
            note(entry.what.remove(self, &entry.from).await)?;
        }
        for (folder, ..) in plan.folders.iter().rev() {
            note(self.remove(folder, Precondition::Any).await)?;
        }
        all
    }

    /// Takes back what a failed copy left, and says whether nothing of it is there. What cannot be removed stays: it is
    /// a copy.
    pub(super) async fn undo(&self, source: &End<'_>, plan: &Plan, copied: &[Copied]) -> bool {
        let mut all = true;
        for entry in copied {
            let removed = match entry.must_be_two(source, self).await {
                Ok(()) => entry.what.remove(self, &entry.to).await,
                // It may be all that there is, so it is left, unless it is gone.
                Err(error) => Err(error),
            };
            all &= self.is_taken_back(&entry.to, removed).await;
        }
        for (_, folder, _) in plan.folders.iter().rev() {
            let removed = self.remove(folder, Precondition::Any).await;
            all &= self.is_taken_back(folder, removed).await;
        }
        all
    }

    async fn is_taken_back(
        &self,
        path: &WorkspacePath,
        removed: Result<(), FileSystemError>,
    ) -> bool {
        let error = match removed {
            // It is gone, or somebody else's by now.
            Ok(())
            | Err(FileSystemError::Conflict { .. } | FileSystemError::InvalidOperation { .. }) => {
                return true;
            }
            Err(error) if error.is_of_a_made_change() => return true,
            Err(error) => error,
        };
        let there = self.stat(path).await;
        if matches!(there, Err(FileSystemError::NotFound { .. })) {
            return true;
        }
        let path = self.tree.outward(path);
        tracing::warn!(%path, %error, "a part of a failed move is left");
        false
    }
}
