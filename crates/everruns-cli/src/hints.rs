//! What to do next, for each error that a person can do something about.

use std::path::Path;

use everruns::session::StoreError;
use everruns::transfer::ImportError;
use everruns::{DeleteError, ResumeError, SessionEnvironmentError, SessionError, WorkspaceError};

use crate::failure::Failure;
use crate::times;

impl From<WorkspaceError> for Failure {
    fn from(error: WorkspaceError) -> Self {
        let failure = Self::of(&error);
        match workspace_hint(&error) {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

fn workspace_hint(error: &WorkspaceError) -> Option<String> {
    Some(match error {
        WorkspaceError::NotARepository { .. } | WorkspaceError::NotFound { .. } => {
            "name a folder in a Git repository with `--repo DIR`".to_owned()
        }
        WorkspaceError::UnknownRevision { .. } => {
            "`git branch --all` and `git log --oneline` show what there is".to_owned()
        }
        WorkspaceError::CheckpointNotFound { .. } => {
            "it was pruned, or never taken; `everruns head checkpoint HEAD --list` shows what is kept".to_owned()
        }
        WorkspaceError::EmptyRepository { .. } => {
            "leave out `--from`: the head then begins without commits, as the repository does".to_owned()
        }
        WorkspaceError::NameTaken { name, .. } => format!(
            "`everruns head status {}` shows what is there; it was left as it is",
            quoted(name)
        ),
        WorkspaceError::HeadArchived { head } => {
            format!("`everruns head reopen {head}` makes it usable again")
        }
        WorkspaceError::HeadDestroyed { kept: Some(kept), .. } => {
            format!(
                "`{}` in the repository brings its work back",
                taking_up("my-branch", kept)
            )
        }
        WorkspaceError::HeadDestroyed { .. } => {
            "`git branch --list 'everruns/*'` shows the branches that are kept".to_owned()
        }
        WorkspaceError::HeadUnavailable { .. } => {
            "nothing was changed; its branch and checkpoints are in the repository: \
             `git for-each-ref refs/heads/everruns refs/everruns`"
                .to_owned()
        }
        WorkspaceError::HeadClaimed { head, session } => format!(
            "go on with that session: `everruns resume {session}`; or take its files into another head: \
             `everruns head fork {head} NAME`"
        ),
        WorkspaceError::HeadNotFound { .. } => {
            "`everruns head list` shows the heads of a repository".to_owned()
        }
        WorkspaceError::BranchInUse { .. } => {
            "commit or stash the changes there, and try again; nothing was changed".to_owned()
        }
        WorkspaceError::BranchDiverged { branch } => format!(
            "`everruns head update` brings {branch} into the head; or merge without `--ff-only`"
        ),
        WorkspaceError::UnrelatedHistories { branch } => format!(
            "`git merge --allow-unrelated-histories {branch}` in the head's folder joins them, if that is what you want"
        ),
        WorkspaceError::RevisionIsCheckpoint { head, .. } => format!(
            "`everruns head fork {head} NAME --checkpoint N` makes a head with its state, uncommitted work included; \
             `everruns head checkpoint {head} --list` shows the numbers"
        ),
        WorkspaceError::CheckpointInHistory { commit, .. } => format!(
            "nothing was changed; `--squash` brings the files alone, or make a commit of your own: \
             `git commit-tree -p {commit}^1 -m MESSAGE {commit}^{{tree}}`"
        ),
        WorkspaceError::BranchMoved { .. } => "nothing was changed; try again".to_owned(),
        WorkspaceError::IdentityMissing { .. } => {
            "`git config user.name NAME` and `git config user.email ADDRESS` in the repository, or `--author`".to_owned()
        }
        WorkspaceError::Conflicted { .. } => {
            "resolve the files between their markers in the head's folder, then `git add` and `git commit` there".to_owned()
        }
        WorkspaceError::HeadBusy { .. } => "wait until it ends, or stop it, and try again".to_owned(),
        WorkspaceError::HeadUnfinished { .. } => {
            "make up for the cause, and try again: what was half done is finished or undone first; nothing is lost".to_owned()
        }
        WorkspaceError::NoSpace { .. } => "free some space, and try again".to_owned(),
        _ => return None,
    })
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let failure = Self::of(&error);
        match store_hint(&error) {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

fn store_hint(error: &StoreError) -> Option<String> {
    Some(match error {
        StoreError::NewerSchema { .. } => {
            "nothing was changed; use the newer `everruns`".to_owned()
        }
        StoreError::CorruptDatabase { .. } => {
            "the heads and their branches are in your repositories, untouched; `everruns restore-backup FILE --replace` \
             takes the sessions of a backup and keeps this file; without one, move it away with those beside it whose \
             names begin alike"
                .to_owned()
        }
        StoreError::ReadOnly { .. } => "make the state folder writable".to_owned(),
        StoreError::InUse { .. } => {
            "wait until every `everruns` has ended, and try again".to_owned()
        }
        StoreError::Busy { .. } | StoreError::Unavailable { .. } => "try again in a moment".to_owned(),
        StoreError::NotFound { .. } => "`everruns session list` shows what there is".to_owned(),
        StoreError::LeaseHeld { expires_at, .. } => format!(
            "end the other process and try again; where it was killed, after {}",
            times::shown(*expires_at)
        ),
        _ => return None,
    })
}

impl From<DeleteError> for Failure {
    fn from(error: DeleteError) -> Self {
        match error {
            DeleteError::Store(error) => error.into(),
            other => Self::of(&other),
        }
    }
}

impl From<ImportError> for Failure {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::Store(error) => error.into(),
            other => Self::of(&other).hint(
                "nothing was recorded; `everruns session export` writes what can be imported",
            ),
        }
    }
}

/// An error of opening the state folder, which is what the user can choose another of.
pub(crate) fn of_state(failure: Failure, folder: &Path) -> Failure {
    failure.hint(format!(
        "the state folder is {}; another is chosen with `--state DIR` or EVERRUNS_STATE",
        folder.display()
    ))
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Workspace(error) => error.into(),
            SessionError::Store(error) => error.into(),
            SessionError::Environment(
                SessionEnvironmentError::HeadBound { ref session, .. }
                | SessionEnvironmentError::HeadClaimed { ref session, .. },
            ) => {
                let hint =
                    format!("`everruns resume {session}` goes on with the session that has it");
                Self::of(&error).hint(hint)
            }
            other => Self::of(&other),
        }
    }
}

impl From<ResumeError> for Failure {
    fn from(error: ResumeError) -> Self {
        let failure = Self::of(&error);
        match error {
            ResumeError::Store(error) => error.into(),
            ResumeError::Session(error) => error.into(),
            ResumeError::HeadUnavailable { session, source } => {
                let failure = failure.hint(format!(
                    "the conversation is kept: `everruns session show {session}` prints it"
                ));
                match workspace_hint(&source) {
                    Some(hint) => failure.hint(hint),
                    None => failure,
                }
            }
            ResumeError::WorkspaceProviderUnavailable { .. } => failure.hint(
                "this command resumes sessions on Git heads; this one was made by another program",
            ),
            ResumeError::SessionBusy { .. } => {
                failure.hint("end the other process, or wait, and try again")
            }
            ResumeError::NotBound { .. } => failure.hint("`everruns run` starts another"),
            _ => failure,
        }
    }
}

/// `text` as one word of a shell.
pub(crate) fn quoted(text: &str) -> String {
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':' | '@');
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// The command of plain Git that makes the branch `name` of what is kept as `kept`, a branch or a checkpoint. One commit is
/// made of a checkpoint: its own commits are for nobody's history.
pub(crate) fn taking_up(name: &str, kept: &str) -> String {
    let shown = quoted(kept);
    if kept.starts_with("refs/everruns/") {
        format!(
            "git branch {name} $(git commit-tree -p {shown}^ -m 'Work of a head' {shown}^{{tree}})"
        )
    } else {
        format!("git switch --create {name} {shown}")
    }
}
