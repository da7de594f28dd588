//! Which of a head's paths a commit is about.

use gix::bstr::{BStr, BString, ByteSlice as _};

use crate::error::{GitError, Result};
use crate::names::path_text;

/// Paths that were asked for: files, and folders with everything below.
#[derive(Debug)]
pub(super) struct Selection {
    wanted: Vec<Wanted>,
}

#[derive(Debug)]
struct Wanted {
    given: String,
    path: BString,
    found: bool,
}

impl Selection {
    /// The paths `given`, below the head or below `/workspace`.
    pub(super) fn new(given: &[String]) -> Result<Self> {
        let mut wanted = Vec::with_capacity(given.len());
        for given in given {
            let parsed = everruns_core::path::WorkspacePath::parse(given);
            let path = parsed.map_err(|_| GitError::UnknownPaths {
                paths: vec![given.clone()],
            })?;
            wanted.push(Wanted {
                given: given.clone(),
                path: path.relative().into(),
                found: false,
            });
        }
        Ok(Self { wanted })
    }

    /// Whether `path` was asked for; remembers what it was asked for by.
    pub(super) fn takes(&mut self, path: &BStr) -> bool {
        let mut taken = false;
        for wanted in &mut self.wanted {
            let selects = wanted.path.is_empty()
                || path == wanted.path.as_bstr()
                || path
                    .strip_prefix(wanted.path.as_slice())
                    .is_some_and(|below| below.starts_with(b"/"))
                || path_text(path) == wanted.path.to_str_lossy();
            wanted.found |= selects;
            taken |= selects;
        }
        taken
    }

    /// Fails if something was asked for that nothing has been found by.
    pub(super) fn expect_found(&self) -> Result<()> {
        let missing = self.wanted.iter().filter(|wanted| !wanted.found);
        let paths: Vec<String> = missing.map(|wanted| wanted.given.clone()).collect();
        if paths.is_empty() {
            Ok(())
        } else {
            Err(GitError::UnknownPaths { paths })
        }
    }
}
