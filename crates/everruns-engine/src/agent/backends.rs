use std::sync::Arc;

use everruns_core::ids::WorkspaceBackendId;
use everruns_core::workspace::WorkspaceBackend;

/// Backends, one for each id. Few, so that a list serves better than a map.
#[derive(Clone, Debug, Default)]
pub(crate) struct Backends {
    list: Vec<Arc<dyn WorkspaceBackend>>,
}

/// Another backend has the id already.
#[derive(Debug)]
pub(crate) struct IdTaken(pub(crate) WorkspaceBackendId);

impl Backends {
    /// Adds a backend.
    pub(crate) fn add(&mut self, backend: Arc<dyn WorkspaceBackend>) -> Result<(), IdTaken> {
        if self.get(backend.id()).is_some() {
            return Err(IdTaken(backend.id().clone()));
        }
        self.list.push(backend);
        Ok(())
    }

    /// The backend of this id.
    pub(crate) fn get(&self, id: &WorkspaceBackendId) -> Option<&Arc<dyn WorkspaceBackend>> {
        self.list.iter().find(|backend| backend.id() == id)
    }
}

/// Whether both are one object. Only the data is compared: one type may have several vtables.
pub(crate) fn is_same(one: &Arc<dyn WorkspaceBackend>, other: &Arc<dyn WorkspaceBackend>) -> bool {
    std::ptr::addr_eq(Arc::as_ptr(one), Arc::as_ptr(other))
}
