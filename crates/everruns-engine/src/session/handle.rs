use std::any::Any;
use std::fmt;
use std::sync::Arc;

use everruns_core::environment::Environment;
use everruns_core::ids::SessionId;
use everruns_core::session::Sequence;
use everruns_core::workspace::WorkspaceHead;

use super::{
    Active, HistoryPage, HistoryQuery, PendingTurn, Rewound, SessionCore, SessionEnvironmentError,
    SessionError, SessionEvents, SessionInspection, SessionUpdates, Stopped, Turn, detached, fork,
    history, idle, inspection, lease, rewind, send, start,
};

/// One conversation on one head: a cheap handle that can be cloned.
///
/// Before it starts, [`workspace`](Self::workspace) or [`environment`](Self::environment) choose what it executes
/// on; [`start`](Self::start) fixes it, and so do the first [`send`](Self::send) and
/// [`inspect`](Self::inspect). Dropping handles deletes nothing and stops no turn.
///
/// A session takes its lease when it starts and for every turn, renews it while the turn runs and gives it up
/// half a second after, so that another process can go on with the session.
#[derive(Clone)]
pub struct Session {
    core: Arc<SessionCore>,
    /// An environment was chosen through this handle after the session had started.
    late: bool,
}

impl Session {
    pub(crate) fn new(core: Arc<SessionCore>) -> Self {
        Self { core, late: false }
    }

    /// The session's id.
    pub fn session_id(&self) -> &SessionId {
        &self.core.id
    }

    /// Chooses the head, with nothing besides. The last choice before the start holds.
    #[must_use]
    pub fn workspace(self, head: WorkspaceHead) -> Self {
        self.environment(Environment::new(head))
    }

    /// Chooses the environment. The last choice before the start holds; a later one makes
    /// [`start`](Self::start) on the returned handle fail with
    /// [`AlreadyStarted`](SessionEnvironmentError::AlreadyStarted).
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> Self {
        if self.core.active.initialized() {
            self.late = true;
        } else {
            self.core.draft().environment = Some(environment);
        }
        self
    }

    /// Starts the session: its binding is durable and its head claimed before anything executes.
    ///
    /// A session that has started is returned as it is; of concurrent calls one does the work. Without a chosen
    /// environment, the head is the agent's [`workspace`](crate::AgentBuilder::workspace) folder, or else a new
    /// one in memory. Dropping the future does not stop the start.
    ///
    /// # Errors
    /// [`SessionError`]; then nothing of the session is left in the store, the head is not claimed, and the call
    /// can be repeated, also with another environment.
    pub async fn start(&self) -> Result<Self, SessionError> {
        self.started().await?;
        Ok(self.clone())
    }

    async fn started(&self) -> Result<Arc<Active>, SessionError> {
        if self.late {
            return Err(SessionEnvironmentError::AlreadyStarted {
                session: self.core.id.clone(),
            }
            .into());
        }
        if let Some(active) = self.core.active.get() {
            return Ok(Arc::clone(active));
        }
        let core = Arc::clone(&self.core);
        detached(async move { start::start(&core).await }).await
    }

    /// Says something to the agent and returns at once, when the message is recorded; the turn runs in a task.
    ///
    /// Starts the session when needed. While a turn runs, the message steers it: the model sees it with its next
    /// request, and the returned handle waits for the same turn. Dropping the future does not take the message
    /// back.
    ///
    /// # Errors
    /// [`SessionError`]; then no turn runs. Where the store failed, the message may be recorded all the same, and
    /// the next turn then knows of it.
    pub async fn send(&self, text: impl Into<String> + Send) -> Result<PendingTurn, SessionError> {
        let text = text.into();
        let active = self.started().await?;
        let core = Arc::clone(&self.core);
        detached(async move { send::send(&core, active, text).await }).await
    }

    /// Says something to the agent and waits for the end of the turn.
    ///
    /// # Errors
    /// As [`send`](Self::send) and [`PendingTurn::wait`]. A model that failed is a [`Turn`] without success.
    pub async fn send_and_wait(
        &self,
        text: impl Into<String> + Send,
    ) -> Result<Turn, SessionError> {
        self.send(text).await?.wait().await
    }

    /// Tells what the session is and executes on. Starts it when needed.
    ///
    /// # Errors
    /// As [`start`](Self::start), and the store's.
    pub async fn inspect(&self) -> Result<SessionInspection, SessionError> {
        let active = self.started().await?;
        inspection::inspect(&self.core, &active).await
    }

    /// Brings files and conversation back to the place after the event `to`, which ended a turn or is the session's
    /// first. The present files are kept as a checkpoint first; the record stays and says that the session went back.
    ///
    /// A crash in between is finished when the session is resumed. Dropping the future does not stop it.
    ///
    /// # Errors
    /// `TurnRunning`, `NotBetweenTurns`, `NoCheckpoint`, `SharedHead`: nothing has changed. The head's own errors:
    /// nothing went back, and the record says so. And the store's.
    pub async fn rewind(&self, to: Sequence) -> Result<Rewound, SessionError> {
        let active = self.started().await?;
        let core = Arc::clone(&self.core);
        detached(async move { rewind::rewind(&core, active, to).await }).await
    }

    /// Makes another session with this one's conversation so far, on a fork of its head called `name`.
    ///
    /// Either both exist or neither does: a crash in between is finished or undone when this session is resumed.
    /// Dropping the future does not stop it.
    ///
    /// # Errors
    /// `TurnRunning`; those of [`WorkspaceHead::fork`], such as a taken name; and the store's.
    pub async fn fork(&self, name: impl Into<String> + Send) -> Result<Self, SessionError> {
        self.fork_through(name.into(), None).await
    }

    /// As [`fork`](Self::fork), with conversation and files as they were after the event `event`, which ended a turn or
    /// is the session's first.
    ///
    /// # Errors
    /// As [`fork`](Self::fork); `NotBetweenTurns`, `NoCheckpoint`.
    pub async fn fork_at(
        &self,
        name: impl Into<String> + Send,
        event: Sequence,
    ) -> Result<Self, SessionError> {
        self.fork_through(name.into(), Some(event)).await
    }

    async fn fork_through(
        &self,
        name: String,
        through: Option<Sequence>,
    ) -> Result<Self, SessionError> {
        let active = self.started().await?;
        let core = Arc::clone(&self.core);
        detached(async move { fork::fork(&core, active, name, through).await }).await
    }

    /// The events after `from`: those that are recorded, then those to come, without gaps or duplicates.
    ///
    /// What another process records shows up within two seconds, when the store outlives a process.
    /// The stream ends with the last handle of the session, or with an error of the store. A session that has
    /// not started has no events yet.
    pub fn events(&self, from: Sequence) -> SessionEvents {
        SessionEvents::new(&self.core.journal, from)
    }

    /// What happens from now on, text as it comes included, for a user interface.
    pub fn updates(&self) -> SessionUpdates {
        SessionUpdates::new(self.core.journal.watch_updates())
    }

    /// Some messages of the record, with calls, results and usage: those of the conversation, and those that a
    /// [`rewind`](Self::rewind) has taken out of it, which the page's `rewinds` tell apart.
    ///
    /// # Errors
    /// The store's.
    pub async fn history(&self, query: HistoryQuery) -> Result<HistoryPage, SessionError> {
        history::read(self.core.journal.store().as_ref(), &self.core.id, query)
            .await
            .map_err(SessionError::from_store)
    }

    /// Stops the turn that runs in this process; `false` when there is none. The turn then ends as cancelled, which
    /// its [`PendingTurn`] tells.
    pub async fn cancel(&self) -> bool {
        let state = self.core.journal.lock().await;
        state.running.as_ref().is_some_and(|turn| {
            turn.cancellation.cancel();
            true
        })
    }

    /// Cancels a turn that runs, waits until that is recorded, and gives up the lease, so that another process can
    /// go on at once. A long conversation is dropped from memory, and read again when it is needed. The handle stays
    /// usable. Dropping the future does not stop it.
    pub async fn close(&self) {
        let core = Arc::clone(&self.core);
        let work = async move {
            close(&core).await;
            Ok::<_, Stopped>(())
        };
        // A runtime that is shut down meanwhile stops the turn as well.
        let _closed = detached(work).await;
    }

    /// The head; `None` before the session has started.
    pub fn workspace_head(&self) -> Option<WorkspaceHead> {
        let active = self.core.active.get()?;
        Some(active.environment.workspace_head().clone())
    }

    /// The environment's extension of type `T`; `None` before the session has started, too.
    pub fn environment_extension<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.core.active.get()?.environment.extension()
    }

    /// Gives the session a title for people.
    ///
    /// # Errors
    /// The store's.
    pub async fn set_title(&self, title: &str) -> Result<(), SessionError> {
        if !self.core.active.initialized() {
            self.core.draft().title = Some(title.to_owned());
            return Ok(());
        }
        self.core
            .journal
            .store()
            .set_title(&self.core.id, title)
            .await
            .map_err(SessionError::from_store)
    }
}

async fn close(core: &SessionCore) {
    let journal = &core.journal;
    let running = journal.lock().await.running.clone();
    if let Some(turn) = running {
        turn.cancellation.cancel();
        let mut report = turn.report;
        // An error only means that the task is gone, which is as good.
        drop(report.wait_for(Option::is_some).await);
    }
    let mut state = journal.lock().await;
    if state.running.is_none() {
        lease::give_up(journal, &mut state).await;
        idle::shed(journal, &mut state);
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("id", &self.core.id)
            .field("started", &self.core.active.initialized())
            .finish_non_exhaustive()
    }
}
