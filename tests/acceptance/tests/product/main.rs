//! The product as an application uses it: the facade, real repositories, real processes.
#![expect(clippy::unwrap_used, reason = "the helpers of tests panic, too")]

mod compat;
mod crash;
mod deleted_fork;
mod first_example;
mod half_changed;
mod idle_elsewhere;
mod many_sessions;
mod own_changes;
mod restored;
mod two_stores;
mod waiting;
mod watching;
mod wire;
