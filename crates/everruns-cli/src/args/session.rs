//! `everruns session …`

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommand {
    /// List sessions, the most recently changed first
    List(ListArgs),
    /// Show a session's conversation
    Show {
        /// The session's id, or its beginning
        session: String,
    },
    /// Print what is recorded of a session, one event a line
    Events(EventsArgs),
    /// Make another session with the same conversation, on a fork of the head
    Fork(ForkArgs),
    /// Bring files and conversation back to an earlier place, after keeping the present files
    Rewind(RewindArgs),
    /// Write a session as lines of JSON
    Export(ExportArgs),
    /// Record an exported session under a new id, to be looked at
    Import {
        /// The file that `session export` wrote; `-` for standard input
        file: PathBuf,
    },
    /// Delete a session's record for good; its head stays
    Delete(DeleteArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// At most so many
    #[arg(long, default_value_t = 50, value_name = "N")]
    pub(crate) limit: u32,

    /// Go on from where the list before ended, as it says; or after a session's present place
    #[arg(long, value_name = "PLACE")]
    pub(crate) after: Option<String>,

    /// Only those whose title has this text in it, in capitals or not
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,

    /// Only those on heads of the repository that this folder is in
    #[arg(long, value_name = "DIR")]
    pub(crate) repo: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct EventsArgs {
    /// The session's id, or its beginning
    pub(crate) session: String,

    /// The number of the first event
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) from: u64,

    /// Go on with new events, of other processes too, until Ctrl-C
    #[arg(long, short)]
    pub(crate) follow: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ForkArgs {
    /// The session's id, or its beginning
    pub(crate) session: String,

    /// The new head's name, and the new session's title [default: made from the head's name]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// Fork from the place after this event, as `session rewind SESSION` lists them [default: the present]
    #[arg(long, value_name = "EVENT")]
    pub(crate) at: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct RewindArgs {
    /// The session's id, or its beginning
    pub(crate) session: String,

    /// The number of the event to go back to [default: list the places there are]
    pub(crate) event: Option<u64>,

    /// Only show what would change
    #[arg(long, requires = "event")]
    pub(crate) dry_run: bool,

    /// Do it without asking
    #[arg(long, short, requires = "event")]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The session's id, or its beginning
    pub(crate) session: String,

    /// The file to write; `-` for standard output
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,

    /// Replace a file that exists
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    /// The session's id, or its beginning
    pub(crate) session: String,

    /// Do it without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
}
