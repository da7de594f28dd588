use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, OnceLock, PoisonError, Weak};
use std::time::Duration;

use everruns_core::clock::Clock;
use everruns_core::entropy::Entropy;
use everruns_core::ids::SessionId;
use everruns_core::model::Usage;
use everruns_core::session::{
    AppendRequest, EventPayload, FencingToken, Sequence, SessionEvent, SessionStore, StoreError,
};
use everruns_core::workspace::HeadHold;
use tokio::sync::{Mutex, MutexGuard, Notify, broadcast, watch};
use tokio::time::Instant;

use super::conversation::Conversation;
use super::holder::Holder;
use super::pending::TurnReport;
use super::update::{SessionUpdate, UPDATE_BUFFER};
use super::{Active, SessionError, lease, replay};
use crate::tool_api::SeenFiles;

/// Events that one read of the store gives.
pub(super) const PAGE: u32 = 256;
/// How often a request that the store could not take is made, with the same key.
const APPEND_ATTEMPTS: u32 = 6;

/// What a journal needs of its engine.
#[derive(Clone, Debug)]
pub(crate) struct Services {
    pub(crate) store: Arc<dyn SessionStore>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) lease_duration: Duration,
}

/// The one writer of a session's events in this process, with the conversation they make.
///
/// The state is behind an async lock that is held while the store is asked, so that events are appended one
/// batch after the other. It is also held while files are forked, brought back or kept between two turns, so that none
/// begins meanwhile; the lease is renewed then by who holds the lock.
#[derive(Debug)]
pub(crate) struct Journal {
    pub(super) session: SessionId,
    pub(super) services: Services,
    pub(super) holder: Holder,
    pub(super) state: Mutex<JournalState>,
    pub(super) nudge: Arc<Notify>,
    /// What the session's tools have seen of its files.
    pub(super) seen: Arc<SeenFiles>,
    /// What the session executes on, while there is a handle on it.
    pub(super) active: OnceLock<Weak<Active>>,
    last: watch::Sender<Sequence>,
    /// Until when the lease that was taken or renewed last is sure to be nobody else's, by this process's clock.
    pub(super) sure_until: watch::Sender<Instant>,
    /// The token of that lease.
    pub(super) token: AtomicU64,
    /// Whether that time came in the middle of a turn, so that another process may have the session by now.
    pub(super) lapsed: AtomicBool,
    /// There while somebody watches: its buffer is larger than all the rest of an idle session.
    updates: std::sync::Mutex<Option<broadcast::Sender<SessionUpdate>>>,
}

/// What this process knows of the session.
#[derive(Debug)]
pub(crate) struct JournalState {
    /// The token of the lease, while it is held.
    pub(super) token: Option<FencingToken>,
    /// Whether the conversation is what the store has. It is not known to be before the lease is taken, nor after
    /// an append whose outcome is not known.
    current: bool,
    /// Whether a task renews the lease.
    pub(super) kept: bool,
    /// When the lease was last taken or renewed.
    pub(super) renewed: Instant,
    /// The last event that is in the conversation.
    known: Sequence,
    pub(crate) conversation: Conversation,
    /// Whether the conversation has its older messages, too.
    complete: bool,
    /// The number of turns and what they used, as last known of a conversation that was dropped.
    totals: Option<(u64, Usage)>,
    /// The turn that runs in this process.
    pub(crate) running: Option<RunningTurn>,
    /// Keeps the head from being destroyed under the turn that runs.
    pub(super) head: Option<HeadHold>,
    pub(super) last_use: Instant,
}

impl JournalState {
    /// The last event.
    pub(super) fn known(&self) -> Sequence {
        self.known
    }

    /// Whether the conversation has its older messages, too.
    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }

    /// The conversation was dropped: the next who holds the session reads it again.
    pub(super) fn forget(&mut self, totals: Option<(u64, Usage)>) {
        self.current = false;
        self.complete = false;
        self.known = Sequence::START;
        self.totals = totals;
    }

    /// Whether anything was ever recorded.
    pub(super) fn has_events(&self) -> bool {
        self.known != Sequence::START
    }
}

/// A turn that runs in this process.
#[derive(Clone, Debug)]
pub(crate) struct RunningTurn {
    pub(crate) number: u64,
    pub(crate) report: watch::Receiver<TurnReport>,
    pub(crate) cancellation: tokio_util::sync::CancellationToken,
}

impl Journal {
    pub(crate) fn new(session: SessionId, services: Services) -> Self {
        let state = JournalState {
            token: None,
            current: false,
            kept: false,
            renewed: Instant::now(),
            known: Sequence::START,
            conversation: Conversation::default(),
            complete: false,
            totals: None,
            running: None,
            head: None,
            last_use: Instant::now(),
        };
        Self {
            session,
            holder: Holder::new(services.entropy.as_ref()),
            services,
            state: Mutex::new(state),
            nudge: Arc::new(Notify::new()),
            seen: Arc::default(),
            active: OnceLock::new(),
            last: watch::Sender::new(Sequence::START),
            sure_until: watch::Sender::new(Instant::now()),
            token: AtomicU64::new(0),
            lapsed: AtomicBool::new(false),
            updates: std::sync::Mutex::default(),
        }
    }

    pub(crate) fn store(&self) -> &Arc<dyn SessionStore> {
        &self.services.store
    }

    pub(crate) async fn lock(&self) -> MutexGuard<'_, JournalState> {
        self.state.lock().await
    }

    /// The state with the lease held and the conversation as the store has it.
    ///
    /// A lease that another has is waited for without the lock, so that the session can still be looked at.
    pub(crate) async fn hold(
        self: &Arc<Self>,
    ) -> Result<MutexGuard<'_, JournalState>, SessionError> {
        let mut state = self.lock().await;
        lease::give_up_lapsed(self, &mut state);
        if state.token.is_none() || !state.current {
            drop(state);
            let (lease, asked) = lease::acquire(self).await?;
            state = self.lock().await;
            // Meanwhile another call may have taken the same lease and gone on with it.
            if state.token != Some(lease.token) || !state.current {
                state.token = Some(lease.token);
                lease::note_renewal(self, &mut state, asked);
                state.current = false;
                self.catch_up(&mut state).await?;
                state.current = true;
            }
        }
        state.last_use = Instant::now();
        lease::keep(self, &mut state);
        Ok(state)
    }

    /// Appends events as one batch; none of them or all are recorded.
    ///
    /// After an error, what the store really has is read before the next append.
    pub(crate) async fn append(
        &self,
        state: &mut JournalState,
        events: Vec<EventPayload>,
    ) -> Result<(), SessionError> {
        lease::give_up_lapsed(self, state);
        let Some(token) = state.token.filter(|_| state.current) else {
            return Err(SessionError::TakenOver {
                session: self.session.clone(),
            });
        };
        let request = AppendRequest {
            session: self.session.clone(),
            token,
            expected: state.known,
            idempotency_key: self.fresh_key(),
            at: self.services.clock.now(),
            events,
        };
        let receipt = match self.append_with_retries(&request).await {
            Ok(receipt) => receipt,
            Err(error) => {
                state.current = false;
                if matches!(error, StoreError::Fenced { .. }) {
                    state.token = None;
                }
                return Err(SessionError::from_store(error));
            }
        };
        let ends = |event: &EventPayload| matches!(event, EventPayload::TurnEnded { .. });
        if request.events.iter().any(ends) {
            // Before anybody hears of the end: who does may destroy the head.
            state.head = None;
        }
        let mut sequence = receipt.first;
        for payload in request.events {
            state.conversation.apply(sequence, &payload);
            let event = SessionEvent {
                sequence,
                at: request.at,
                payload,
            };
            self.tell(SessionUpdate::Event(event));
            sequence = sequence.next();
        }
        self.advance(state, receipt.last);
        if state.conversation.open_turn().is_none() && state.running.take().is_some() {
            self.nudge.notify_one();
        }
        Ok(())
    }

    /// A turn's task has ended, whether or not it could record the end.
    pub(crate) async fn leave(&self, turn: u64) {
        let mut state = self.lock().await;
        if state
            .running
            .as_ref()
            .is_some_and(|running| running.number == turn)
        {
            state.running = None;
            state.head = None;
            self.nudge.notify_one();
        }
    }

    pub(crate) fn entropy(&self) -> &dyn Entropy {
        self.services.entropy.as_ref()
    }

    async fn append_with_retries(
        &self,
        request: &AppendRequest,
    ) -> Result<everruns_core::session::AppendReceipt, StoreError> {
        let mut attempt = 1;
        loop {
            match self.services.store.append(request.clone()).await {
                Err(error) if error.is_retryable() && attempt < APPEND_ATTEMPTS => {
                    tracing::debug!(session = %self.session, attempt, %error, "the append is repeated");
                    tokio::time::sleep(Duration::from_millis(20 << attempt)).await;
                    attempt += 1;
                }
                outcome => return outcome,
            }
        }
    }

    /// Reads what is not in the conversation yet. One of which nothing is known begins with the end of its last turn,
    /// so that this takes as long for a long session as for a short one.
    async fn catch_up(&self, state: &mut JournalState) -> Result<(), SessionError> {
        if state.known == Sequence::START {
            let tail = replay::tail(self.store().as_ref(), &self.session)
                .await
                .map_err(SessionError::from_store)?;
            state.conversation = tail.conversation;
            state.complete = tail.complete;
            self.advance(state, tail.last);
            return Ok(());
        }
        let (conversation, known) = (&mut state.conversation, state.known);
        let last = replay::onwards(self.store().as_ref(), &self.session, known, conversation)
            .await
            .map_err(SessionError::from_store)?;
        self.advance(state, last);
        Ok(())
    }

    /// Reads the older messages, when they have not been read yet. Takes time in proportion to the conversation,
    /// which the model is to be sent as a whole anyway.
    pub(crate) async fn complete(&self, state: &mut JournalState) -> Result<(), SessionError> {
        if state.complete {
            return Ok(());
        }
        let (whole, last) = self.replay().await?;
        if last == state.known {
            state.conversation = whole;
            state.complete = true;
            return Ok(());
        }
        // Another process has the lease by now.
        state.current = false;
        Err(SessionError::TakenOver {
            session: self.session.clone(),
        })
    }

    /// The number of turns and what they used.
    pub(super) async fn totals(
        &self,
        state: &mut JournalState,
    ) -> Result<(u64, Usage), SessionError> {
        if state.complete {
            return Ok((state.conversation.turns(), state.conversation.usage()));
        }
        if let Some(totals) = state.totals
            && state.known == Sequence::START
        {
            return Ok(totals);
        }
        let (whole, last) = self.replay().await?;
        let totals = (whole.turns(), whole.usage());
        if last == state.known {
            state.conversation = whole;
            state.complete = true;
        }
        Ok(totals)
    }

    async fn replay(&self) -> Result<(Conversation, Sequence), SessionError> {
        let mut whole = Conversation::default();
        let store = self.store().as_ref();
        replay::onwards(store, &self.session, Sequence::START, &mut whole)
            .await
            .map(|last| (whole, last))
            .map_err(SessionError::from_store)
    }

    fn advance(&self, state: &mut JournalState, last: Sequence) {
        state.known = last;
        state.last_use = Instant::now();
        self.last.send_replace(last);
    }

    /// Forgets what is known: the session was removed from the store.
    pub(crate) fn reset(&self, state: &mut JournalState) {
        state.token = None;
        state.current = false;
        state.known = Sequence::START;
        state.conversation = Conversation::default();
        state.complete = false;
        state.totals = None;
        self.last.send_replace(Sequence::START);
    }

    /// Tells those who watch; nobody needs to.
    pub(crate) fn tell(&self, update: SessionUpdate) {
        let mut updates = self.updates();
        let gone = updates
            .as_ref()
            .is_some_and(|watched| watched.send(update).is_err());
        if gone {
            *updates = None;
        }
    }

    pub(crate) fn watch_updates(&self) -> broadcast::Receiver<SessionUpdate> {
        self.updates()
            .get_or_insert_with(|| broadcast::Sender::new(UPDATE_BUFFER))
            .subscribe()
    }

    fn updates(&self) -> std::sync::MutexGuard<'_, Option<broadcast::Sender<SessionUpdate>>> {
        self.updates.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn watch_last(&self) -> watch::Receiver<Sequence> {
        self.last.subscribe()
    }

    fn fresh_key(&self) -> String {
        let mut bytes = [0_u8; 16];
        self.services.entropy.fill(&mut bytes);
        format!("{:032x}", u128::from_le_bytes(bytes))
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        lease::release_on_drop(self);
    }
}
