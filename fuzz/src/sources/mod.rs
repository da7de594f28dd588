//! The edit itself is private to its crate, so its sources are compiled into this one.

#[path = "../../../crates/everruns-engine/src/tools/edit.rs"]
#[allow(
    dead_code,
    reason = "the tool that these sources belong to uses the rest"
)]
mod edit;
#[path = "../../../crates/everruns-engine/src/tools/nearest.rs"]
#[allow(
    dead_code,
    reason = "the tool that these sources belong to uses the rest"
)]
mod nearest;
#[path = "../../../crates/everruns-engine/src/tools/text.rs"]
#[allow(
    dead_code,
    reason = "the tool that these sources belong to uses the rest"
)]
mod text;

#[path = "../edited.rs"]
mod edited;

pub use edited::edited;
