//! A session in a process of its own, killed in the middle of a turn, and resumed on exactly its head.

use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use everruns::session::{EventPayload, ToolOutcome, TurnOutcome};
use everruns::{Engine, SessionId, SessionUpdate, WorkspaceHeadId};
use futures::StreamExt as _;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::timeout;

use super::say::{must, said, step};
use super::{agents, heads};
use crate::args::DemoChildArgs;
use crate::commands::head::diff_stat;
use crate::failure::Failure;
use crate::output::line;
use crate::repository;
use crate::state::StateFolder;

/// How long the child may take to come to the middle of its turn.
const PATIENCE: Duration = Duration::from_mins(1);

/// The child: starts a session, says who it is, and works until it is killed.
pub(crate) async fn child(state: &StateFolder, args: DemoChildArgs) -> Result<(), Failure> {
    let workspace = repository::open(state, &args.repo).await?;
    let head = workspace
        .head("write a plan")
        .from_revision("main")
        .create()
        .await?;
    let agent = agents::agent(agents::doomed(), Arc::clone(workspace.backend()))?;
    let engine = Engine::local(state.path()).await?;
    let session = engine.create(agent).workspace(head.clone()).start().await?;
    line(&format!("session {}", session.session_id()))?;
    line(&format!("head {}", head.id()))?;
    let mut updates = session.updates();
    let turn = session.send("Write a plan.").await?;
    while let Some(update) = updates.next().await {
        let SessionUpdate::Event(event) = update else {
            continue;
        };
        if matches!(event.payload, EventPayload::ToolResult { .. }) {
            line("written")?;
            break;
        }
    }
    turn.wait().await?;
    Ok(())
}

pub(super) async fn survive(state: &StateFolder, project: &Path) -> Result<(), Failure> {
    step("an agent in a process of its own, killed in the middle of its turn")?;
    let (session_id, head_id) = kill_a_child(state, project).await?;

    step("the same session, resumed here")?;
    let engine = Engine::local(state.path()).await?;
    let agent = agents::agent(agents::successor(), repository::backend(state).await?)?;
    engine.attach(session_id.clone(), agent);
    let session = engine.resume(&session_id).await?;
    let head = session
        .workspace_head()
        .ok_or_else(|| Failure::new("it came back without its head"))?;
    must(head.id() == &head_id, "it is on exactly the head it had")?;
    let folder = heads::folder(&head)?;
    let plan = std::fs::read(folder.join("docs/plan.md")).map_err(|error| {
        Failure::new(format!(
            "what it wrote before the kill is not there: {error}"
        ))
    })?;
    said(&format!(
        "session {session_id} is on head {head_id} again, with the {} bytes it had written",
        plan.len()
    ))?;

    let mut interrupted = None;
    let mut unknown = 0;
    let mut events = session.events(everruns::session::Sequence::START);
    let last = session.inspect().await?.record.last_sequence;
    while let Some(event) = events.next().await {
        let event = event?;
        match event.payload {
            EventPayload::TurnEnded {
                turn,
                outcome: TurnOutcome::Interrupted,
            } => interrupted = Some(turn),
            EventPayload::ToolResult {
                outcome: ToolOutcome::Unknown,
                ..
            } => unknown += 1,
            _ => {}
        }
        if event.sequence >= last {
            break;
        }
    }
    let turn = interrupted
        .ok_or_else(|| Failure::new("the record does not say that the turn was interrupted"))?;
    said(&format!(
        "its record says that turn {turn} was interrupted; tool calls of unknown outcome: {unknown}"
    ))?;

    let turn = session.send_and_wait("Go on.").await?;
    session.close().await;
    must(turn.success, "the resumed session finished its turn")?;
    said(&format!("it goes on: {}", turn.response))?;
    said(&diff_stat(&head.diff().await?))
}

async fn kill_a_child(
    state: &StateFolder,
    project: &Path,
) -> Result<(SessionId, WorkspaceHeadId), Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::new(format!("this program's own file is not known: {error}")))?;
    let mut child = Command::new(program)
        .arg("--state")
        .arg(state.path())
        .arg("demo-child")
        .arg("--repo")
        .arg(project)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| Failure::new(format!("the child process cannot be started: {error}")))?;
    let identity = timeout(PATIENCE, read_until_written(&mut child)).await;
    let identity = identity
        .map_err(|_| Failure::new("the child did not come to the middle of its turn"))??;
    child
        .kill()
        .await
        .map_err(|error| Failure::new(format!("the child cannot be killed: {error}")))?;
    let status = child
        .wait()
        .await
        .map_err(|error| Failure::new(format!("the child is lost: {error}")))?;
    must(!status.success(), "the child did not end by itself")?;
    said(&format!(
        "its model was thinking after its first tool call when it ended: {}",
        ended(status)
    ))?;
    Ok(identity)
}

async fn read_until_written(child: &mut Child) -> Result<(SessionId, WorkspaceHeadId), Failure> {
    let stdout = child
        .stdout
        .take()
        .ok_or_else(|| Failure::new("the child has no output"))?;
    let mut lines = BufReader::new(stdout).lines();
    let session = expect(&mut lines, "session ").await?;
    let head = expect(&mut lines, "head ").await?;
    expect(&mut lines, "written").await?;
    let session = SessionId::new(session).map_err(|error| Failure::of(&error))?;
    let head = WorkspaceHeadId::new(head).map_err(|error| Failure::of(&error))?;
    Ok((session, head))
}

async fn expect(lines: &mut Lines<BufReader<ChildStdout>>, start: &str) -> Result<String, Failure> {
    let next = lines
        .next_line()
        .await
        .map_err(|error| Failure::new(format!("the child cannot be read: {error}")))?;
    let line =
        next.ok_or_else(|| Failure::new("the child ended too early; what it said is above"))?;
    line.strip_prefix(start)
        .map(str::to_owned)
        .ok_or_else(|| Failure::new(format!("the child said `{line}` instead of `{start}…`")))
}

#[cfg(unix)]
fn ended(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match status.signal() {
        Some(signal) => format!("killed by signal {signal}"),
        None => status.to_string(),
    }
}

#[cfg(not(unix))]
fn ended(status: ExitStatus) -> String {
    status.to_string()
}
