//! Ignored files that come along into a new head, such as an `.env` or a cache.
//!
//! They are named by patterns in Git's ignore syntax: in the file `.worktreeinclude` at the root of the working tree that
//! they come from, or by who makes the head. Only what Git ignores in both places comes along, so that nothing of it can
//! end up in a commit by accident.

mod copy;
mod find;
mod patterns;
mod record;

use everruns_core::workspace::{IgnoredReport, IncludedFile, SkippedFile};
use gix::bstr::ByteSlice as _;
use gix::worktree::stack::state::ignore::Source;

use self::copy::{Copied, Copier};
use self::find::{Candidate, Kind};
pub(crate) use self::patterns::Patterns;
pub(crate) use self::record::{load, save};
use crate::error::{GitError, GitStep as _, Result};
use crate::names::path_text;

/// Brings the ignored files of `source` that match `patterns` into the working tree of `target`, at most `limit` bytes.
///
/// What can't come along is told in the report. A full disk is an error.
pub(crate) fn bring(
    source: &gix::Repository,
    target: &gix::Repository,
    patterns: &Patterns,
    limit: u64,
) -> Result<IgnoredReport> {
    let mut report = IgnoredReport::default();
    let (Some(from), Some(to)) = (source.workdir(), target.workdir()) else {
        return Ok(report);
    };
    let mut copier = Copier::new(from, to, limit)?;
    let index = target.index_or_empty().git("read the index")?;
    let mut excluded = target
        .excludes(&index, None, Source::WorktreeThenIdMappingIfNotSkipped)
        .git("read the ignore patterns")?;
    let found = find::candidates(source, from, patterns)?;
    for Candidate { path, kind } in found.candidates {
        let mode = Some(gix::index::entry::Mode::FILE);
        let mut is_ignored = || {
            let found = excluded.at_entry(path.as_bstr(), mode);
            found.is_ok_and(|platform| platform.is_excluded())
        };
        let outcome = match kind {
            Kind::Link => Copied::Not("links are not followed"),
            Kind::Repository => Copied::Not("a repository of its own"),
            Kind::Special => Copied::Not("a pipe, socket or device"),
            Kind::Closed => Copied::Not("the folder can't be listed"),
            Kind::Rules => {
                Copied::Not("it is no file, and so nothing beside and below it was looked at")
            }
            Kind::Name => Copied::Not("its name is one that some systems take for .git"),
            Kind::File if !is_ignored() => Copied::Not("it is not ignored in the new head"),
            Kind::File => copier.copy(path.as_bstr())?,
        };
        let path = path_text(path.as_bstr());
        match outcome {
            Copied::Done { bytes, shared } => report.included.push(IncludedFile {
                path,
                bytes,
                shared,
            }),
            Copied::Not(reason) => report.skipped.push(SkippedFile {
                path,
                reason: reason.to_owned(),
            }),
        }
    }
    if found.cut {
        report.skipped.push(SkippedFile {
            path: String::new(),
            reason: format!(
                "only the first {} ignored entries were looked at",
                find::MOST_ENTRIES
            ),
        });
    }
    report
        .included
        .sort_by(|left, right| left.path.cmp(&right.path));
    report
        .skipped
        .sort_by(|left, right| left.path.cmp(&right.path));
    Ok(report)
}

/// Whether a failure is of this one file, so that the others can still come along.
fn is_of_this_file(failure: &GitError) -> bool {
    use std::io::ErrorKind::{
        AlreadyExists, IsADirectory, NotADirectory, NotFound, PermissionDenied,
    };
    matches!(
        failure,
        GitError::Io { source, .. } if matches!(
            source.kind(),
            AlreadyExists | IsADirectory | NotADirectory | NotFound | PermissionDenied
        )
    )
}
