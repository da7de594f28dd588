use std::path::PathBuf;

use crate::place::{Kind, Place};
use crate::trip::Trip;

/// What a child is to do.
#[derive(Clone, Debug, clap::Args)]
pub struct Orders {
    /// The kind of head
    #[arg(long, value_enum)]
    pub kind: Kind,
    /// Where everything is
    #[arg(long)]
    pub folder: PathBuf,
    /// The database, unless it is SQLite in the folder
    #[arg(long)]
    pub postgres: Option<String>,
    /// Where the random choices begin
    #[arg(long)]
    pub seed: u64,
    /// The session to go on with; a new one when not given
    #[arg(long)]
    pub session: Option<String>,
    /// Whether another process wants the session at the same time
    #[arg(long)]
    pub contended: bool,
    /// Whether this is that other process, which waits for the session
    #[arg(long, requires = "session")]
    pub rival: bool,
    /// What to do after the first turn; chosen at random when not given
    #[arg(long, value_enum)]
    pub trip: Option<Trip>,
    /// The branch to merge into
    #[arg(long, default_value = "main")]
    pub branch: String,
    /// The step at which to die
    #[arg(long)]
    pub kill_at: Option<String>,
    /// How often the step is passed before
    #[arg(long, default_value_t = 1)]
    pub nth: usize,
}

impl Orders {
    /// Where the child works.
    pub(crate) fn place(&self) -> Place {
        Place {
            kind: self.kind,
            folder: self.folder.clone(),
            postgres: self.postgres.clone(),
        }
    }
}
