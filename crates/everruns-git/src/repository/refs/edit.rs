//! Creating, moving and deleting references.

use std::fs;
use std::path::Path;

use everruns_core::failpoint::hit;
use gix::ObjectId;
use gix::refs::FullName;

use super::lock::RefLock;
use super::log::{self, Move};
use super::packed;
use crate::error::{GitError, GitStep as _, IoStep as _, Result};

/// Edits the references of one repository.
pub(crate) struct Refs<'repo> {
    repository: &'repo gix::Repository,
    millis: i64,
}

/// What a reference must be before it is changed.
enum Expected {
    Nothing,
    At(ObjectId),
}

impl<'repo> Refs<'repo> {
    /// Edits `repository`'s references, logging them at `millis` since the epoch.
    pub(crate) fn new(repository: &'repo gix::Repository, millis: i64) -> Self {
        Self { repository, millis }
    }

    /// Creates `name` at `target`; `ReferenceMoved` if it exists.
    pub(crate) fn create(&self, name: &str, target: ObjectId, why: &str) -> Result<()> {
        self.update(name, target, &Expected::Nothing, why)
    }

    /// As [`create`](Self::create), with a log of it where the repository keeps none of such references, too.
    pub(crate) fn create_logged(&self, name: &str, target: ObjectId, why: &str) -> Result<()> {
        log::begin(self.repository.common_dir(), name)?;
        let created = self.create(name, target, why);
        if created.is_err() && matches!(self.target(name), Ok(None)) {
            log::remove(self.repository.common_dir(), name)?;
        }
        created
    }

    /// Moves `name` from `expected` to `target`; `ReferenceMoved` if it is elsewhere.
    pub(crate) fn swap(
        &self,
        name: &str,
        expected: ObjectId,
        target: ObjectId,
        why: &str,
    ) -> Result<()> {
        self.update(name, target, &Expected::At(expected), why)
    }

    /// Deletes `name` if it is at `expected`.
    pub(crate) fn delete(&self, name: &str, expected: ObjectId) -> Result<()> {
        self.delete_all([(name.to_owned(), expected)])
    }

    /// Deletes references, if each is where it is said to be; otherwise none of them.
    ///
    /// A crash in the middle leaves those that it had not come to.
    pub(crate) fn delete_all(
        &self,
        references: impl IntoIterator<Item = (String, ObjectId)>,
    ) -> Result<()> {
        let mut locks = Vec::new();
        for (name, expected) in references {
            let lock = self.lock(&name)?;
            self.expect(&name, &Expected::At(expected))?;
            locks.push((name, lock));
        }
        hit("git.refs.after-locks")?;
        let common = self.repository.common_dir();
        // Packed values go first: without the loose file, they would be the reference's again.
        let names: Vec<&str> = locks.iter().map(|(name, _)| name.as_str()).collect();
        packed::remove(common, &names)?;
        hit("git.refs.after-packed")?;
        for (name, lock) in locks {
            remove(&common.join(&name))?;
            hit("git.refs.after-loose")?;
            log::remove(common, &name)?;
            drop(lock);
            remove_empty_folders(common, &name);
            hit("git.refs.after-deletion")?;
        }
        Ok(())
    }

    /// The commit at `name`, if there is such a reference.
    pub(crate) fn target(&self, name: &str) -> Result<Option<ObjectId>> {
        let found = self
            .repository
            .try_find_reference(name)
            .git("read a reference")?;
        // The library also finds what a short name could stand for.
        let exact = found.filter(|found| found.name().as_bstr() == name);
        Ok(exact.and_then(|reference| reference.try_id().map(gix::Id::detach)))
    }

    /// The full name of what `name` stands for, if it is a symbolic reference.
    pub(crate) fn stands_for(&self, name: &str) -> Result<Option<String>> {
        let found = self
            .repository
            .try_find_reference(name)
            .git("read a reference")?;
        let exact = found.filter(|found| found.name().as_bstr() == name);
        Ok(exact.and_then(|reference| match reference.target() {
            gix::refs::TargetRef::Symbolic(target) => Some(target.as_bstr().to_string()),
            gix::refs::TargetRef::Object(_) => None,
        }))
    }

    fn update(&self, name: &str, target: ObjectId, expected: &Expected, why: &str) -> Result<()> {
        if matches!(expected, Expected::Nothing) {
            // Where there is no room, there is none for the lock either.
            self.expect_room(name)?;
        }
        let lock = self.lock(name)?;
        hit("git.refs.after-lock")?;
        let from = self.expect(name, expected)?;
        if matches!(expected, Expected::Nothing) {
            self.expect_room(name)?;
        }
        let common = self.repository.common_dir();
        log::append(
            self.repository,
            name,
            &Move {
                from: from.unwrap_or_else(|| target.kind().null()),
                to: target,
                millis: self.millis,
                why,
            },
        )?;
        hit("git.refs.after-log")?;
        lock.replace(&common.join(name), format!("{target}\n").as_bytes())?;
        hit("git.refs.after-replacement")?;
        Ok(())
    }

    fn lock(&self, name: &str) -> Result<RefLock> {
        FullName::try_from(name)
            .map_err(gix::Error::from_error)
            .git("use a reference name")?;
        RefLock::take(self.repository.common_dir(), name)
    }

    /// Fails unless `name` is as expected; tells where it is.
    fn expect(&self, name: &str, expected: &Expected) -> Result<Option<ObjectId>> {
        let found = self
            .repository
            .try_find_reference(name)
            .git("read a reference")?
            .filter(|found| found.name().as_bstr() == name);
        let at = found.as_ref().and_then(gix::Reference::try_id);
        let as_expected = match expected {
            Expected::Nothing => found.is_none(),
            Expected::At(expected) => at.is_some_and(|at| at == *expected),
        };
        if as_expected {
            Ok(at.map(gix::Id::detach))
        } else {
            Err(GitError::ReferenceMoved {
                name: name.to_owned(),
            })
        }
    }

    /// Fails if another reference takes the place of a folder that `name` needs, or is in a folder of that name.
    fn expect_room(&self, name: &str) -> Result<()> {
        let blocked = |by: &str| {
            Err(GitError::ReferenceBlocked {
                name: name.to_owned(),
                by: by.to_owned(),
            })
        };
        let step = "read the references";
        let packed = self.repository.refs.cached_packed_buffer().git(step)?;
        let parent = Path::new(name).parent();
        // Where the folder is there, nothing else is at its path or above it; but packed references have no folders.
        let is_in_folders = parent.is_some_and(|above| {
            let above = self.repository.common_dir().join(above);
            above.is_dir()
        });
        let mut rest = name;
        while let Some((above, _)) = rest
            .rsplit_once('/')
            .filter(|(above, _)| above.contains('/'))
        {
            let is_taken = match &packed {
                _ if !is_in_folders => self.target(above)?.is_some(),
                Some(packed) => {
                    let found = packed.try_find(above).git(step)?;
                    found.is_some_and(|found| found.name.as_bstr() == above)
                }
                None => false,
            };
            if is_taken {
                return blocked(above);
            }
            rest = above;
        }
        let below = format!("{name}/");
        let platform = self.repository.references().git(step)?;
        match platform.prefixed(below.as_str()).git(step)?.next() {
            Some(found) => blocked(&found.git(step)?.name().as_bstr().to_string()),
            None => Ok(()),
        }
    }
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(failure) if failure.kind() != std::io::ErrorKind::NotFound => {
            Err(failure).step("remove the reference", path)
        }
        _ => Ok(()),
    }
}

/// Removes the folders that the reference `name` was in, if nothing else is, as Git does it.
fn remove_empty_folders(common: &Path, name: &str) {
    for root in [common.to_owned(), common.join("logs")] {
        let mut folder = Path::new(name).parent();
        // `refs/heads` and its like stay.
        while let Some(below) = folder.filter(|below| below.components().count() > 2) {
            if fs::remove_dir(root.join(below)).is_err() {
                break;
            }
            folder = below.parent();
        }
    }
}
