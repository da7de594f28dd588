//! The user's repository: finding it, opening it without trusting it, naming commits in it.

mod drivers;
mod locate;
mod open;
mod partial;
mod pattern_file;
mod refs;
mod revision;
mod user_settings;

pub(crate) use locate::locate;
pub(crate) use open::Opener;
pub(crate) use partial::{is_partial_clone, tell_lack};
pub(crate) use pattern_file::read as read_patterns;
pub(crate) use refs::{
    Refs, SIGNATURE_EMAIL, SIGNATURE_NAME, dead_locks, is_of_dead, moved_at, remove_dead_locks,
    signature_time,
};
pub(crate) use revision::{default_start, resolve};
pub(crate) use user_settings::UserSettings;
