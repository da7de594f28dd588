//! Opening repositories so that nothing in them can name a program to run.

use std::path::Path;

use gix::odb::store::init::Slots;
use gix::sec::Trust;

use super::drivers::drop_drivers;
use super::{UserSettings, pattern_file};
use crate::error::{GitStep as _, Result};

/// How much of unpacked delta bases is kept for one repository, as much as Git keeps.
const PACK_CACHE_BYTES: usize = 96 * 1024 * 1024;

/// How many packs can come while a repository is open: those of a large capture do. The library's own number is 32, or
/// a tenth of those that are there; each takes a little time at every opening.
const SLOTS: Slots = Slots::AsNeededByDiskState {
    multiplier: 1.1,
    minimum: 128,
};

/// Settings that hold in every repository, whatever it says itself.
const OVERRIDES: [&str; 8] = [
    "core.fsmonitor=false",
    "core.safecrlf=false",
    "core.untrackedCache=false",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "worktree.useRelativePaths=false",
    // Without it, every file written in the same second as its index is read again at each comparison.
    "gitoxide.core.useNsec=true",
    "commit.gpgSign=false",
];

/// The settings that name a file of patterns.
const PATTERN_FILES: [&str; 2] = ["core.excludesFile", "core.attributesFile"];

/// Opens repositories.
#[derive(Debug, Clone)]
pub(crate) struct Opener {
    user: UserSettings,
    run_filters: bool,
}

impl Opener {
    /// An opener that adds `user`'s settings, and trusts repositories' filters if `run_filters`.
    pub(crate) fn new(user: UserSettings, run_filters: bool) -> Self {
        Self { user, run_filters }
    }

    /// Whether repositories' filters run.
    pub(crate) fn runs_filters(&self) -> bool {
        self.run_filters
    }

    /// Opens the Git directory `git_dir`, which may be a common directory or a worktree's record in it.
    ///
    /// The environment's `GIT_…` variables have no effect, nothing outside the repository is read, and unless
    /// filters were allowed the repository's own configuration counts as written by a stranger. If they were, filters are
    /// still the only programs that it can name.
    pub(crate) fn open(&self, git_dir: &Path) -> Result<gix::Repository> {
        let options = self.options().open_path_as_is(true);
        let opened =
            gix::ThreadSafeRepository::open_opts(git_dir, options).git("open the repository")?;
        let mut repository = opened.to_thread_local();
        // What the library turns on by itself comes with a licence that this project does not take.
        repository.objects.set_pack_cache(|| {
            Box::new(gix::odb::pack::cache::lru::MemoryCappedHashmap::new(
                PACK_CACHE_BYTES,
            ))
        });
        let branch = if self.user.depends_on_repository() {
            repository.head_name().ok().flatten()
        } else {
            None
        };
        let mut values = self.user.missing_in(
            repository.config_snapshot().plumbing(),
            repository.git_dir(),
            branch.as_ref().map(AsRef::as_ref),
        );
        // Pattern files that the repository names are data, so they may be read; under reduced trust the
        // library would skip them, and status would differ from Git's.
        for key in PATTERN_FILES {
            if let Some(value) = repository.config_snapshot().string(key) {
                values.push(format!("{key}={value}"));
            }
        }
        if !values.is_empty() {
            let mut config = repository.config_snapshot_mut();
            config
                .append_config(values, gix::config::Source::Api)
                .git("apply the user's settings")?;
            config.commit().git("apply the user's settings")?;
        }
        if self.run_filters {
            drop_drivers(&mut repository)?;
        }
        blank_unreadable_patterns(&mut repository)?;
        Ok(repository)
    }

    /// The options for opening.
    pub(crate) fn options(&self) -> gix::open::Options {
        let trust = if self.run_filters {
            Trust::Full
        } else {
            Trust::Reduced
        };
        let mut permissions = gix::open::Permissions::isolated();
        if self.run_filters {
            // Filters such as those of Git LFS are usually set up in the user's own configuration.
            permissions.config.user = true;
            permissions.config.git = true;
            permissions.config.system = true;
            permissions.env.home = gix::sec::Permission::Allow;
            permissions.env.xdg_config_home = gix::sec::Permission::Allow;
        }
        gix::open::Options::default()
            .permissions(permissions)
            .object_store_slots(SLOTS)
            .config_overrides(OVERRIDES)
            .with(trust)
    }
}

/// Takes back the settings that name something else than a file of patterns, which the library would read to its end.
fn blank_unreadable_patterns(repository: &mut gix::Repository) -> Result<()> {
    let step = "check the files of patterns";
    let mut blank = Vec::new();
    for key in PATTERN_FILES {
        let named = repository.config_snapshot().trusted_path(key);
        if named
            .unwrap_or_default()
            .is_some_and(|path| !pattern_file::is_usable(&path))
        {
            blank.push(format!("{key}=/dev/null"));
        }
    }
    if !blank.is_empty() {
        let mut config = repository.config_snapshot_mut();
        config
            .append_config(blank, gix::config::Source::Api)
            .git(step)?;
        config.commit().git(step)?;
    }
    Ok(())
}
