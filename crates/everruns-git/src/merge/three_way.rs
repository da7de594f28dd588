//! A three-way merge in memory, and its conflicts as data.

use std::collections::BTreeMap;

use everruns_core::workspace::{ConflictSide, MergeConflict};
use gix::ObjectId;
use gix::bstr::{BString, ByteSlice as _};
use gix::diff::tree_with_rewrites::Change;
use gix::index::entry::{Mode, Stage};
use gix::merge::blob::builtin_driver::text::Labels;
use gix::merge::tree::apply_index_entries::RemovalMode;
use gix::merge::tree::{Conflict, ResolutionFailure, TreatAsUnresolved};

use crate::checkpoint::StageEntry;
use crate::error::{GitStep as _, Result};
use crate::names::path_text;

/// One side of a merge: a commit, and what people call it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side<'a> {
    pub(super) commit: ObjectId,
    pub(super) name: &'a str,
}

/// What a merge came to.
#[derive(Debug)]
pub(super) struct Merged {
    /// The merged files; where there are conflicts, with markers in them.
    pub(super) tree: ObjectId,
    /// The sides of the conflicts, as an index has them.
    pub(super) stages: Vec<StageEntry>,
    /// The conflicts, sorted by path.
    pub(super) conflicts: Vec<MergeConflict>,
    /// Whether an index can say all of the conflicts.
    pub(super) told_by_stages: bool,
}

/// Merges `theirs` into `ours`, renames followed; nothing but objects is written.
pub(super) fn three_way(
    repository: &gix::Repository,
    ours: Side<'_>,
    theirs: Side<'_>,
) -> Result<Merged> {
    let options = repository.tree_merge_options().git("prepare the merge")?;
    let labels = Labels {
        ancestor: None,
        current: Some(ours.name.into()),
        other: Some(theirs.name.into()),
    };
    let merged = repository
        .merge_commits(ours.commit, theirs.commit, labels, options.into())
        .git("merge")?;
    let mut outcome = merged.tree_merge;
    let tree = outcome.tree.write().git("write the merged tree")?.detach();
    let strict = TreatAsUnresolved::git();
    let mut merged = Merged {
        tree,
        stages: Vec::new(),
        conflicts: Vec::new(),
        told_by_stages: true,
    };
    if !outcome.has_unresolved_conflicts(strict) {
        return Ok(merged);
    }
    let mut index = repository
        .index_from_tree(&tree)
        .git("read the merged tree")?;
    outcome.index_changed_after_applying_conflicts(&mut index, strict, RemovalMode::Prune);
    merged.stages = stages(&index);
    let conflicts = outcome.conflicts.iter();
    for stage in conflicts.filter_map(base_of_deleted_and_renamed) {
        let has_base = |known: &StageEntry| known.path == stage.path && known.stage == 1;
        if !merged.stages.iter().any(has_base) {
            merged.stages.push(stage);
        }
    }
    merged
        .stages
        .sort_by(|left, right| (&left.path, left.stage).cmp(&(&right.path, right.stage)));
    merged.conflicts = told(&merged.stages, ours.name, theirs.name);
    for conflict in &outcome.conflicts {
        let told = conflict.entries().iter().any(Option::is_some);
        if conflict.is_unresolved(strict) && !told {
            merged.told_by_stages = false;
            merged.conflicts.push(MergeConflict {
                path: path_text(conflict.ours.location()),
                detail: "both sides changed it in ways that can't be joined".to_owned(),
                ..MergeConflict::default()
            });
        }
    }
    merged.told_by_stages &= !merged.stages.is_empty();
    merged
        .conflicts
        .sort_by(|left, right| left.path.cmp(&right.path));
    merged.conflicts.dedup();
    Ok(merged)
}

/// What a file was that one side deleted and the other renamed.
///
/// Git has it at the new path, beside what it became there; the library leaves it out.
fn base_of_deleted_and_renamed(conflict: &Conflict) -> Option<StageEntry> {
    let Err(ResolutionFailure::OursDeletedTheirsRenamed) = conflict.resolution else {
        return None;
    };
    let renamed = [&conflict.ours, &conflict.theirs];
    renamed.into_iter().find_map(|change| match change {
        Change::Rewrite {
            source_entry_mode,
            source_id,
            location,
            ..
        } => Some(StageEntry {
            path: location.clone(),
            stage: 1,
            mode: u32::from(source_entry_mode.value()),
            id: *source_id,
        }),
        _ => None,
    })
}

fn stages(index: &gix::index::State) -> Vec<StageEntry> {
    let entries = index.entries().iter();
    entries
        .filter(|entry| entry.stage() != Stage::Unconflicted && entry.mode != Mode::DIR)
        .map(|entry| StageEntry {
            path: entry.path(index).to_owned(),
            stage: match entry.stage() {
                Stage::Unconflicted => 0,
                Stage::Base => 1,
                Stage::Ours => 2,
                Stage::Theirs => 3,
            },
            mode: entry.mode.bits(),
            id: entry.id,
        })
        .collect()
}

/// The conflicts that `stages` say, in words.
pub(super) fn told(stages: &[StageEntry], ours: &str, theirs: &str) -> Vec<MergeConflict> {
    let mut found: BTreeMap<&BString, [Option<ConflictSide>; 3]> = BTreeMap::new();
    for stage in stages {
        let sides = found.entry(&stage.path).or_default();
        if let Some(side) = sides.get_mut(usize::from(stage.stage).wrapping_sub(1)) {
            *side = Some(ConflictSide {
                revision: stage.id.to_string(),
                mode: stage.mode,
            });
        }
    }
    let told = found.into_iter().map(|(path, [base, mine, other])| {
        let detail = match (base.is_some(), mine.is_some(), other.is_some()) {
            (true, true, true) => "both sides changed it".to_owned(),
            (false, true, true) => "both sides added it".to_owned(),
            (true, true, false) => format!("changed in {ours}, deleted or moved in {theirs}"),
            (true, false, true) => format!("deleted or moved in {ours}, changed in {theirs}"),
            (true, false, false) => "both sides deleted or moved it".to_owned(),
            (false, true, false) => format!("only {ours} has it here"),
            (false, false, _) => format!("only {theirs} has it here"),
        };
        MergeConflict {
            path: path_text(path.as_bstr()),
            detail,
            base,
            ours: mine,
            theirs: other,
        }
    });
    told.collect()
}
