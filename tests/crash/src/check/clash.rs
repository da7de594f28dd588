//! Conflicts: of a head and of a branch that was to be brought into it.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use everruns::path::WorkspacePath;
use everruns::session::{EventPayload, SessionStore};
use everruns::{SessionId, WorkspaceHead};

use crate::child::Seen;
use crate::clash::{resolved, side_of_branch, side_of_head};
use crate::place::Place;
use crate::project::{Project, clash_file};

/// How far the child was seen to come.
#[derive(Clone, Debug)]
enum Stage {
    /// The branch was to be brought in.
    Clashing { branch: String },
    /// It was, and conflicts.
    Clashed { branch: String },
    /// The conflict was to be resolved.
    Resolving { path: String, by_commit: bool },
    /// It was.
    Resolved { path: String, by_commit: bool },
}

/// The last stage after which the head was left alone.
fn last(seen: &[Seen]) -> Option<Stage> {
    let mut stage = None;
    for one in seen {
        stage = match (one, stage) {
            (Seen::Clashing { branch }, _) => Some(Stage::Clashing {
                branch: branch.clone(),
            }),
            (Seen::Clashed, Some(Stage::Clashing { branch })) => Some(Stage::Clashed { branch }),
            (Seen::Resolving { path, by_commit }, _) => Some(Stage::Resolving {
                path: path.clone(),
                by_commit: *by_commit,
            }),
            (Seen::Resolved, Some(Stage::Resolving { path, by_commit })) => {
                Some(Stage::Resolved { path, by_commit })
            }
            (Seen::Unclashed | Seen::Sent { .. }, _) => None,
            (Seen::Event(event), _)
                if matches!(event.payload, EventPayload::UserMessage { .. }) =>
            {
                None
            }
            (_, stage) => stage,
        };
    }
    stage
}

/// The head is before the conflict, in it or behind it, as far as the child has seen, and Git agrees.
pub(super) async fn check(
    place: &Place,
    project: &Project,
    store: &dyn SessionStore,
    session: &SessionId,
    seen: &[Seen],
) -> anyhow::Result<()> {
    let Some(stage) = last(seen) else {
        return Ok(());
    };
    let record = store.session(session).await?;
    let binding = record.binding.context("a session that works is bound")?;
    let backend = Arc::clone(place.workspace().await?.backend());
    let head = WorkspaceHead::reopen(backend, &binding).await?;
    let folder = head.file_system().host_path(&WorkspacePath::root());
    let found = Found::of(&folder.context("worktrees are somewhere")?, project, &stage)?;
    let conflicted = head.status().await?.conflicted;
    ensure!(
        conflicted == found.conflicted,
        "status says {conflicted}, git {found:?}"
    );
    ensure!(found.is_allowed(&stage), "{found:?} after {stage:?}");
    Ok(())
}

/// What the real Git and the disk say.
#[derive(Debug)]
struct Found {
    text: Option<String>,
    conflicted: bool,
    merging: bool,
    joined: bool,
}

impl Found {
    fn of(folder: &Path, project: &Project, stage: &Stage) -> anyhow::Result<Self> {
        let path = match stage {
            Stage::Clashing { branch } | Stage::Clashed { branch } => clash_file(branch).0,
            Stage::Resolving { path, .. } | Stage::Resolved { path, .. } => path.clone(),
        };
        let unmerged = project.git_in(folder, &["ls-files", "-u"])?.text();
        let text = match std::fs::read(folder.join(&path)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            text => Some(String::from_utf8(text?)?),
        };
        let resolves =
            |name: &str| project.succeeds_in(folder, &["rev-parse", "--verify", "-q", name]);
        Ok(Self {
            text,
            conflicted: !unmerged.is_empty(),
            merging: resolves("MERGE_HEAD"),
            joined: resolves("HEAD^2"),
        })
    }

    fn is_allowed(&self, stage: &Stage) -> bool {
        let text = self.text.as_deref().unwrap_or_default();
        let open = self.conflicted && self.merging;
        let closed = !self.conflicted && !self.merging;
        let shows = |branch: &str| {
            open && text.starts_with("<<<<<<< HEAD\n")
                && text.contains(&side_of_head(branch))
                && text.contains(&side_of_branch(branch))
        };
        let marked = text.contains("<<<<<<<");
        // A process before may have been killed between the file and the commit.
        let resolved_by = |path: &str| text == resolved(path);
        match stage {
            Stage::Clashing { branch } => shows(branch) || (closed && text == side_of_head(branch)),
            Stage::Clashed { branch } => shows(branch),
            Stage::Resolving {
                path,
                by_commit: true,
            } => {
                let both = resolved_by(path);
                (open && (marked || both)) || (closed && both && self.joined)
            }
            Stage::Resolved {
                path,
                by_commit: true,
            } => closed && resolved_by(path) && self.joined,
            Stage::Resolving {
                path,
                by_commit: false,
            } => (open && (marked || resolved_by(path))) || (closed && !marked),
            Stage::Resolved {
                by_commit: false, ..
            } => closed && !marked,
        }
    }
}
