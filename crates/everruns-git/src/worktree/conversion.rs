//! The conversion between files as they are in a worktree and contents as they are stored.

use std::borrow::Cow;
use std::io::Read as _;

use gix::attrs::StateRef;
use gix::bstr::BStr;
use gix::filter::Pipeline;
use gix::filter::plumbing::pipeline::convert::ToGitOutcome;
use gix::sec::Trust;
use gix::worktree::IndexPersistedOrInMemory;
use gix::worktree::stack::state::attributes::Source;

use crate::error::{GitError, GitStep as _, Result};
use crate::names::path_text;

/// The conversion of files of `worktree`, by the attributes in it, and the index that goes with it.
///
/// The library's own way takes a linked worktree of a bare repository for a bare one, and looks for the attributes in
/// the commit that `HEAD` names instead.
pub(crate) fn conversion(
    worktree: &gix::Repository,
) -> Result<(Pipeline<'_>, IndexPersistedOrInMemory)> {
    let step = "prepare the conversion of files";
    let index = worktree.index_or_empty().git(step)?;
    let attributes = worktree
        .attributes_only(&index, Source::WorktreeThenIdMapping)
        .git(step)?;
    let pipeline = Pipeline::new(worktree, attributes.detach()).git(step)?;
    Ok((pipeline, IndexPersistedOrInMemory::Persisted(index)))
}

/// What Git would store of `content`, which is at `path` in `worktree`.
///
/// A filter that fails although it is required is an error: what it should have made can't be made up for.
pub(super) fn convert<'a>(
    worktree: &gix::Repository,
    pipeline: &'a mut Pipeline<'_>,
    index: &gix::index::State,
    path: &BStr,
    content: &'a [u8],
) -> Result<Cow<'a, [u8]>> {
    let native = gix::path::from_bstr(path).git("convert a path")?;
    match pipeline.convert_to_git(content, &native, index) {
        Ok(ToGitOutcome::Buffer(bytes)) => Ok(Cow::Borrowed(bytes)),
        Ok(ToGitOutcome::Process(mut stream)) => {
            let mut bytes = Vec::new();
            stream
                .read_to_end(&mut bytes)
                .map_err(|failure| filter_failed(path, failure))?;
            Ok(Cow::Owned(bytes))
        }
        Err(failure) if is_filtered(worktree, path)? => Err(filter_failed(path, failure)),
        // What can't be converted, such as text in another encoding than declared, is kept as it is.
        Ok(ToGitOutcome::Unchanged(_)) | Err(_) => Ok(Cow::Borrowed(content)),
    }
}

fn filter_failed(
    path: &BStr,
    failure: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> GitError {
    GitError::FilterFailed {
        path: path_text(path),
        source: failure.into(),
    }
}

/// Whether a filter that may run is named for `path`.
fn is_filtered(worktree: &gix::Repository, path: &BStr) -> Result<bool> {
    let step = "read the attributes";
    if worktree.git_dir_trust() != Trust::Full {
        return Ok(false);
    }
    let index = worktree.index_or_empty().git(step)?;
    let mut stack = worktree
        .attributes_only(&index, Source::WorktreeThenIdMapping)
        .git(step)?;
    let mut outcome = stack.selected_attribute_matches(["filter"]);
    let platform = stack.at_entry(path, None).git(step)?;
    Ok(platform.matching_attributes(&mut outcome)
        && outcome
            .iter_selected()
            .any(|found| matches!(found.assignment.state, StateRef::Value(_))))
}
