//! Files that a program of somebody's choice would have to convert.

use std::collections::BTreeSet;
use std::path::Path;

use everruns_core::workspace::DegradedFact;
use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::status::index_worktree::Item;

use super::degraded::fact;
use crate::error::{GitStep as _, Result};
use crate::files::{Files, Found};
use crate::repository::read_patterns;
use crate::scan::{Scan, path_of};

/// The name of the files with attributes.
const ATTRIBUTES: &str = ".gitattributes";

/// The places that name a filter for files of the working tree at `folder`, none of which is run.
pub(super) fn filters(
    folder: &Path,
    worktree: &gix::Repository,
    scan: &Scan,
    facts: &mut Vec<DegradedFact>,
) -> Result<()> {
    let detail =
        "attributes name a filter, such as Git LFS; it is not run, and files are as stored";
    if outside(worktree)
        .iter()
        .any(|content| names_filter(content))
    {
        facts.push(fact("filter-not-run", None, detail));
    }
    let files = Files::open(folder)?;
    for path in inside(worktree, scan)? {
        let content = match files.read(path.as_ref())? {
            Found::File { content, .. } => content,
            // What was removed from the working tree is still read from the index.
            Found::Nothing => in_index(worktree, path.as_ref())?,
            _ => continue,
        };
        if names_filter(&content) {
            facts.push(fact("filter-not-run", Some(path.as_ref()), detail));
        }
    }
    Ok(())
}

/// The attributes of the repository, and of the user, that lie in no working tree.
fn outside(worktree: &gix::Repository) -> Vec<Vec<u8>> {
    let own = Some(worktree.common_dir().join("info/attributes"));
    let user = worktree
        .config_snapshot()
        .trusted_path("core.attributesFile")
        .unwrap_or_default();
    let paths = own.into_iter().chain(user);
    paths.filter_map(|path| read_patterns(&path)).collect()
}

/// The files with attributes in the working tree and in the index.
fn inside(worktree: &gix::Repository, scan: &Scan) -> Result<BTreeSet<BString>> {
    let index = worktree.index_or_empty().git("read the index")?;
    let tracked = index.entries().iter().map(|entry| entry.path(&index));
    let untracked = scan.unstaged.iter().filter_map(|item| match item {
        Item::DirectoryContents { .. } => Some(path_of(item)),
        _ => None,
    });
    Ok(tracked
        .chain(untracked)
        .filter(|path| is_attributes(path))
        .map(ToOwned::to_owned)
        .collect())
}

fn is_attributes(path: &BStr) -> bool {
    let above = path.strip_suffix(ATTRIBUTES.as_bytes());
    above.is_some_and(|above| above.is_empty() || above.ends_with(b"/"))
}

fn in_index(worktree: &gix::Repository, path: &BStr) -> Result<Vec<u8>> {
    let step = "read the attributes";
    let index = worktree.index_or_empty().git(step)?;
    let Some(entry) = index.entry_by_path(path) else {
        return Ok(Vec::new());
    };
    let mut blob = worktree.find_blob(entry.id).git(step)?;
    Ok(std::mem::take(&mut blob.data))
}

fn names_filter(content: &[u8]) -> bool {
    content
        .lines()
        .filter(|line| !line.trim_start().starts_with(b"#"))
        .flat_map(|line| line.fields())
        .any(|field| field.starts_with(b"filter="))
}
