//! One module a command.

pub(crate) mod backup;
pub(crate) mod doctor;
pub(crate) mod head;
pub(crate) mod restore_backup;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod session;
mod turn;
