use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use everruns_core::failpoint;
use everruns_core::model::{ModelRequest, ToolCall};
use everruns_core::session::{EventPayload, TurnOutcome};
use futures::FutureExt as _;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::answer::Answer;
use super::ask::{Asked, ask};
use super::calls::{self, Ended};
use super::prompt;
use crate::session::{
    Active, Journal, RunningTurn, SessionCore, SessionError, Turn, TurnReport, keep, lease,
};
use crate::tool_api::ToolContext;

/// Runs a turn that has begun to its end, and tells those who wait.
pub(crate) async fn run(
    core: Arc<SessionCore>,
    active: Arc<Active>,
    running: RunningTurn,
    report: watch::Sender<TurnReport>,
) {
    let runner = Runner {
        journal: Arc::clone(&core.journal),
        context: ToolContext::new(
            core.id.clone(),
            active.environment.clone(),
            Arc::clone(&active.files),
            Arc::clone(&active.seen),
            running.cancellation.clone(),
        ),
        active,
        changed: AtomicBool::new(false),
        number: running.number,
        cancellation: running.cancellation.clone(),
    };
    let ended = stopped_when_lapsed(&runner).await;
    let outcome = match ended {
        Ok(outcome) => outcome,
        // The panic's own message has gone to the panic hook; the turn is repaired before the next one.
        Err(_) => Err(SessionError::Stopped),
    };
    if let Err(error) = &outcome {
        tracing::warn!(session = %core.id, %error, "the turn was broken off");
    }
    core.journal.leave(running.number).await;
    // Who hears of the end may delete the session at once, which nothing has open any more by then.
    drop(core);
    report.send_replace(Some(outcome.map_err(Arc::new)));
}

/// Runs the turn, which is cancelled when its lease may be somebody else's.
async fn stopped_when_lapsed(runner: &Runner) -> std::thread::Result<Result<Turn, SessionError>> {
    let mut turn = pin!(AssertUnwindSafe(runner.turn()).catch_unwind());
    tokio::select! {
        ended = &mut turn => return ended,
        () = lease::lapse(&runner.journal) => runner.cancellation.cancel(),
    }
    turn.await
}

struct Runner {
    journal: Arc<Journal>,
    active: Arc<Active>,
    context: ToolContext,
    /// Whether a tool was called that may change files.
    changed: AtomicBool,
    number: u64,
    cancellation: CancellationToken,
}

impl Runner {
    async fn turn(&self) -> Result<Turn, SessionError> {
        let mut turn = Turn::begun(self.number);
        self.journal
            .complete(&mut *self.journal.lock().await)
            .await?;
        while turn.iterations < self.active.agent.parts().max_iterations {
            turn.iterations += 1;
            let answer = match self.ask().await {
                Asked::Answered(answer) => {
                    let state = self.journal.lock().await;
                    let before = state.conversation.call_ids();
                    answer.with_distinct_ids(before, self.number, turn.iterations)
                }
                Asked::Cancelled(text) => return self.cancelled_while_asking(turn, text).await,
                Asked::Failed(error) => {
                    let reason = error.to_string();
                    turn.error = Some(Arc::new(error));
                    return self
                        .end(turn, Vec::new(), TurnOutcome::Failed { reason })
                        .await;
                }
            };
            turn.usage += answer.usage;
            turn.stop = Some(answer.stop);
            if !answer.text.is_empty() {
                turn.response.clone_from(&answer.text);
            }
            let calls = answer.tool_calls.clone();
            if self.record(answer).await? {
                return Ok(turn.end(TurnOutcome::Completed));
            }
            turn.tool_calls += u32::try_from(calls.len()).unwrap_or(u32::MAX);
            if self.make_calls(calls).await? {
                return Ok(turn.end(TurnOutcome::Cancelled));
            }
        }
        self.end(turn, Vec::new(), TurnOutcome::LimitReached).await
    }

    async fn ask(&self) -> Asked {
        ask(
            &self.journal,
            self.active.agent.parts().provider.as_ref(),
            || self.request(),
            self.number,
            &self.cancellation,
        )
        .await
    }

    async fn request(&self) -> ModelRequest {
        let parts = self.active.agent.parts();
        ModelRequest {
            model: parts.model.clone(),
            instructions: prompt::instructions(&self.active.agent),
            messages: self.journal.lock().await.conversation.messages().clone(),
            tools: parts.tools.specs(),
        }
    }

    /// Records an answer before any of its calls is made. `true` when it ends the turn: it calls nothing, and the
    /// user has said nothing meanwhile.
    async fn record(&self, answer: Answer) -> Result<bool, SessionError> {
        // What calls find is on record before they are made: should the process end in one of them, nobody could tell
        // any more how the files were before.
        let kept = if answer.tool_calls.is_empty() {
            self.keep().await
        } else {
            self.before_change(&answer.tool_calls).await
        };
        let mut state = self.journal.lock().await;
        let ends = answer.tool_calls.is_empty() && !state.conversation.has_steering();
        let mut events = vec![self.message(answer)];
        events.extend(kept);
        if ends {
            failpoint::hit("engine.turn.before-end")?;
            events.push(self.ended(TurnOutcome::Completed));
        }
        self.journal.append(&mut state, events).await?;
        if !ends {
            failpoint::hit("engine.turn.after-assistant-message")?;
        }
        Ok(ends)
    }

    /// Makes the calls group by group, and records the results of each before the next begins. `true` when the turn
    /// was cancelled and is recorded so.
    async fn make_calls(&self, calls: Vec<ToolCall>) -> Result<bool, SessionError> {
        let tools = &self.active.agent.parts().tools;
        let mut waiting = calls::groups(tools, calls).into_iter();
        while let Some(group) = waiting.next() {
            let made = if self.cancellation.is_cancelled() {
                let unmade = group.into_iter();
                unmade.map(|call| Ended::cancelled(call, false)).collect()
            } else {
                calls::make(&self.journal, tools, &self.context, self.number, group).await
            };
            failpoint::hit("engine.turn.after-tool-before-result")?;
            let mut events: Vec<_> = self.results(made);
            let cancelled = self.cancellation.is_cancelled();
            if cancelled {
                let unmade = waiting.by_ref().flatten();
                events.extend(self.results(unmade.map(|call| Ended::cancelled(call, false))));
                events.extend(self.keep().await);
                events.push(self.ended(TurnOutcome::Cancelled));
            }
            let mut state = self.journal.lock().await;
            self.journal.append(&mut state, events).await?;
            failpoint::hit("engine.turn.after-result")?;
            if cancelled {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn cancelled_while_asking(
        &self,
        mut turn: Turn,
        text: String,
    ) -> Result<Turn, SessionError> {
        let mut events = Vec::new();
        if !text.is_empty() {
            turn.response.clone_from(&text);
            events.push(self.message(Answer::cut(text)));
        }
        self.end(turn, events, TurnOutcome::Cancelled).await
    }

    async fn end(
        &self,
        turn: Turn,
        mut events: Vec<EventPayload>,
        outcome: TurnOutcome,
    ) -> Result<Turn, SessionError> {
        events.extend(self.keep().await);
        let mut state = self.journal.lock().await;
        failpoint::hit("engine.turn.before-end")?;
        events.push(self.ended(outcome.clone()));
        self.journal.append(&mut state, events).await?;
        Ok(turn.end(outcome))
    }

    /// What to record of the files before calls that may change them.
    async fn before_change(&self, calls: &[ToolCall]) -> Option<EventPayload> {
        let agent = &self.active.agent;
        let tools = &agent.parts().tools;
        if calls.iter().all(|call| tools.only_reads(&call.name)) {
            return None;
        }
        self.changed.store(true, Ordering::Relaxed);
        let known = self.journal.lock().await.conversation.files().clone();
        let head = self.active.environment.workspace_head();
        let own = &self.active.own_changes;
        let kept = keep::before_first_change(agent, head, own, &known, self.number).await;
        // After what comes before it is kept.
        if !calls
            .iter()
            .all(|call| tools.is_confined_to_files(&call.name))
        {
            own.anywhere();
        }
        kept
    }

    /// What to record of the files at the end of the turn. Without the lock: it may take a while.
    async fn keep(&self) -> Option<EventPayload> {
        let known = self.journal.lock().await.conversation.files().clone();
        let changed = self.changed.load(Ordering::Relaxed);
        let head = self.active.environment.workspace_head();
        keep::at_end(
            &self.active.agent,
            head,
            &self.active.own_changes,
            &known,
            self.number,
            changed,
        )
        .await
    }

    fn message(&self, answer: Answer) -> EventPayload {
        EventPayload::AssistantMessage {
            turn: self.number,
            text: answer.text,
            tool_calls: answer.tool_calls,
            stop: answer.stop,
            usage: answer.usage,
        }
    }

    fn ended(&self, outcome: TurnOutcome) -> EventPayload {
        EventPayload::TurnEnded {
            turn: self.number,
            outcome,
        }
    }

    fn results(&self, ended: impl IntoIterator<Item = Ended>) -> Vec<EventPayload> {
        ended
            .into_iter()
            .map(|ended| ended.into_event(self.number))
            .collect()
    }
}
