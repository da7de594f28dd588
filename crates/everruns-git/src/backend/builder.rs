//! Choices for the backend.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use everruns_core::clock::{Clock, SystemClock};
use everruns_core::entropy::{Entropy, SystemEntropy};
use everruns_core::workspace::WorkspaceError;

use super::LocalGitWorkspace;
use crate::context::Context;
use crate::convert::Teller;
use crate::flush::FlushedObjects;
use crate::head;
use crate::repository::{Opener, UserSettings};
use crate::state::Layout;
use crate::trash::Trash;
use crate::worktree::LatestContents;

/// How many bytes of ignored files come along by default.
const IGNORED_LIMIT: u64 = 1 << 30;

/// Builds a [`LocalGitWorkspace`].
#[must_use = "nothing happens before `build`"]
pub struct LocalGitWorkspaceBuilder {
    state: PathBuf,
    run_filters: bool,
    user_settings: bool,
    ignored_limit: u64,
    recover: bool,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl LocalGitWorkspaceBuilder {
    pub(super) fn new(state: &Path) -> Self {
        Self {
            state: state.to_owned(),
            run_filters: false,
            user_settings: true,
            ignored_limit: IGNORED_LIMIT,
            recover: true,
            clock: Arc::new(SystemClock),
            entropy: Arc::new(SystemEntropy),
        }
    }

    /// Lets repositories run the filters that they or the user configure, such as those of Git LFS.
    ///
    /// Off by default: a filter is a program that the repository chooses.
    pub fn run_filters(mut self, run: bool) -> Self {
        self.run_filters = run;
        self
    }

    /// Takes over the user's own settings for line endings, ignored files and the like. On by default.
    ///
    /// No setting that is taken over can name a program.
    pub fn user_settings(mut self, take: bool) -> Self {
        self.user_settings = take;
        self
    }

    /// Lets at most `bytes` of ignored files come along into a new head. 1 GiB by default.
    ///
    /// What is over the limit is left out, and told in the head's report.
    pub fn ignored_limit(mut self, bytes: u64) -> Self {
        self.ignored_limit = bytes;
        self
    }

    /// Finishes, undoes and removes at opening what a crash left. On by default.
    ///
    /// Without it, opening changes nothing, so that [`doctor`](everruns_core::workspace::WorkspaceBackend::doctor) can
    /// list what there is. A head on which something was cut short is then put right when an operation needs it.
    pub fn recover_at_open(mut self, recover: bool) -> Self {
        self.recover = recover;
        self
    }

    /// Asks `clock` for the time.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Asks `entropy` for the randomness in ids.
    pub fn entropy(mut self, entropy: Arc<dyn Entropy>) -> Self {
        self.entropy = entropy;
        self
    }

    /// Opens the state folder, making it if needed, and completes what a crash left, unless it is
    /// [told not to](Self::recover_at_open).
    ///
    /// # Errors
    /// `InvalidState` for a folder inside a repository or a head, or with records of a newer version;
    /// `PermissionDenied`, `NoSpace`, `Provider`.
    pub fn build(self) -> Result<LocalGitWorkspace, WorkspaceError> {
        let teller = Teller::of("open the state folder");
        let layout = Layout::create(&self.state).map_err(|error| teller.tell(error))?;
        let user = if self.user_settings {
            UserSettings::of_this_user()
        } else {
            UserSettings::default()
        };
        let context = Arc::new(Context {
            layout,
            opener: Opener::new(user, self.run_filters),
            clock: self.clock,
            entropy: self.entropy,
            ignored_limit: self.ignored_limit,
            contents: LatestContents::default(),
            flushed: FlushedObjects::default(),
            trash: Trash::default(),
        });
        if self.recover {
            head::recover(&context).map_err(|error| teller.tell(error))?;
        }
        Ok(LocalGitWorkspace::over(context))
    }
}

impl fmt::Debug for LocalGitWorkspaceBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalGitWorkspaceBuilder")
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}
