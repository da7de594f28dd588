use crate::check::Selection;

/// Where file systems may legitimately differ.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Whether a search honours `.gitignore`.
    pub honours_ignore_files: bool,
    /// Whether names that differ only in Unicode normalisation are two names.
    pub distinguishes_normalisation: bool,
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

    /// Runs only these checks.
    #[must_use]
    pub fn select(mut self, selection: Selection) -> Self {
        self.selection = selection;
        self
    }
}
