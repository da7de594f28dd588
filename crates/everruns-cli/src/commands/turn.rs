//! One turn of a session: shown as it happens, and what it changed at the end.

use everruns::session::TurnOutcome;
use everruns::{Session, Turn, WorkspaceHead};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::UnboundedSender;

use super::head::diff_stat;
use crate::failure::Failure;
use crate::output::{Output, line, note};
use crate::progress::{self, Progress};
use crate::state::StateFolder;

/// The exit code of a program that Ctrl-C ended, as shells have it.
const LEFT_AT_ONCE: i32 = 130;

const STOPPING: &str = "stopping; press Ctrl-C again to leave at once";

/// What a turn needs: where it happens, and where to say so.
pub(crate) struct Place<'a> {
    pub(crate) state: &'a StateFolder,
    pub(crate) session: &'a Session,
    pub(crate) head: &'a WorkspaceHead,
    /// The repository's folder.
    pub(crate) locator: &'a str,
}

impl Place<'_> {
    /// How to see what was changed.
    fn see(&self) -> String {
        self.state
            .command(&["head", "diff", self.head.name()], Some(self.locator))
    }

    /// How to go on.
    fn go_on(&self) -> String {
        let id = self.session.session_id();
        self.state.command(&["resume", id.as_str()], None)
    }

    /// An error that tells how to go on.
    fn kept(&self, failure: Failure) -> Failure {
        failure.hint(format!(
            "everything up to here is kept; `{}` goes on",
            self.go_on()
        ))
    }
}

/// Runs one turn and shows it.
pub(crate) async fn take(output: Output, place: &Place<'_>, message: &str) -> Result<(), Failure> {
    let updates = place.session.updates();
    let progress = (!output.json).then(|| Progress::start(updates));
    let pending = match place.session.send(message).await {
        Ok(pending) => pending,
        Err(error) => return Err(place.kept(error.into())),
    };
    // Until the process ends: from its first signal on, nothing else heeds signals.
    tokio::spawn(stop_on_signal(
        place.session.clone(),
        progress.as_ref().map(Progress::notices),
    ));
    let ended = pending.wait().await;
    if let Some(progress) = progress {
        progress.finish(ended.is_ok()).await;
    }
    let turn = ended.map_err(|error| place.kept(error.into()))?;
    let diff = place.head.diff().await?;
    place.session.close().await;
    if output.json {
        let result = json!({
            "session": place.session.session_id(),
            "head": place.head.descriptor(),
            "turn": turn_json(&turn),
            "diff": diff,
        });
        output.show(&result, String::new)?;
    } else {
        line(&diff_stat(&diff))?;
        if diff.changed {
            line(&format!("see it      {}", place.see()))?;
        }
        if turn.success {
            line(&format!("go on       {} \"…\"", place.go_on()))?;
        }
    }
    outcome(&turn).map_err(|failure| place.kept(failure))
}

/// Cancels the turn at the first signal to stop, and leaves at the second.
async fn stop_on_signal(session: Session, notices: Option<UnboundedSender<String>>) {
    if !told_to_stop().await {
        return;
    }
    if let Some(notices) = notices
        && let Err(unshown) = notices.send(STOPPING.to_owned())
    {
        // The turn has ended, and with it the progress; what follows it goes on.
        note(&unshown.0);
    }
    session.cancel().await;
    if told_to_stop().await {
        leave();
    }
}

/// Waits for Ctrl-C or SIGTERM; `false` when neither can be waited for.
async fn told_to_stop() -> bool {
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        return tokio::signal::ctrl_c().await.is_ok();
    };
    tokio::select! {
        pressed = tokio::signal::ctrl_c() => pressed.is_ok(),
        sent = terminate.recv() => sent.is_some(),
    }
}

#[expect(
    clippy::exit,
    reason = "the user asked twice; what is recorded is recorded, as when the process is killed"
)]
fn leave() {
    progress::reset_terminal();
    std::process::exit(LEFT_AT_ONCE);
}

fn turn_json(turn: &Turn) -> serde_json::Value {
    json!({
        "number": turn.number,
        "success": turn.success,
        "outcome": turn.outcome,
        "response": turn.response,
        "iterations": turn.iterations,
        "tool_calls": turn.tool_calls,
        "usage": turn.usage,
    })
}

/// A turn that did not complete is a failure of the command; what it changed is kept all the same.
fn outcome(turn: &Turn) -> Result<(), Failure> {
    if turn.success {
        return Ok(());
    }
    Err(match &turn.outcome {
        TurnOutcome::Completed => Failure::new("the model was cut off before it had said all"),
        TurnOutcome::LimitReached => Failure::new("the turn reached its limit of model requests"),
        TurnOutcome::Cancelled => Failure::new("the turn was cancelled"),
        TurnOutcome::Failed { reason } => Failure::new(format!("the turn failed: {reason}")),
        _ => Failure::new("the turn was interrupted"),
    })
}
