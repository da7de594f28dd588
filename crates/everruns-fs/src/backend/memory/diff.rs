use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use everruns_core::file_system::ContentVersion;
use everruns_core::path::WorkspacePath;
use everruns_core::workspace::{FileChange, FileDiff, WorkspaceDiff};

use super::hunks;
use crate::memory::{File, Tree, TreeChange, changes};

/// The most files of one difference.
pub(super) const MAX_FILES: usize = 10_000;
/// The most lines of all hunks of one difference.
const MAX_LINES: usize = 200_000;
/// How long small differences are looked for; after that coarser ones are taken.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// How two states differ, in the files after the first `skip`, `limit` at most. A file that moved without a change is told
/// as renamed.
pub(super) fn diff(before: &Tree, now: &Tree, skip: usize, limit: Option<usize>) -> WorkspaceDiff {
    let Moved { found, origins } = Moved::between(before, now);
    let changed = !found.is_empty();
    let limit = limit.unwrap_or(MAX_FILES).min(MAX_FILES);
    let next = skip.saturating_add(limit);
    let next = (next < found.len()).then_some(next);
    let mut truncated = next.is_some();
    let mut lines_left = MAX_LINES;
    let deadline = Instant::now().checked_add(PATIENCE);
    let files = found
        .iter()
        .skip(skip)
        .take(limit)
        .map(|change| {
            let mut file = file_diff(change, origins.get(change.path.relative()), deadline);
            let lines: usize = file.hunks.iter().map(|hunk| hunk.lines.len()).sum();
            if lines > lines_left {
                file.hunks.clear();
                file.omitted = true;
                truncated = true;
            } else {
                lines_left -= lines;
            }
            file
        })
        .collect();
    WorkspaceDiff {
        changed,
        files,
        truncated,
        next,
    }
}

/// How two states differ, with files that moved without a change told once.
pub(super) struct Moved {
    pub(super) found: Vec<TreeChange>,
    /// Where a file that moved was before, by where it is now.
    pub(super) origins: BTreeMap<String, TreeChange>,
}

impl Moved {
    pub(super) fn between(before: &Tree, now: &Tree) -> Self {
        let mut found = changes(before, now);
        let origins = take_moved(&mut found);
        Self { found, origins }
    }
}

/// Takes out what went away here and came with the same bytes there; the result tells from where, by where to.
fn take_moved(found: &mut Vec<TreeChange>) -> BTreeMap<String, TreeChange> {
    let mut gone: BTreeMap<ContentVersion, Vec<TreeChange>> = BTreeMap::new();
    for change in found.iter().rev() {
        if let (Some(file), None) = (&change.before, &change.after)
            && !file.bytes.is_empty()
        {
            gone.entry(file.version).or_default().push(change.clone());
        }
    }
    let mut origins = BTreeMap::new();
    for change in found.iter() {
        if let (None, Some(file)) = (&change.before, &change.after)
            && let Some(origin) = gone.get_mut(&file.version).and_then(Vec::pop)
        {
            origins.insert(change.path.relative().to_owned(), origin);
        }
    }
    let moved: BTreeSet<&WorkspacePath> = origins.values().map(|origin| &origin.path).collect();
    found.retain(|change| !moved.contains(&change.path));
    origins
}

fn file_diff(
    change: &TreeChange,
    origin: Option<&TreeChange>,
    deadline: Option<Instant>,
) -> FileDiff {
    let before = change
        .before
        .as_ref()
        .or_else(|| origin.and_then(|origin| origin.before.as_ref()));
    let after = change.after.as_ref();
    let bytes = |file: Option<&Arc<File>>| file.map(|file| file.bytes.clone()).unwrap_or_default();
    let (old, new) = (bytes(before), bytes(after));
    let binary = hunks::is_binary(&old) || hunks::is_binary(&new);
    let lines = if binary {
        hunks::Lines::default()
    } else {
        hunks::compare(&old, &new, deadline)
    };
    FileDiff {
        path: change.path.relative().to_owned(),
        original: origin.map(|origin| origin.path.relative().to_owned()),
        change: match (origin, &change.before, &change.after) {
            (Some(_), _, _) => FileChange::Renamed,
            (None, None, _) => FileChange::Added,
            (None, Some(_), None) => FileChange::Deleted,
            (None, Some(_), Some(_)) => FileChange::Modified,
        },
        old_mode: before.map(|file| file.git_mode()),
        new_mode: after.map(|file| file.git_mode()),
        binary,
        omitted: false,
        added: lines.added,
        removed: lines.removed,
        hunks: lines.hunks,
    }
}
