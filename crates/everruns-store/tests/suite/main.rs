//! What the stores promise, on real databases and with real processes.
//!
//! A test that needs other processes runs its own binary again: see `support::place`.

#![cfg(test)]
#![cfg(any(feature = "sqlite", feature = "postgres"))]

#[macro_use]
mod support;

mod cancelling;
mod conformance;
mod crashing;
mod deleting;
mod details;
mod grouping;
mod processes;
mod schema;

#[cfg(feature = "sqlite")]
mod backup;
#[cfg(feature = "sqlite")]
mod bad_files;
#[cfg(feature = "sqlite")]
mod full_disk;
#[cfg(feature = "postgres")]
mod postgres_faults;
#[cfg(feature = "sqlite")]
mod replace;
#[cfg(feature = "sqlite")]
mod sqlite_busy;
