//! `everruns session delete`

use std::fmt::Write as _;
use std::sync::Arc;

use everruns::session::SessionRecord;
use everruns::{WorkspaceBackend, WorkspaceHeadDescriptor, WorkspaceHeadState};
use serde_json::json;

use super::find::find;
use super::text::title;
use crate::agents::caretaker;
use crate::args::DeleteArgs;
use crate::confirm::confirm;
use crate::failure::Failure;
use crate::output::{Output, shown};
use crate::repository;
use crate::sessions::Sessions;
use crate::state::StateFolder;

pub(super) async fn run(
    state: &StateFolder,
    sessions: &Sessions,
    output: Output,
    args: DeleteArgs,
) -> Result<(), Failure> {
    let record = find(sessions, &args.session).await?;
    let backend = repository::backend(state).await?;
    let head = head_of(&backend, &record).await;
    let what = format!(
        "session {} ({}), with its {} events, is to be deleted for good; {}",
        record.id,
        title(&record),
        record.last_sequence,
        staying(&record, head.as_ref())
    );
    confirm(args.yes, &what, "delete it?").await?;
    if record.binding.is_some() {
        // So that the head is free for another session.
        sessions.attach(record.id.clone(), caretaker(&record, Arc::clone(&backend))?);
    }
    sessions
        .delete_session(&record.id, record.id.as_str())
        .await?;
    let result = json!({"deleted": record.id, "events": record.last_sequence, "head": head});
    output.show(&result, || {
        let mut text = format!(
            "deleted session {} with its {} events\n  {}\n",
            record.id,
            record.last_sequence,
            staying(&record, head.as_ref())
        );
        if let Some(branch) = head.as_ref().and_then(|head| head.branch.as_ref()) {
            let _ = writeln!(text, "  its branch is {}", shown(branch));
        }
        text
    })
}

/// What is known of a session's head, whatever has become of it.
async fn head_of(
    backend: &Arc<dyn WorkspaceBackend>,
    record: &SessionRecord,
) -> Option<WorkspaceHeadDescriptor> {
    let binding = record.binding.as_ref()?;
    let heads = backend.heads(&binding.workspace_id).await.ok()?;
    heads.into_iter().find(|head| head.id == binding.head_id)
}

fn staying(record: &SessionRecord, head: Option<&WorkspaceHeadDescriptor>) -> String {
    match (&record.binding, head) {
        (None, _) => "it has no head".to_owned(),
        (Some(binding), None) => format!("its head {} is not known here", binding.head_id),
        (Some(_), Some(head)) if head.state == WorkspaceHeadState::Destroyed => format!(
            "its head {} ({}) was destroyed before",
            shown(head.name.as_str()),
            head.id
        ),
        (Some(_), Some(head)) => format!(
            "its head {} ({}) stays, with everything in it",
            shown(head.name.as_str()),
            head.id
        ),
    }
}
