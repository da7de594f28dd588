//! A suite that cannot fail proves nothing: implementations that break one promise each are caught, and by the
//! check that is about that promise.

#[path = "../../../../tests/acceptance/tests/custom_backend/journal/mod.rs"]
mod journal;

#[cfg(test)]
mod backends;
mod broken_backend;
mod broken_file_system;
#[cfg(test)]
mod file_systems;
mod reference_store;
#[cfg(test)]
mod stores;
