//! What can be written on the command line.

mod cli;
mod head;
mod session;

pub(crate) use cli::{
    BackupArgs, Cli, Command, DemoArgs, DemoChildArgs, ModelArgs, ProviderChoice,
    RestoreBackupArgs, ResumeArgs, RunArgs,
};
pub(crate) use head::{CommitArgs, HeadCommand, HeadRef, MergeArgs, RestoreArgs, UpdateArgs};
pub(crate) use session::{
    DeleteArgs, EventsArgs, ExportArgs, ForkArgs, ListArgs, RewindArgs, SessionCommand,
};
