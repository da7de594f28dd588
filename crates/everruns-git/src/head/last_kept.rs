//! Keeping the state of a head, with what is known of it from the last time.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use gix::bstr::BString;

use super::handle::Handle;
use crate::checkpoint::{self, Capture, Checkpoint};
use crate::error::{IoStep as _, Result};
use crate::objects::hold;

/// How many bytes of trees are kept while a state is captured.
const TREES_KEPT: usize = 16 << 20;

/// The state that a head was last kept in, as long as its index says that it may still be in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct LastKept(Arc<Mutex<Option<Known>>>);

#[derive(Debug, Clone)]
struct Known {
    number: u64,
    capture: Capture,
    index: Stamp,
}

impl LastKept {
    /// Forgets it: the files are about to be changed.
    pub(crate) fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Keeps the present state of the head of `handle`.
    ///
    /// With `paths`, the caller vouches that only they changed since the last time. Whatever else can be seen to have
    /// changed, such as the index, makes this look at everything nevertheless.
    pub(crate) fn checkpoint(
        &self,
        handle: &Handle,
        label: Option<&str>,
        paths: Option<&[BString]>,
    ) -> Result<Checkpoint> {
        let _lock = handle.lock()?;
        let mut worktree = handle.open()?;
        // The same trees are looked into, changed, and compared.
        worktree.object_cache_size_if_unset(TREES_KEPT);
        hold(&mut worktree);
        let (context, id) = (&handle.context, &handle.record.id);
        let index = worktree.index_path();
        let before = Stamp::of(&index)?;
        // Taken out, so that a failure leaves nothing that is vouched for.
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let known = known.filter(|known| known.index == before);
        let capture = match (paths, known) {
            (Some(paths), Some(known)) if known.is_latest(&worktree, id)? => {
                checkpoint::capture_paths(&worktree, &known.capture, paths)?
            }
            _ => None,
        };
        let capture = match capture {
            Some(capture) => capture,
            None => checkpoint::capture_with_changes(&worktree)?,
        };
        let taken = checkpoint::take_captured(context, &worktree, id, &capture, label)?;
        if Stamp::of(&index)? == before {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Known {
                number: taken.number,
                capture,
                index: before,
            });
        }
        Ok(taken)
    }
}

impl Known {
    /// Whether this is the latest checkpoint of `head`, and its commit is checked out.
    fn is_latest(&self, worktree: &gix::Repository, head: &str) -> Result<bool> {
        let newest = checkpoint::newest(worktree, head)?;
        Ok(newest.is_some_and(|(number, _)| number == self.number)
            && checkpoint::head_of(worktree)?.0 == self.capture.state.head)
    }
}

/// What tells one version of an index from the next; each is a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp(Option<[i64; 4]>);

impl Stamp {
    fn of(index: &Path) -> Result<Self> {
        match std::fs::symlink_metadata(index) {
            Ok(found) => Ok(Self(Some([
                i64::from_ne_bytes(found.ino().to_ne_bytes()),
                i64::from_ne_bytes(found.size().to_ne_bytes()),
                found.ctime(),
                found.ctime_nsec(),
            ]))),
            Err(failure) if failure.kind() == std::io::ErrorKind::NotFound => Ok(Self(None)),
            Err(failure) => Err(failure).step("look at", index),
        }
    }
}
