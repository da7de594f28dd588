//! What every operation of one backend shares.

use std::fmt;
use std::sync::Arc;

use everruns_core::clock::Clock;
use everruns_core::entropy::Entropy;

use crate::error::Result;
use crate::flush::FlushedObjects;
use crate::repository::Opener;
use crate::state::{HeadRecord, Layout, WorkspaceRecord};
use crate::trash::Trash;
use crate::worktree::LatestContents;

/// The state folder, the way to repositories, and the sources of time and chance.
pub(crate) struct Context {
    /// Where the state is.
    pub(crate) layout: Layout,
    /// How repositories are opened.
    pub(crate) opener: Opener,
    /// Tells the time.
    pub(crate) clock: Arc<dyn Clock>,
    /// Gives ids.
    pub(crate) entropy: Arc<dyn Entropy>,
    /// How many bytes of ignored files a new head gets at most.
    pub(crate) ignored_limit: u64,
    /// What was just read of the repository that heads are made of.
    pub(crate) contents: LatestContents,
    /// Which objects are on the disk.
    pub(crate) flushed: FlushedObjects,
    /// Deletes what destroyed heads leave.
    pub(crate) trash: Trash,
}

impl Context {
    /// The present time, in milliseconds since the epoch.
    pub(crate) fn now(&self) -> i64 {
        self.clock.now().as_millis()
    }

    /// Opens what all worktrees of `workspace` share.
    pub(crate) fn repository(&self, workspace: &WorkspaceRecord) -> Result<gix::Repository> {
        self.opener.open(&workspace.common_dir)
    }

    /// The head `id` of `workspace`, whatever its state, with its workspace.
    pub(crate) fn head(&self, workspace: &str, id: &str) -> Result<(WorkspaceRecord, HeadRecord)> {
        let workspace = WorkspaceRecord::load(&self.layout, workspace)?;
        let head = HeadRecord::load(&self.layout, &workspace.id, id)?;
        Ok((workspace, head))
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("layout", &self.layout)
            .finish_non_exhaustive()
    }
}
