//! The commands, and those of one level.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::{HeadCommand, SessionCommand};

/// Run AI agents in isolated, durable, resumable heads of your own Git repositories.
///
/// A head is a Git worktree of its own on a branch of its own: the agent's changes are there and nowhere else.
/// Your working tree, index, branches and configuration are never touched.
#[derive(Debug, Parser)]
#[command(
    name = "everruns",
    version,
    propagate_version = true,
    arg_required_else_help = true,
    after_help = "Begin with `everruns demo`; then, in a repository of yours:\n  \
                  everruns run --model MODEL \"Fix the failing test.\""
)]
pub(crate) struct Cli {
    /// Where heads and sessions are kept [default: the user's state folder]
    #[arg(
        long,
        global = true,
        env = "EVERRUNS_STATE",
        value_name = "DIR",
        display_order = 100
    )]
    pub(crate) state: Option<PathBuf>,

    /// Print machine-readable JSON instead of text
    #[arg(long, global = true, display_order = 101)]
    pub(crate) json: bool,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// See the whole product at work on a small repository; needs no key and no network
    Demo(DemoArgs),
    /// Give a task to an agent in a new head of a repository
    Run(RunArgs),
    /// Go on with a session on exactly the head it had
    Resume(ResumeArgs),
    /// Look at, fork, take back, copy and delete sessions
    #[command(subcommand)]
    Session(SessionCommand),
    /// Make, look at, keep and remove heads
    #[command(subcommand)]
    Head(HeadCommand),
    /// Write a copy of all sessions to a file, also while they are used
    Backup(BackupArgs),
    /// Take the sessions of a backup, and tell how they fit the heads that are there
    RestoreBackup(RestoreBackupArgs),
    /// Check the database, look for leftovers of crashes, and put right what is provably ours
    #[command(after_help = "Ends with 1 when something is left that needs a hand.")]
    Doctor {
        /// Put right what can be; without it nothing is changed
        #[arg(long)]
        repair: bool,
    },
    /// One session of the demonstration, in a process of its own
    #[command(hide = true)]
    DemoChild(DemoChildArgs),
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Keep the demonstration's temporary folder to look around in
    #[arg(long)]
    pub(crate) keep: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DemoChildArgs {
    #[arg(long)]
    pub(crate) repo: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProviderChoice {
    /// OpenAI, or any endpoint that speaks its format (`OPENAI_BASE_URL`)
    Openai,
    /// Anthropic
    Anthropic,
}

#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    /// The model to ask, such as `gpt-5.6-terra`
    #[arg(long, env = "EVERRUNS_MODEL", value_name = "MODEL")]
    pub(crate) model: Option<String>,

    /// Who serves the model [default: the one whose key is set]
    #[arg(long, env = "EVERRUNS_PROVIDER", value_name = "PROVIDER")]
    pub(crate) provider: Option<ProviderChoice>,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// What the agent is to do
    pub(crate) task: String,

    /// A folder in the repository
    #[arg(long, default_value = ".", value_name = "DIR")]
    pub(crate) repo: PathBuf,

    /// The new head's name [default: made from the task]
    #[arg(long, value_name = "NAME")]
    pub(crate) head: Option<String>,

    /// The revision to start from [default: the repository's HEAD]
    #[arg(long, value_name = "REV")]
    pub(crate) from: Option<String>,

    #[command(flatten)]
    pub(crate) model: ModelArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// The session's id, or its beginning
    pub(crate) session: String,

    /// What to tell the agent [default: go on where it was interrupted]
    pub(crate) message: Option<String>,

    #[command(flatten)]
    pub(crate) model: ModelArgs,
}

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// The file to write
    #[arg(value_name = "FILE")]
    pub(crate) target: PathBuf,

    /// Replace a file that exists
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreBackupArgs {
    /// The backup
    #[arg(value_name = "FILE")]
    pub(crate) backup: PathBuf,

    /// Where there are sessions already, move their database aside; it is kept
    #[arg(long)]
    pub(crate) replace: bool,
}
