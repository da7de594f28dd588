//! What can be written on the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

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
    /// List and show sessions
    #[command(subcommand)]
    Session(SessionCommand),
    /// Make, look at, keep and remove heads
    #[command(subcommand)]
    Head(HeadCommand),
    /// Look for leftovers of crashes, and put right what is provably ours
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

#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommand {
    /// List sessions, the most recently changed first
    List {
        /// At most so many
        #[arg(long, default_value_t = 50, value_name = "N")]
        limit: u32,
    },
    /// Show a session's conversation
    Show {
        /// The session's id, or its beginning
        session: String,
    },
}

/// Which head of which repository.
#[derive(Debug, Args)]
pub(crate) struct HeadRef {
    /// The head's name, its id, or the beginning of its id
    pub(crate) head: String,

    /// A folder in the repository
    #[arg(long, default_value = ".", value_name = "DIR")]
    pub(crate) repo: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct CommitArgs {
    #[command(flatten)]
    pub(crate) head: HeadRef,
    /// The commit's message
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) message: String,
    /// In whose name [default: who is configured with Git]
    #[arg(long, value_name = "NAME <ADDRESS>")]
    pub(crate) author: Option<String>,
    /// Only these files and folders [default: everything]
    #[arg(long = "path", value_name = "PATH")]
    pub(crate) paths: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    #[command(flatten)]
    pub(crate) head: HeadRef,
    /// The branch to merge into
    pub(crate) branch: String,
    /// Make one commit without the head as a parent
    #[arg(long, conflicts_with = "ff_only")]
    pub(crate) squash: bool,
    /// Only move the branch forward
    #[arg(long)]
    pub(crate) ff_only: bool,
    /// The commit's message
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) message: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct UpdateArgs {
    #[command(flatten)]
    pub(crate) head: HeadRef,
    /// The branch to bring in
    pub(crate) branch: String,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    #[command(flatten)]
    pub(crate) head: HeadRef,
    /// The checkpoint's number, as `head checkpoint HEAD --list` shows it
    pub(crate) checkpoint: u64,
    /// Only show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HeadCommand {
    /// List the heads of a repository
    List {
        /// A folder in the repository
        #[arg(long, default_value = ".", value_name = "DIR")]
        repo: PathBuf,
        /// Destroyed ones, too
        #[arg(long)]
        all: bool,
    },
    /// Make a head
    Create {
        /// Its name
        name: String,
        /// A folder in the repository
        #[arg(long, default_value = ".", value_name = "DIR")]
        repo: PathBuf,
        /// The revision to start from [default: the repository's HEAD]
        #[arg(long, value_name = "REV")]
        from: Option<String>,
        /// Let several sessions use it at once
        #[arg(long)]
        shared: bool,
    },
    /// Make a head with the same files as another, uncommitted and untracked ones included
    Fork {
        #[command(flatten)]
        head: HeadRef,
        /// The new head's name
        name: String,
    },
    /// Show what differs from the head's last commit
    Status(HeadRef),
    /// Show what differs from what the head was made from
    Diff {
        #[command(flatten)]
        head: HeadRef,
        /// Only the files and their line counts
        #[arg(long)]
        stat: bool,
    },
    /// Keep the present state under a ref, or list what is kept
    Checkpoint {
        #[command(flatten)]
        head: HeadRef,
        /// What to call it
        #[arg(long, value_name = "TEXT")]
        label: Option<String>,
        /// Only list the checkpoints
        #[arg(long, conflicts_with = "label")]
        list: bool,
    },
    /// Commit the working state on the head's branch
    Commit(CommitArgs),
    /// Merge a head, uncommitted work included, into a branch of the repository
    Merge(MergeArgs),
    /// Bring a branch of the repository into a head
    Update(UpdateArgs),
    /// Bring the files back to a checkpoint, after keeping the present state as another
    Restore(RestoreArgs),
    /// Forget all but the latest checkpoints
    Prune {
        #[command(flatten)]
        head: HeadRef,
        /// How many to keep
        #[arg(long, value_name = "N")]
        keep: usize,
    },
    /// Block later use of a head and keep everything
    Archive(HeadRef),
    /// Remove a head's files; its branch stays, and uncommitted work is kept under a ref first
    Destroy(HeadRef),
    /// Make an archived head usable again
    Reopen(HeadRef),
}
