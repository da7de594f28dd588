//! The `everruns` command as its users meet it: the real program in real repositories, with a real server to ask.
#![expect(
    clippy::unwrap_used,
    clippy::string_slice,
    reason = "the helpers of tests panic, too"
)]

mod backups;
mod deleted_fork;
mod demo;
mod doctor;
mod events;
mod failing_models;
mod guide;
mod head_names;
mod heads;
mod help;
mod hostile;
mod interrupted;
mod output;
mod readme;
mod repositories;
mod run;
mod sessions;
mod states;
mod support;
mod transfer;
mod travel;
mod work;
