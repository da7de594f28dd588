use anyhow::ensure;

use crate::child::Seen;
use crate::place::Place;
use crate::project::Project;

/// Commits that a child was told of hold what they are to, a branch that it merged into has not lost them, and the
/// project's own worktree is as its branch says.
pub(super) async fn check(place: &Place, project: &Project, seen: &[Seen]) -> anyhow::Result<()> {
    // A merge into a branch that is checked out may have to be finished.
    drop(place.workspace().await?);
    let changes = project.changes()?;
    ensure!(
        changes.is_empty(),
        "the project's worktree does not fit its branch: {changes}"
    );
    let mut first = true;
    for seen in seen {
        let Seen::Commit {
            revision,
            branch,
            files,
        } = seen
        else {
            continue;
        };
        let merged = branch == project.target();
        ensure!(
            !merged || project.contains(branch, revision),
            "{branch} has lost {revision}"
        );
        // A later merge also holds what the branch had.
        if !merged || std::mem::take(&mut first) {
            let found = project.files_of(revision)?;
            ensure!(
                found == project.without_links(files),
                "{revision} holds {found:?}, not {files:?}"
            );
        }
    }
    Ok(())
}
