//! `everruns head …`

use std::path::PathBuf;

use clap::{Args, Subcommand};

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
        /// Begin with this checkpoint instead of the present state; `head checkpoint HEAD --list` shows their numbers
        #[arg(long, value_name = "N")]
        checkpoint: Option<u64>,
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
    /// Forget all but the latest checkpoints; sessions cannot go back to the others any more
    Prune {
        #[command(flatten)]
        head: HeadRef,
        /// How many to keep, at least 1
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
