//! Moving references, always by compare-and-swap and never without a trace.

use gix::ObjectId;
use gix::refs::transaction::{Change, LogChange, PreviousValue, RefEdit, RefLog};
use gix::refs::{FullName, Target};

use crate::error::{GitStep as _, Result};

/// The name under which this backend writes its own commits and reference logs.
pub(crate) const SIGNATURE_NAME: &str = "everruns";
/// The address beside [`SIGNATURE_NAME`]; it receives no mail.
pub(crate) const SIGNATURE_EMAIL: &str = "everruns@localhost";

/// The time in a signature, in Git's form, at `millis` since the epoch.
pub(crate) fn signature_time(millis: i64) -> String {
    format!("{} +0000", millis.div_euclid(1000))
}

/// Edits the references of one repository.
pub(crate) struct Refs<'repo> {
    repository: &'repo gix::Repository,
    time: String,
}

impl<'repo> Refs<'repo> {
    /// Edits `repository`'s references, logging them at `millis` since the epoch.
    pub(crate) fn new(repository: &'repo gix::Repository, millis: i64) -> Self {
        Self {
            repository,
            time: signature_time(millis),
        }
    }

    /// Creates `name` at `target`; a conflict if it exists.
    ///
    /// The name carries the id of a head whose lock the caller holds. So nobody else is creating it, Git's own
    /// packing locks only references that exist, and a lock file in the way was left by a process that was killed.
    pub(crate) fn create(&self, name: &str, target: ObjectId, why: &str) -> Result<()> {
        let create = || self.update(name, target, PreviousValue::MustNotExist, why);
        let Err(failure) = create() else {
            return Ok(());
        };
        let lock = self.repository.common_dir().join(format!("{name}.lock"));
        if self.target(name)?.is_none() && std::fs::remove_file(&lock).is_ok() {
            create()
        } else {
            Err(failure)
        }
    }

    /// Moves `name` from `expected` to `target`; a conflict if it is elsewhere.
    pub(crate) fn swap(
        &self,
        name: &str,
        expected: ObjectId,
        target: ObjectId,
        why: &str,
    ) -> Result<()> {
        let expected = PreviousValue::MustExistAndMatch(Target::Object(expected));
        self.update(name, target, expected, why)
    }

    /// Deletes `name` if it is at `expected`.
    pub(crate) fn delete(&self, name: &str, expected: ObjectId) -> Result<()> {
        let change = Change::Delete {
            expected: PreviousValue::MustExistAndMatch(Target::Object(expected)),
            log: RefLog::AndReference,
        };
        self.edit(name, change)
    }

    /// Deletes references, each if it is where it is said to be; all of them or none.
    pub(crate) fn delete_all(
        &self,
        references: impl IntoIterator<Item = (String, ObjectId)>,
    ) -> Result<()> {
        let edits = references.into_iter().map(|(name, expected)| {
            let change = Change::Delete {
                expected: PreviousValue::MustExistAndMatch(Target::Object(expected)),
                log: RefLog::AndReference,
            };
            Self::edit_of(&name, change)
        });
        self.apply(edits.collect::<Result<Vec<_>>>()?)
    }

    /// The commit at `name`, if there is such a reference.
    pub(crate) fn target(&self, name: &str) -> Result<Option<ObjectId>> {
        let found = self
            .repository
            .try_find_reference(name)
            .git("read a reference")?;
        Ok(found.and_then(|reference| reference.try_id().map(gix::Id::detach)))
    }

    fn update(
        &self,
        name: &str,
        target: ObjectId,
        expected: PreviousValue,
        why: &str,
    ) -> Result<()> {
        let log = LogChange {
            message: format!("everruns: {why}").into(),
            ..LogChange::default()
        };
        let change = Change::Update {
            log,
            expected,
            new: Target::Object(target),
        };
        self.edit(name, change)
    }

    fn edit(&self, name: &str, change: Change) -> Result<()> {
        self.apply(vec![Self::edit_of(name, change)?])
    }

    fn edit_of(name: &str, change: Change) -> Result<RefEdit> {
        let name = FullName::try_from(name)
            .map_err(gix::Error::from_error)
            .git("use a reference name")?;
        Ok(RefEdit {
            change,
            name,
            deref: false,
        })
    }

    fn apply(&self, edits: Vec<RefEdit>) -> Result<()> {
        let signature = gix::actor::SignatureRef {
            name: SIGNATURE_NAME.into(),
            email: SIGNATURE_EMAIL.into(),
            time: &self.time,
        };
        self.repository
            .edit_references_as(edits, Some(signature))
            .git("move a reference")
            .map(drop)
    }
}
