//! The written contracts of everruns as suites of checks.
//!
//! Each backend's, store's and wrapper's tests are one call into a suite, plus what is special to it.

pub mod file_system;
pub mod session_store;
pub mod workspace_backend;
