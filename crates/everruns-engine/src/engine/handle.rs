use std::borrow::Borrow;
use std::io;
use std::sync::Arc;

use everruns_core::environment::{Environment, EnvironmentError};
use everruns_core::ids::SessionId;
use everruns_core::session::{SessionPage, SessionQuery, SessionStore, StoreError};
use everruns_core::workspace::{Workspace, WorkspaceHead, WorkspaceHeadDescriptor};
use futures::{Stream, stream};

use super::{DeleteError, EngineBuilder, EngineParts, ResumeError, delete, reconcile};
use crate::agent::Agent;
use crate::session::{self, Session, SessionCore, SessionError, SessionPlace};
use crate::transfer::{self, ImportError, SessionExport};

/// Makes and resumes sessions over one store. A cheap handle that can be cloned.
#[derive(Clone, Debug)]
pub struct Engine {
    parts: Arc<EngineParts>,
}

impl Default for Engine {
    fn default() -> Self {
        Self::new()
    }
}

impl Engine {
    /// An engine whose sessions end with the process.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Begins an engine.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    pub(crate) fn from_parts(parts: EngineParts) -> Self {
        Self {
            parts: Arc::new(parts),
        }
    }

    /// Where the sessions are kept.
    pub fn store(&self) -> &Arc<dyn SessionStore> {
        &self.parts.services.store
    }

    /// A new session of `agent`, not started and not recorded yet.
    pub fn create(&self, agent: Agent) -> Session {
        let id = SessionId::generate(self.parts.services.entropy.as_ref());
        let core = Arc::new(SessionCore::new(id, Arc::clone(&self.parts), agent.clone()));
        self.parts.register(&core, agent);
        Session::new(core)
    }

    /// Says which agent goes on with a session, before [`resume`](Self::resume). Nothing is looked up.
    ///
    /// Another agent than the one before must have registered the backend of the session's head itself. A session
    /// that is live in this engine keeps its agent until its last handle is gone.
    pub fn attach(&self, session: impl Borrow<SessionId>, agent: Agent) {
        self.parts.attach(session.borrow(), agent);
    }

    /// Goes on with a recorded session on exactly its recorded head.
    ///
    /// A session that is live in this engine gives another handle on it. A turn whose process has ended is closed
    /// honestly: calls without a recorded outcome get the outcome *unknown*. A lease that a dead process of this
    /// host left is taken over at once; otherwise it is waited for until it expires, unless it is renewed.
    /// Dropping the future does not stop the work.
    ///
    /// # Errors
    /// [`ResumeError`]; then nothing has changed but, at most, the claim and the lease, which are given up or were
    /// the session's own.
    pub async fn resume(
        &self,
        session: impl Borrow<SessionId> + Send,
    ) -> Result<Session, ResumeError> {
        self.resume_in(session, |head| Ok(Environment::new(head)))
            .await
    }

    /// As [`resume`](Self::resume), in the environment that `make` puts around the recorded head: extensions and
    /// compute belong to a process and are not recorded. A session that is live in this engine keeps its own.
    ///
    /// # Errors
    /// As [`resume`](Self::resume); those of `make`; and `IdentityMismatch` when it chose another head.
    pub async fn resume_in(
        &self,
        session: impl Borrow<SessionId> + Send,
        make: impl FnOnce(WorkspaceHead) -> Result<Environment, EnvironmentError> + Send + 'static,
    ) -> Result<Session, ResumeError> {
        let id = session.borrow().clone();
        let parts = Arc::clone(&self.parts);
        let make = Box::new(make);
        session::detached(async move { session::resume(&parts, id, make).await }).await
    }

    /// The places of a recorded session between two turns, oldest first: where it can go back to, or be forked from.
    /// Reads the whole record and changes nothing. A turn that was interrupted and not resumed has no end yet.
    ///
    /// # Errors
    /// The store's: `NotFound`, for one.
    pub async fn places(
        &self,
        session: impl Borrow<SessionId> + Send,
    ) -> Result<Vec<SessionPlace>, StoreError> {
        session::places(self.store().as_ref(), session.borrow()).await
    }

    /// A recorded session as lines of JSON; see [`transfer`](crate::transfer). What is recorded meanwhile is left out.
    pub fn export(&self, session: impl Borrow<SessionId>) -> SessionExport {
        SessionExport::new(Arc::clone(self.store()), session.borrow().clone())
    }

    /// Records an exported session under a new id, to be looked at. It has no head and cannot be resumed. One that was
    /// exported without a title is called `imported session`.
    ///
    /// # Errors
    /// As [`import_stream`](Self::import_stream).
    pub async fn import(
        &self,
        lines: impl IntoIterator<Item = String> + Send,
    ) -> Result<SessionId, ImportError> {
        let lines: Vec<String> = lines.into_iter().collect();
        self.import_stream(stream::iter(lines.into_iter().map(Ok)))
            .await
    }

    /// As [`import`](Self::import), line by line as they come: a long session costs no memory.
    ///
    /// Dropping the future, or a crash, leaves a part of it: a session without a head, which can be deleted. Its title
    /// begins with `(import not finished)`, as that of every import does until its last line is recorded.
    ///
    /// # Errors
    /// [`ImportError`]; then what was recorded of it is removed. A store that fails at that, too, keeps a part, as above.
    pub async fn import_stream(
        &self,
        lines: impl Stream<Item = io::Result<String>> + Send,
    ) -> Result<SessionId, ImportError> {
        transfer::import(&self.parts.services, lines).await
    }

    /// The heads of a workspace that can be used and that no session recorded here is bound to: those that never had
    /// one, and those whose session is missing because the store was restored from an older backup. Changes nothing.
    ///
    /// # Errors
    /// The backend's and the store's.
    pub async fn unrecorded_heads(
        &self,
        workspace: &Workspace,
    ) -> Result<Vec<WorkspaceHeadDescriptor>, SessionError> {
        reconcile::unrecorded_heads(&self.parts, workspace).await
    }

    /// Removes a session with all its events, for good. Its head stays, with everything in it, and can be bound to
    /// another session. A fork of it that was begun by a process which has ended is given up first: where the fork's
    /// session is not there yet, its head is destroyed, which keeps what no commit holds.
    ///
    /// `confirmation` is the session's id once more, as its user has typed or chosen it. Dropping the future does not
    /// stop the work.
    ///
    /// # Errors
    /// [`DeleteError`]; then nothing has changed, but that a fork may have been given up.
    pub async fn delete_session(
        &self,
        session: impl Borrow<SessionId> + Send,
        confirmation: &str,
    ) -> Result<(), DeleteError> {
        let (parts, id) = (Arc::clone(&self.parts), session.borrow().clone());
        let confirmation = confirmation.to_owned();
        session::detached(async move { delete::delete(&parts, &id, &confirmation).await }).await
    }

    /// Lists recorded sessions, the most recently changed first.
    ///
    /// # Errors
    /// The store's.
    pub async fn sessions(&self, query: SessionQuery) -> Result<SessionPage, StoreError> {
        self.store().sessions(query).await
    }
}
