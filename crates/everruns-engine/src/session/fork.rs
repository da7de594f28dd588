use std::sync::Arc;

use everruns_core::environment::Environment;
use everruns_core::failpoint;
use everruns_core::ids::SessionId;
use everruns_core::session::{
    EventPayload, EventQuery, FencingToken, ForkRequest, NewSession, Sequence, SessionEvent,
    StoreError,
};
use everruns_core::workspace::{WorkspaceError, WorkspaceHead, WorkspaceHeadName};

use super::begun::{forked_head, was_made};
use super::conversation::FileState;
use super::intent::Wish;
use super::journal::{Journal, JournalState, PAGE};
use super::{Active, Session, SessionCore, SessionError, between, lease, resume};

/// Makes another session of this one: its first events, and a head with the files of that place.
pub(super) async fn fork(
    core: &Arc<SessionCore>,
    active: Arc<Active>,
    name: String,
    through: Option<Sequence>,
) -> Result<Session, SessionError> {
    let journal = &core.journal;
    let head = active.environment.workspace_head();
    WorkspaceHeadName::new(name.clone()).map_err(SessionError::from_workspace)?;
    let mut state = between::hold(journal, &active).await?;
    let (through, checkpoint) = match through {
        None => (state.known(), None),
        Some(event) => (event, kept_at(&state, &core.id, event)?),
    };
    // Otherwise a recovery might take a head of that name, which is somebody's own, for the one to be made.
    if let Some(other) = named(head, &name).await? {
        let taken = WorkspaceError::NameTaken {
            name,
            head: other.id().clone(),
        };
        return Err(SessionError::from_workspace(taken));
    }
    let wish = Wish {
        session: SessionId::generate(journal.entropy()),
        head: name,
        through,
        checkpoint,
    };
    let begun = EventPayload::ForkBegun {
        session: wish.session.clone(),
        head: wish.head.clone(),
        through,
        checkpoint: wish.checkpoint.clone(),
    };
    journal.append(&mut state, vec![begun]).await?;
    failpoint::hit("engine.fork.after-intent")?;
    let making = head.fork(wish.head.clone());
    match lease::while_renewed(journal, &mut state, making).await {
        Ok(made) => finish(journal, &active, &mut state, &wish, &made).await?,
        Err(error) => return Err(give_up(journal, &mut state, &wish, error).await),
    }
    drop(state);
    core.engine.attach(&wish.session, active.agent.clone());
    core.engine.remember(&wish.session, head.backend());
    let plain = Box::new(|head| Ok(Environment::new(head)));
    resume(&core.engine, wish.session.clone(), plain)
        .await
        .map_err(|source| SessionError::ForkNotResumed {
            session: wish.session,
            source: Box::new(source),
        })
}

fn kept_at(
    state: &JournalState,
    session: &SessionId,
    event: Sequence,
) -> Result<Option<everruns_core::workspace::WorkspaceCheckpoint>, SessionError> {
    let session = session.clone();
    match state.conversation.files_at(event) {
        None => Err(SessionError::NotBetweenTurns { session, event }),
        Some(FileState::Missed) => Err(SessionError::NoCheckpoint { session, event }),
        Some(FileState::Unchanged) => Ok(None),
        Some(FileState::Kept(checkpoint)) => Ok(Some((*checkpoint).clone())),
    }
}

/// After a crash: where the head was made, the session is made, too; otherwise there is nothing of either.
///
/// Where the session was made before, only the record of it was missing: the head has the work of the fork by now, or is what
/// a deletion of the fork has left to the user.
pub(super) async fn recover(
    journal: &Journal,
    active: &Active,
    state: &mut JournalState,
    wish: Wish,
) -> Result<(), SessionError> {
    let made = was_made(journal.store().as_ref(), &wish).await;
    if made.map_err(SessionError::from_store)? {
        return end(journal, state, &wish, true).await;
    }
    let head = active.environment.workspace_head();
    match named(head, &wish.head).await? {
        Some(made) => finish(journal, active, state, &wish, &made).await,
        None => end(journal, state, &wish, false).await,
    }
}

/// The head of this name that was forked from `head`, unless it is archived or destroyed.
async fn named(head: &WorkspaceHead, name: &str) -> Result<Option<WorkspaceHead>, SessionError> {
    let found = forked_head(head.backend(), head.workspace_id(), head.id(), name);
    found.await.map_err(SessionError::from_workspace)
}

/// From the head that was made to the end. Every step can be repeated.
///
/// The claim comes first: from then on nobody else can take the head, which until then is anybody's.
async fn finish(
    journal: &Journal,
    active: &Active,
    state: &mut JournalState,
    wish: &Wish,
    made: &WorkspaceHead,
) -> Result<(), SessionError> {
    failpoint::hit("engine.fork.after-head")?;
    match made.claim(&wish.session).await {
        Ok(()) => {}
        Err(error @ WorkspaceError::HeadClaimed { .. }) => {
            return Err(give_up(journal, state, wish, error).await);
        }
        Err(error) => return Err(SessionError::from_workspace(error)),
    }
    failpoint::hit("engine.fork.after-claim")?;
    if let Some(checkpoint) = &wish.checkpoint
        && let Err(error) = lease::while_renewed(journal, state, made.restore(checkpoint)).await
    {
        return Err(undo(journal, state, wish, made, error).await);
    }
    failpoint::hit("engine.fork.after-files")?;
    let forked = match state.token {
        Some(token) => {
            let request = request(journal, active, wish, made, token);
            journal.store().fork(request).await
        }
        None => Err(StoreError::Fenced {
            session: journal.session.clone(),
            presented: FencingToken(0),
        }),
    };
    match forked {
        Ok(_) | Err(StoreError::AlreadyExists { .. }) => {}
        Err(error @ StoreError::HeadBound { .. }) => {
            release(made, wish).await;
            end(journal, state, wish, false).await?;
            return Err(SessionError::from_store(error));
        }
        Err(error @ StoreError::Fenced { .. }) => {
            taken_over(journal, wish, made).await;
            return Err(SessionError::from_store(error));
        }
        // Not known to have failed: the intent stays, and the next who holds the session finishes it.
        Err(error) => return Err(SessionError::from_store(error)),
    }
    failpoint::hit("engine.fork.after-session")?;
    end(journal, state, wish, true).await
}

/// Another process has this session now. If it found no head of the fork and recorded that nothing came of it, the head that
/// was made meanwhile is nobody's, and holds nothing but copies; otherwise it goes on with that head.
async fn taken_over(journal: &Journal, wish: &Wish, made: &WorkspaceHead) {
    let nothing_came = |event: &SessionEvent| {
        matches!(&event.payload, EventPayload::ForkEnded { session, made: false }
            if *session == wish.session)
    };
    let last = EventQuery::last(PAGE);
    match journal.store().events(&journal.session, last).await {
        Ok(page) if page.events.iter().any(nothing_came) => {
            if let Err(error) = made.destroy().await {
                tracing::warn!(head = %made.id(), %error, "the head of a fork that was not made is left");
                release(made, wish).await;
            }
        }
        Ok(_) => leave_to_user(journal, wish, made).await,
        Err(error) => {
            tracing::warn!(head = %made.id(), %error, "the head of a fork may be left");
        }
    }
}

/// Where the other one has made the session, and it was deleted meanwhile, the claim made here would never end.
async fn leave_to_user(journal: &Journal, wish: &Wish, made: &WorkspaceHead) {
    match journal.store().is_deleted(&wish.session).await {
        Ok(true) => release(made, wish).await,
        Ok(false) => {}
        Err(error) => {
            tracing::warn!(head = %made.id(), %error, "the head of a deleted fork may be left claimed");
        }
    }
}

fn request(
    journal: &Journal,
    active: &Active,
    wish: &Wish,
    made: &WorkspaceHead,
    token: FencingToken,
) -> ForkRequest {
    ForkRequest {
        source: journal.session.clone(),
        token,
        through: wish.through,
        session: NewSession {
            id: wish.session.clone(),
            title: Some(wish.head.clone()),
            agent: active.agent.summary(),
            created_at: journal.services.clock.now(),
        },
        binding: made.binding(),
        events: vec![EventPayload::Forked {
            from: journal.session.clone(),
        }],
    }
}

async fn end(
    journal: &Journal,
    state: &mut JournalState,
    wish: &Wish,
    made: bool,
) -> Result<(), SessionError> {
    let session = wish.session.clone();
    let ended = EventPayload::ForkEnded { session, made };
    journal.append(state, vec![ended]).await
}

/// There is no head of the fork, so that there is nothing to remove.
async fn give_up(
    journal: &Journal,
    state: &mut JournalState,
    wish: &Wish,
    error: WorkspaceError,
) -> SessionError {
    if !matches!(error, WorkspaceError::Failpoint(_))
        && let Err(error) = end(journal, state, wish, false).await
    {
        return error;
    }
    SessionError::from_workspace(error)
}

/// The head was made, and cannot get the files that it was to have. It holds nothing but copies. One that cannot be
/// removed either stays, without a session: this session must be able to go on.
async fn undo(
    journal: &Journal,
    state: &mut JournalState,
    wish: &Wish,
    made: &WorkspaceHead,
    error: WorkspaceError,
) -> SessionError {
    if matches!(error, WorkspaceError::Failpoint(_)) {
        return SessionError::from_workspace(error);
    }
    if let Err(error) = made.destroy().await {
        tracing::warn!(head = %made.id(), %error, "the head of a fork that was not made is left");
        release(made, wish).await;
    }
    give_up(journal, state, wish, error).await
}

async fn release(made: &WorkspaceHead, wish: &Wish) {
    if let Err(error) = made.release(&wish.session).await {
        tracing::warn!(head = %made.id(), %error, "the claim of a fork that is not there is left");
    }
}
