//! A second process that wants the same session while the first one executes it.

use std::time::{Duration, Instant};

use everruns::{ResumeError, Session, SessionError, SessionId, WorkspaceError};

use super::work::tell_events;
use super::{Orders, Seen};
use crate::place::agent;
use crate::script::short;

/// The first one is killed or has finished long before.
const PATIENCE: Duration = Duration::from_secs(90);

/// Waits until the session can be had, has a turn in it, and gives it back.
pub(super) async fn wait_for_turn(orders: &Orders, session: &str) -> anyhow::Result<()> {
    let id = SessionId::new(session)?;
    let session = take(orders, &id).await?;
    let events = tokio::spawn(tell_events(session.clone()));
    let text = format!("the rival of {}", orders.seed);
    let pending = session.send(text.clone()).await?;
    Seen::Sent { text }.tell()?;
    let turn = pending.wait().await?;
    let (number, success) = (turn.number, turn.success);
    anyhow::ensure!(success, "the rival's turn fails: {turn:?}");
    Seen::Rival { number }.tell()?;
    session.close().await;
    events.abort();
    Ok(())
}

async fn take(orders: &Orders, id: &SessionId) -> anyhow::Result<Session> {
    let place = orders.place();
    let began = Instant::now();
    loop {
        // As often as it is asked for, what another process is at work on is looked at, and must not be touched.
        let engine = place.engine().await?;
        engine.attach(id, agent(place.backend()?, short())?);
        match engine.resume(id).await {
            Ok(session) => return Ok(session),
            Err(ResumeError::SessionBusy { .. }) if began.elapsed() < PATIENCE => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Whether a process was stopped by one that has taken its session over, as it is to be.
pub(super) fn is_outdone(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref(),
        Some(
            SessionError::Busy { .. }
                | SessionError::TakenOver { .. }
                | SessionError::Workspace(WorkspaceError::HeadBusy { .. })
        )
    )
}
