/// Makes a type a store by the operations on its field `database`.
macro_rules! session_store {
    ($store:ty) => {
        const _: () = {
            use std::time::Duration;

            use async_trait::async_trait;
            use everruns_core::clock::Timestamp;
            use everruns_core::ids::SessionId;
            use everruns_core::session::{
                AppendReceipt, AppendRequest, EventPage, EventQuery, FencingToken, ForkRequest,
                HeldLease, Lease, LeaseOwner, NewSession, SessionPage, SessionQuery, SessionRecord,
                SessionStore, StoreError,
            };
            use everruns_core::workspace::WorkspaceBinding;

            use $crate::appends;
            use $crate::operations::{bind, create, delete, events, fork, lease, list};
            use $crate::rules::{Batch, Claim, Fork};

            #[async_trait]
            impl SessionStore for $store {
                fn is_durable(&self) -> bool {
                    true
                }

                async fn create(&self, session: NewSession) -> Result<SessionRecord, StoreError> {
                    create::create(&self.database, session).await
                }

                async fn bind(
                    &self,
                    session: &SessionId,
                    binding: WorkspaceBinding,
                ) -> Result<(), StoreError> {
                    bind::bind(&self.database, session, binding).await
                }

                async fn session(&self, session: &SessionId) -> Result<SessionRecord, StoreError> {
                    list::one(&*self.database, session).await
                }

                async fn sessions(&self, query: SessionQuery) -> Result<SessionPage, StoreError> {
                    list::page(&*self.database, query).await
                }

                async fn set_title(
                    &self,
                    session: &SessionId,
                    title: &str,
                ) -> Result<(), StoreError> {
                    create::set_title(&self.database, session, title).await
                }

                async fn append(
                    &self,
                    request: AppendRequest,
                ) -> Result<AppendReceipt, StoreError> {
                    appends::append(&self.database, Batch::new(request)?).await
                }

                async fn events(
                    &self,
                    session: &SessionId,
                    query: EventQuery,
                ) -> Result<EventPage, StoreError> {
                    events::page(&*self.database, session, query).await
                }

                async fn fork(&self, request: ForkRequest) -> Result<SessionRecord, StoreError> {
                    fork::fork(&self.database, Fork::new(request)?).await
                }

                async fn acquire_lease(
                    &self,
                    session: &SessionId,
                    owner: &LeaseOwner,
                    now: Timestamp,
                    duration: Duration,
                ) -> Result<Lease, StoreError> {
                    let claim = Claim {
                        session: session.clone(),
                        owner: owner.clone(),
                        over: None,
                        now,
                        duration,
                    };
                    lease::acquire(&self.database, claim).await
                }

                async fn take_over_lease(
                    &self,
                    session: &SessionId,
                    owner: &LeaseOwner,
                    held: &HeldLease,
                    now: Timestamp,
                    duration: Duration,
                ) -> Result<Lease, StoreError> {
                    let claim = Claim {
                        session: session.clone(),
                        owner: owner.clone(),
                        over: Some(held.clone()),
                        now,
                        duration,
                    };
                    lease::acquire(&self.database, claim).await
                }

                async fn release_lease(
                    &self,
                    session: &SessionId,
                    token: FencingToken,
                ) -> Result<(), StoreError> {
                    lease::release(&self.database, session, token).await
                }

                async fn delete(
                    &self,
                    session: &SessionId,
                    token: Option<FencingToken>,
                ) -> Result<(), StoreError> {
                    delete::delete(&self.database, session, token).await
                }

                async fn is_deleted(&self, session: &SessionId) -> Result<bool, StoreError> {
                    delete::is_deleted(&*self.database, session).await
                }
            }
        };
    };
}

pub(crate) use session_store;
