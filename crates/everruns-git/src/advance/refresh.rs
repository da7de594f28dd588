//! What an index knows of its entries' files.

use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use gix::index::entry::{Mode, Stage, Stat};

use super::content::Contents;
use crate::error::{GitStep as _, Result};
use crate::files::Files;
use crate::index::{self, IndexLock};

/// How old a change to a file has to be, in milliseconds, to be told from the next one by its time.
const SETTLED_AFTER: u64 = 100;

/// Looks at the files of entries of which the index of `worktree` knows nothing yet, so that later comparisons need
/// not read them. What is known already costs nothing.
///
/// A file changed just now is left for the next time: it could be changed again within the same tick of the clock.
pub(crate) fn refresh(
    worktree: &gix::Repository,
    folder: &Path,
    now_millis: i64,
    tree: gix::ObjectId,
) -> Result<()> {
    let lock = IndexLock::take(&worktree.index_path())?;
    let read = worktree.index_or_empty().git("read the index")?;
    let mut own = (**read).clone();
    index::forget_the_young(&mut own, folder);
    let now = u64::try_from(now_millis).unwrap_or(0);
    let young = UNIX_EPOCH + Duration::from_millis(now.saturating_sub(SETTLED_AFTER));
    let settled = |stat: &Stat| {
        UNIX_EPOCH + Duration::new(u64::from(stat.mtime.secs), stat.mtime.nsecs) < young
    };
    let mut contents = Contents::new(worktree, Files::open(folder)?)?;
    let mut changed = false;
    for (entry, path) in own.entries_mut_with_paths() {
        let unknown = entry.stat == Stat::default()
            && entry.stage() == Stage::Unconflicted
            && entry.mode != Mode::COMMIT;
        if !unknown {
            continue;
        }
        let native = folder.join(gix::path::from_bstr(path).git("convert a path")?);
        // The look comes before the reading: a change in between leaves an older time than the file then has.
        let found = gix::index::fs::Metadata::from_path_no_follow(&native);
        let Some(stat) = found.ok().and_then(|found| Stat::from_fs(&found).ok()) else {
            continue;
        };
        if settled(&stat)
            && let Some(mode) = entry.mode.to_tree_entry_mode()
            && contents.is(path, Some((mode.kind(), entry.id)))?
        {
            entry.stat = stat;
            changed = true;
        }
    }
    if !changed {
        return Ok(());
    }
    let exact = super::index::is_exactly(worktree, &own, tree)?;
    index::replace(&lock, worktree, &own, exact.then_some(tree))
}
