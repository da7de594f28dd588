//! Sessions on Git heads: what one that has read files keeps in memory once it is idle.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use everruns::model::{
    Message, ModelError, ModelErrorKind, ModelEvent, ModelProvider, ModelRequest, ModelStream,
    StopReason, ToolCall, Usage,
};
use everruns::{Agent, Engine, LocalGitWorkspace, Workspace, WorkspacePolicy};
use futures::{StreamExt as _, stream};
use serde_json::json;

use super::alone::{self, Idle, Kept};
use super::{IDLE_LIMIT, resident, turns};
use crate::git::{self, Project};
use crate::table::Table;

/// Sessions, and how many of them come first, to fill what the process keeps for itself.
const HANDLES: usize = 600;
const FIRST: usize = 300;
/// The files of the repository, and those of them that each session reads.
const FILES: usize = 1_000;
const READ: usize = 50;
/// How many of them it reads at once. Were it all, what is measured would be the memory of the threads that read.
const AT_ONCE: usize = 5;

pub(super) fn measure(table: &mut Table, scratch: &Path, records: &str) -> anyhow::Result<()> {
    let kept = alone::kept(Idle::GitHeads, scratch)?;
    let name = format!("one of {HANDLES} idle handles on Git heads of {FILES} files, {READ} read");
    table.figure_within(
        format!("memory of {name}, {records}"),
        format!("{} KiB", kept.kib),
        &format!("< {IDLE_LIMIT} KiB"),
        kept.kib < IDLE_LIMIT,
    );
    table.note(
        format!("files that each of them keeps open, {records}"),
        kept.open_files.to_string(),
    );
    Ok(())
}

/// What one of the handles keeps, in this process.
pub(super) async fn kept(scratch: &Path) -> anyhow::Result<Kept> {
    let project = Project::generated(&scratch.join("project-on-git"), FILES)?;
    let backend = Arc::new(LocalGitWorkspace::new(scratch.join("state-on-git"))?);
    let workspace = Workspace::open(backend, project.folder.to_string_lossy()).await?;
    let engine = Engine::local(scratch.join("on-git")).await?;
    let agent = Agent::builder()
        .instructions("Work.")
        .provider(Reader)
        .model("reader")
        .workspace_policy(WorkspacePolicy::read_write())
        .build()?;
    let mut kept = Vec::with_capacity(HANDLES);
    let mut before = (0, 0);
    for number in 0..HANDLES {
        if number == FIRST {
            before = (resident()?, open_files()?);
        }
        let head = workspace.head(format!("idle {number}")).create().await?;
        let session = engine.create(agent.clone()).workspace(head).start().await?;
        turns(&session, 2).await?;
        session.close().await;
        kept.push(session);
    }
    let counted = (HANDLES - FIRST) as u64;
    Ok(Kept {
        kib: resident()?.saturating_sub(before.0) / counted,
        open_files: open_files()?.saturating_sub(before.1) / counted,
    })
}

/// How many descriptors this process has open.
fn open_files() -> anyhow::Result<u64> {
    Ok(std::fs::read_dir("/proc/self/fd")?.count() as u64)
}

/// Reads all the files in each of its turns, and then says that it is done.
#[derive(Clone, Debug)]
struct Reader;

#[async_trait]
impl ModelProvider for Reader {
    fn name(&self) -> &'static str {
        "reader"
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let usage = Usage::default();
        let failed =
            |message: &Message| matches!(message, Message::ToolResult { is_error: true, .. });
        if request.messages.iter().any(failed) {
            let kind = ModelErrorKind::InvalidRequest;
            return Err(ModelError::new(kind, "a file could not be read"));
        }
        let results = request.messages.iter().rev();
        let read = results
            .take_while(|message| !matches!(message, Message::User { .. }))
            .filter(|message| matches!(message, Message::ToolResult { .. }))
            .count();
        let mut events = Vec::new();
        let stop = if read == READ {
            events.push(Ok(ModelEvent::TextDelta("Done.".into())));
            StopReason::EndTurn
        } else {
            let said = request.messages.len();
            events.extend((read..READ).take(AT_ONCE).map(|number| {
                let path = git::path(number * (FILES / READ));
                Ok(ModelEvent::ToolCall(ToolCall {
                    id: format!("call-{said}-{number}"),
                    name: "read_file".into(),
                    arguments: json!({ "path": path }),
                }))
            }));
            StopReason::ToolCalls
        };
        events.push(Ok(ModelEvent::End { stop, usage }));
        Ok(stream::iter(events).boxed())
    }
}
