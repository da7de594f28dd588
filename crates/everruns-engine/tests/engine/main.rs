//! Sessions end to end, with a scripted model.

#![expect(clippy::unwrap_used, reason = "the helpers of tests panic, too")]

mod calls;
mod cost;
mod dropping;
mod executors;
#[cfg(feature = "tools")]
mod facts;
#[cfg(feature = "tools")]
mod files;
#[cfg(feature = "tools")]
mod finding;
#[cfg(feature = "tools")]
mod forgetting;
mod held;
mod history;
mod idle;
mod leases;
#[cfg(all(unix, feature = "tools"))]
mod links;
mod messages;
#[cfg(feature = "tools")]
mod reading;
mod resume;
mod start;
mod store;
mod support;
mod transfer;
#[cfg(feature = "tools")]
mod travel;
mod turns;
#[cfg(all(target_os = "linux", feature = "tools"))]
mod unreadable;
mod unrecorded;
mod watching;
