//! Opening a repository's workspace and finding one of its heads.

use std::path::Path;
use std::sync::Arc;

use everruns::{
    LocalGitWorkspace, Workspace, WorkspaceBackend, WorkspaceError, WorkspaceHead,
    WorkspaceHeadDescriptor, WorkspaceHeadState,
};

use crate::args::HeadRef;
use crate::blocking::blocking;
use crate::failure::Failure;
use crate::hints::of_state;
use crate::output::shown;
use crate::state::StateFolder;

/// How much of a head's id must be given, so that nobody means a head by accident.
const SHORTEST_ID: usize = 4;

/// The Git backend over the state folder.
pub(crate) async fn git(state: &StateFolder) -> Result<Arc<LocalGitWorkspace>, Failure> {
    git_that(state, true).await
}

/// The Git backend over the state folder as it is: what a crash left is neither finished nor removed.
pub(crate) async fn git_as_it_is(state: &StateFolder) -> Result<Arc<LocalGitWorkspace>, Failure> {
    git_that(state, false).await
}

async fn git_that(state: &StateFolder, recovers: bool) -> Result<Arc<LocalGitWorkspace>, Failure> {
    let (folder, given) = (state.git(), state.path().to_owned());
    blocking(move || {
        let builder = LocalGitWorkspace::builder(folder).recover_at_open(recovers);
        match builder.build() {
            Ok(backend) => Ok(Arc::new(backend)),
            Err(error) => Err(of_state(error.into(), &given)),
        }
    })
    .await
}

/// The Git backend as any backend.
pub(crate) async fn backend(state: &StateFolder) -> Result<Arc<dyn WorkspaceBackend>, Failure> {
    Ok(git(state).await?)
}

/// The workspace of the repository that `repo` lies in.
pub(crate) async fn open(state: &StateFolder, repo: &Path) -> Result<Workspace, Failure> {
    open_on(backend(state).await?, state, repo).await
}

async fn open_on(
    backend: Arc<dyn WorkspaceBackend>,
    state: &StateFolder,
    repo: &Path,
) -> Result<Workspace, Failure> {
    let Some(locator) = repo.to_str() else {
        return Err(Failure::new(format!("{} is not Unicode", repo.display()))
            .hint("reach the repository through another path, such as a link with a plain name"));
    };
    let opened = Workspace::open(backend, locator).await;
    opened.map_err(|error| match error {
        WorkspaceError::InvalidState { .. } => of_state(error.into(), state.path()),
        other => other.into(),
    })
}

/// The head that the user means: by name, by id, or by the beginning of its id.
pub(crate) async fn find(
    workspace: &Workspace,
    wanted: &str,
) -> Result<WorkspaceHeadDescriptor, Failure> {
    let heads = workspace.heads().await?;
    let alive = |head: &&WorkspaceHeadDescriptor| head.state != WorkspaceHeadState::Destroyed;
    let exact = heads
        .iter()
        .find(|head| head.id.as_str() == wanted)
        .or_else(|| {
            heads
                .iter()
                .filter(alive)
                .find(|head| head.name.as_str() == wanted)
        });
    if let Some(head) = exact {
        return Ok(head.clone());
    }
    let beginning = wanted.strip_prefix("head_").unwrap_or(wanted);
    let begins = |head: &&WorkspaceHeadDescriptor| {
        let rest = head.id.as_str().strip_prefix("head_");
        beginning.len() >= SHORTEST_ID && rest.is_some_and(|rest| rest.starts_with(beginning))
    };
    let mut matching = heads.iter().filter(begins);
    match (matching.next(), matching.next()) {
        (Some(head), None) => Ok(head.clone()),
        (Some(_), Some(_)) => Err(Failure::new(format!(
            "more than one head's id begins with `{}`",
            shown(wanted)
        ))
        .hint("give more of the id; `everruns head list` shows them")),
        _ => {
            let destroyed = heads.iter().rev().find(|head| head.name.as_str() == wanted);
            let failure = Failure::new(format!(
                "{} has no head `{}`",
                workspace.name(),
                shown(wanted)
            ));
            Err(match destroyed {
                Some(head) => failure
                    .hint(format!(
                        "a head of that name was destroyed ({}); its branch {} is kept",
                        head.id,
                        head.branch.as_deref().unwrap_or("(none)")
                    ))
                    .hint("`everruns head list --all` shows destroyed heads, too"),
                None => failure.hint(
                    "`everruns head list` shows what there is; a head is meant by its name, its id, or the \
                     beginning of its id, of 4 characters at least",
                ),
            })
        }
    }
}

/// Opens the workspace and the head that the user means.
pub(crate) async fn open_head(
    state: &StateFolder,
    which: &HeadRef,
) -> Result<(Workspace, WorkspaceHead), Failure> {
    open_head_on(backend(state).await?, state, which).await
}

/// As [`open_head`], on a backend that its caller has a use for.
pub(crate) async fn open_head_on(
    backend: Arc<dyn WorkspaceBackend>,
    state: &StateFolder,
    which: &HeadRef,
) -> Result<(Workspace, WorkspaceHead), Failure> {
    let workspace = open_on(backend, state, &which.repo).await?;
    let found = find(&workspace, &which.head).await?;
    let head = workspace.open_head(&found.id).await?;
    Ok((workspace, head))
}
