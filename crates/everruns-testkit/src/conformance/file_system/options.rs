use everruns_core::file_system::EntrySupport;

use crate::check::Selection;

/// Where file systems may legitimately differ.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Whether a search honours `.gitignore`.
    pub honours_ignore_files: bool,
    /// Whether names that differ only in Unicode normalisation are two names.
    pub distinguishes_normalisation: bool,
    /// What the tree holds beside folders and plain files.
    pub holds: EntrySupport,
    /// How many writers compete for one file.
    pub writers: usize,
    /// Which checks to run.
    pub selection: Selection,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            honours_ignore_files: true,
            distinguishes_normalisation: true,
            holds: EntrySupport::ALL,
            writers: 16,
            selection: Selection::all(),
        }
    }
}

impl Options {
    /// For a file system whose search does not look at `.gitignore`.
    #[must_use]
    pub fn without_ignore_files(mut self) -> Self {
        self.honours_ignore_files = false;
        self
    }

    /// For a tree that holds no executable files: they must be refused, and nothing be made.
    #[must_use]
    pub fn without_executables(mut self) -> Self {
        self.holds.executables = false;
        self
    }

    /// For a tree that holds no symbolic links: they must be refused, and nothing be made.
    #[must_use]
    pub fn without_links(mut self) -> Self {
        self.holds.links = false;
        self
    }

    /// Runs only these checks.
    #[must_use]
    pub fn select(mut self, selection: Selection) -> Self {
        self.selection = selection;
        self
    }
}
