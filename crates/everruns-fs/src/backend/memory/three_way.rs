use std::collections::BTreeSet;
use std::sync::Arc;

use everruns_core::clock::Timestamp;
use everruns_core::path::WorkspacePath;
use everruns_core::workspace::{ConflictSide, MergeConflict};
use similar::TextMerge;

use super::hunks::is_binary;
use crate::memory::{File, Node, Tree, TreeChange, changes};

/// The three states of a merge.
#[derive(Clone, Debug)]
pub(super) struct Sides {
    /// What both sides began with.
    pub(super) base: Tree,
    pub(super) into: Tree,
    pub(super) from: Tree,
    pub(super) names: Names,
}

/// What people call the two sides.
#[derive(Clone, Debug)]
pub(super) struct Names {
    /// In a sentence.
    pub(super) into: &'static str,
    pub(super) from: &'static str,
    /// Beside the markers of a conflict.
    pub(super) label: String,
}

/// What a merge came to.
#[derive(Debug)]
pub(super) struct Merged {
    /// The merged state. What is in conflict is in it between markers where it is text, else as the side has it that is
    /// merged into, or that did not delete it.
    pub(super) tree: Tree,
    /// Sorted by path.
    pub(super) conflicts: Vec<MergeConflict>,
}

/// What becomes of a file.
enum Outcome {
    Stays,
    Becomes(Option<Arc<File>>),
    Conflict {
        detail: String,
        /// What is left of it; as it was when `None`.
        left: Option<Arc<File>>,
    },
}

pub(super) fn three_way(sides: &Sides, now: Timestamp) -> Merged {
    let mut wanted = Vec::new();
    let mut conflicts = Vec::new();
    let all = changes(&sides.base, &sides.from);
    for change in &all {
        let there = sides.into.file(&change.path);
        match merge_file(change, there, &sides.names, now) {
            Outcome::Stays => {}
            Outcome::Becomes(file) => wanted.push((change.path.clone(), file)),
            Outcome::Conflict { detail, left } => {
                wanted.extend(left.map(|left| (change.path.clone(), Some(left))));
                conflicts.push(conflict(change, there, detail));
            }
        }
    }
    let mut tree = sides.into.clone();
    let blocked = put_all(&mut tree, wanted, now);
    let blocked: BTreeSet<WorkspacePath> = blocked.into_iter().collect();
    let told: BTreeSet<String> = conflicts.iter().map(|told| told.path.clone()).collect();
    let untold = all
        .iter()
        .filter(|change| blocked.contains(&change.path) && !told.contains(change.path.relative()));
    conflicts.extend(untold.map(|change| {
        let there = sides.into.file(&change.path);
        let detail = "a file is where the other side has a folder".to_owned();
        conflict(change, there, detail)
    }));
    conflicts.sort_by(|a, b| a.path.cmp(&b.path));
    Merged { tree, conflicts }
}

fn merge_file(
    change: &TreeChange,
    there: Option<&Arc<File>>,
    names: &Names,
    now: Timestamp,
) -> Outcome {
    let (before, theirs) = (change.before.as_ref(), change.after.as_ref());
    if is_same(there, theirs) {
        return Outcome::Stays;
    }
    if is_same(there, before) {
        return Outcome::Becomes(theirs.cloned());
    }
    let Names { into, from, .. } = names;
    let conflict = |detail: String, left: Option<&Arc<File>>| Outcome::Conflict {
        detail,
        left: left.cloned(),
    };
    match (before, there, theirs) {
        (base, Some(ours), Some(theirs)) => {
            merge_text(base.map(Arc::as_ref), ours, theirs, names, now)
        }
        (_, _, None) => conflict(format!("{from} deleted it and {into} changed it"), None),
        (_, None, Some(theirs)) => conflict(
            format!("{into} deleted it and {from} changed it"),
            Some(theirs),
        ),
    }
}

fn merge_text(
    base: Option<&File>,
    ours: &File,
    theirs: &File,
    names: &Names,
    now: Timestamp,
) -> Outcome {
    // Who changed the mode wins; both can only have changed it to the same.
    let executable = match base {
        Some(base) if ours.executable == base.executable => theirs.executable,
        _ => ours.executable,
    };
    let file = |bytes| Arc::new(File::new(bytes, executable, now));
    if let Some(base) = base {
        if theirs.version == base.version || ours.version == theirs.version {
            return Outcome::Becomes(Some(file(ours.bytes.clone())));
        }
        if ours.version == base.version {
            return Outcome::Becomes(Some(file(theirs.bytes.clone())));
        }
    }
    let start = base.map_or_else(|| Some(String::new()), text);
    let (Some(start), Some(mine), Some(other)) = (start, text(ours), text(theirs)) else {
        return Outcome::Conflict {
            detail: if base.is_some() {
                "both sides changed it, and it is not text"
            } else {
                "both sides added it, with different content"
            }
            .to_owned(),
            left: None,
        };
    };
    let mut merge = TextMerge::from_lines(&start, &mine, &other);
    let is_conflicted = merge.is_conflicted();
    merge.labels("", "HEAD", &names.label);
    let merged = file(merge.to_string().into());
    match base {
        Some(_) if !is_conflicted => Outcome::Becomes(Some(merged)),
        Some(_) => Outcome::Conflict {
            detail: "both sides changed the same lines".to_owned(),
            left: Some(merged),
        },
        None => Outcome::Conflict {
            detail: "both sides added it, with different content".to_owned(),
            left: Some(merged),
        },
    }
}

/// What can be merged line by line.
fn text(file: &File) -> Option<String> {
    if is_binary(&file.bytes) {
        return None;
    }
    String::from_utf8(file.bytes.to_vec()).ok()
}

pub(super) fn is_same(one: Option<&Arc<File>>, other: Option<&Arc<File>>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(one), Some(other)) => one.is_same(other),
        _ => false,
    }
}

/// Puts files into `tree`, or takes them out, with folders that are empty then. Gives the paths where something else is in the
/// way.
pub(super) fn put_all(
    tree: &mut Tree,
    wanted: Vec<(WorkspacePath, Option<Arc<File>>)>,
    now: Timestamp,
) -> Vec<WorkspacePath> {
    let (gone, made): (Vec<_>, Vec<_>) = wanted.into_iter().partition(|(_, file)| file.is_none());
    for (path, _) in gone {
        if tree.file(&path).is_some() {
            tree.take(&path, now);
        }
        take_empty_folders(tree, &path, now);
    }
    let mut blocked = Vec::new();
    for (path, file) in made {
        let Some(file) = file else { continue };
        if is_in_the_way(tree, &path) {
            blocked.push(path);
        } else {
            tree.put(&path, Node::File(file), now);
        }
    }
    blocked
}

fn take_empty_folders(tree: &mut Tree, path: &WorkspacePath, now: Timestamp) {
    let mut folder = path.parent();
    while let Some(path) = folder {
        let is_empty = matches!(tree.get(&path), Some(Node::Folder(folder)) if folder.is_empty());
        if !is_empty || path.is_top() {
            return;
        }
        tree.take(&path, now);
        folder = path.parent();
    }
}

/// Whether there is a folder with files in it at `path`, or a file above it.
fn is_in_the_way(tree: &Tree, path: &WorkspacePath) -> bool {
    if matches!(tree.get(path), Some(Node::Folder(folder)) if folder.has_files()) {
        return true;
    }
    let mut folder = path.parent();
    while let Some(path) = folder {
        if tree.file(&path).is_some() {
            return true;
        }
        folder = path.parent();
    }
    false
}

fn conflict(change: &TreeChange, there: Option<&Arc<File>>, detail: String) -> MergeConflict {
    let side = |file: Option<&Arc<File>>| {
        file.map(|file| ConflictSide {
            revision: file.version.to_string(),
            mode: file.git_mode(),
        })
    };
    MergeConflict {
        path: change.path.relative().to_owned(),
        detail,
        base: side(change.before.as_ref()),
        ours: side(there),
        theirs: side(change.after.as_ref()),
    }
}
