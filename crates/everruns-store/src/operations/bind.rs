use std::sync::Arc;

use everruns_core::failpoint::hit;
use everruns_core::ids::SessionId;
use everruns_core::session::StoreError;
use everruns_core::workspace::WorkspaceBinding;

use crate::attempt::{Fault, Repeat};
use crate::driver::{Changes as _, Driver, Statement};
use crate::rows::{BindingRow, holder_of};
use crate::rules::{self, Bind};
use crate::sql;

pub(crate) async fn bind<D: Driver>(
    database: &Arc<D>,
    session: &SessionId,
    binding: WorkspaceBinding,
) -> Result<(), StoreError> {
    let work = Arc::new((session.clone(), binding));
    database
        .write("bind a session", Repeat::Safe, move |database| {
            let work = Arc::clone(&work);
            async move { bind_once(&*database, &work.0, &work.1).await }
        })
        .await
}

async fn bind_once<D: Driver>(
    database: &D,
    session: &SessionId,
    binding: &WorkspaceBinding,
) -> Result<(), Fault> {
    let mut changes = database.begin().await?;
    D::lock_session(&mut changes, session).await?;
    let statement = Statement::new(sql::bindings::OF_SESSION).bind(session.as_str());
    let present: Option<BindingRow> = changes.first(statement).await?;
    if rules::bind(session, binding, present)? == Bind::Done {
        return Ok(());
    }
    insert::<D>(&mut changes, session, binding).await?;
    hit("store.bind.before-commit")?;
    changes.commit().await?;
    hit("store.bind.after-commit")?;
    Ok(())
}

/// Binds a session that is not bound yet, unless the head is another's.
pub(super) async fn insert<D: Driver>(
    changes: &mut D::Changes,
    session: &SessionId,
    binding: &WorkspaceBinding,
) -> Result<(), Fault> {
    D::lock_head(changes, binding).await?;
    let statement = Statement::new(sql::bindings::HOLDER)
        .bind(binding.workspace_id.as_str())
        .bind(binding.provider_id.as_str())
        .bind(binding.head_id.as_str())
        .bind(binding.access.as_str());
    let holder: Option<(String,)> = changes.first(statement).await?;
    if let Some((holder,)) = holder {
        return Err(StoreError::HeadBound {
            head: binding.head_id.clone(),
            session: holder_of(holder)?,
        }
        .into());
    }
    let payload = binding.payload.to_json();
    let statement = Statement::new(sql::bindings::INSERT)
        .bind(session.as_str())
        .bind(binding.provider_id.as_str())
        .bind(binding.workspace_id.as_str())
        .bind(binding.head_id.as_str())
        .bind(binding.access.as_str())
        .bind(payload.as_str());
    changes.run(statement).await?;
    Ok(())
}
