use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use super::EnvironmentError;

/// Values by their type.
#[derive(Clone, Default)]
pub(super) struct Extensions {
    values: HashMap<TypeId, (&'static str, Arc<dyn Any + Send + Sync>)>,
}

impl Extensions {
    pub(super) fn insert<T: Any + Send + Sync>(
        &mut self,
        value: Arc<T>,
    ) -> Result<(), EnvironmentError> {
        let type_name = type_name::<T>();
        if self.values.contains_key(&TypeId::of::<T>()) {
            return Err(EnvironmentError::DuplicateExtension { type_name });
        }
        self.values.insert(TypeId::of::<T>(), (type_name, value));
        Ok(())
    }

    pub(super) fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let (_, value) = self.values.get(&TypeId::of::<T>())?;
        Arc::clone(value).downcast().ok()
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.values.values().map(|(name, _)| name))
            .finish()
    }
}
