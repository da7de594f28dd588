//! The real program, real repositories and a real server.

mod place;
mod redact;
mod server;
mod terminal;

pub(crate) use place::{Place, Ran, shell, text, until};
pub(crate) use redact::redacted;
pub(crate) use server::Server;
pub(crate) use terminal::OnTerminal;
