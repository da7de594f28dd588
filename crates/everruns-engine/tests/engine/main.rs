//! Sessions end to end, with a scripted model.

#![expect(clippy::unwrap_used, reason = "the helpers of tests panic, too")]

mod cost;
#[cfg(feature = "tools")]
mod facts;
#[cfg(feature = "tools")]
mod files;
#[cfg(feature = "tools")]
mod finding;
mod leases;
mod messages;
#[cfg(feature = "tools")]
mod reading;
mod resume;
mod start;
mod store;
#[cfg_attr(
    not(feature = "tools"),
    expect(dead_code, reason = "shared with the tests of the file tools")
)]
mod support;
mod transfer;
#[cfg(feature = "tools")]
mod travel;
mod turns;
mod watching;
