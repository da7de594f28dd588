use everruns_core::file_system::FileAccess;
use everruns_core::path::WorkspacePath;

use super::decision::Refusal;
use super::globs::Globs;
use super::protected;

/// The rules of one built policy. A composed policy has several, and all of them must permit.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a rule of its own, which is on or off"
)]
pub(super) struct Layer {
    pub(super) allow_read: Globs,
    pub(super) allow_write: Globs,
    pub(super) deny_read: Globs,
    pub(super) deny_write: Globs,
    pub(super) hidden: bool,
    pub(super) sensitive: bool,
    pub(super) protect_build_folders: bool,
    pub(super) recursive_delete: bool,
}

impl Layer {
    /// The rule that refuses `access` to `path`.
    pub(super) fn refusal(&self, path: &WorkspacePath, access: FileAccess) -> Option<Refusal<'_>> {
        self.denial(path, access).or_else(|| {
            self.allowance(path, access)
                .is_none()
                .then_some(Refusal::NotAllowed(access))
        })
    }

    /// The rule that hides the folder `path`: it is shown when it may be read, or something below it may.
    pub(super) fn folder_refusal(&self, path: &WorkspacePath) -> Option<Refusal<'_>> {
        self.denial(path, FileAccess::Read).or_else(|| {
            let shown = self.allowance(path, FileAccess::Read).is_some()
                || self.allow_read.reach_below(path)
                || self.allow_write.reach_below(path);
            (!shown).then_some(Refusal::NotAllowed(FileAccess::Read))
        })
    }

    /// The glob that allows `access`. What may be written may be read.
    pub(super) fn allowance(&self, path: &WorkspacePath, access: FileAccess) -> Option<&str> {
        match access {
            FileAccess::Write => self.allow_write.matching(path),
            FileAccess::Read => self
                .allow_read
                .matching(path)
                .or_else(|| self.allow_write.matching(path)),
        }
    }

    /// What denies `access`, whatever allows it. What may not be read may not be written.
    pub(super) fn denial(&self, path: &WorkspacePath, access: FileAccess) -> Option<Refusal<'_>> {
        if path.is_git_internal() {
            return Some(Refusal::GitInternal);
        }
        if !self.sensitive
            && let Some(kind) = protected::sensitive(path)
        {
            return Some(Refusal::Sensitive(kind));
        }
        if !self.hidden && protected::hidden(path) {
            return Some(Refusal::Hidden);
        }
        if access == FileAccess::Write
            && self.protect_build_folders
            && let Some(name) = protected::build_folder(path)
        {
            return Some(Refusal::BuildFolder(name));
        }
        self.denial_by_glob(path, access)
    }

    /// The glob that denies `access`.
    fn denial_by_glob(&self, path: &WorkspacePath, access: FileAccess) -> Option<Refusal<'_>> {
        if let Some(glob) = self.deny_read.matching(path) {
            return Some(Refusal::Denied(FileAccess::Read, glob));
        }
        if access == FileAccess::Read {
            return None;
        }
        let glob = self.deny_write.matching(path)?;
        Some(Refusal::Denied(FileAccess::Write, glob))
    }
}
