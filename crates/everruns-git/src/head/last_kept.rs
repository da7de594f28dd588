//! Keeping the state of a head, with what is known of it from the last time.

use std::collections::HashSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use gix::ObjectId;
use gix::bstr::BString;
use gix::objs::CommitRefIter;
use gix::odb::memory::Storage;

use super::handle::Handle;
use crate::checkpoint::{self, Capture, Checkpoint, Taken};
use crate::error::{GitStep as _, IoStep as _, Result};
use crate::objects::Stored;

/// How many bytes of trees are kept while a state is captured.
const TREES_KEPT: usize = 16 << 20;

/// How many bytes of trees of the commit are kept from one capture to the next.
const MOST_READ: usize = 1 << 20;

/// The state that a head was last kept in, as long as its index says that it may still be in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct LastKept(Arc<Mutex<Option<Known>>>);

#[derive(Debug, Clone)]
struct Known {
    number: u64,
    id: ObjectId,
    capture: Capture,
    index: Stamp,
    /// Trees of the state and commits that lead to it: what the next capture reads first.
    objects: Storage,
    /// What is stored as long as the checkpoint's reference is there.
    stored: HashSet<ObjectId>,
}

impl LastKept {
    /// Forgets it: the files are about to be changed, or nobody uses the head.
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
        let (context, id) = (&handle.context, &handle.record.id);
        let index = worktree.index_path();
        let before = Stamp::of(&index)?;
        // Taken out, so that a failure leaves nothing that is vouched for.
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let known = match known.filter(|known| known.index == before) {
            Some(known) => {
                worktree.objects.set_object_memory(known.objects.clone());
                known.is_latest(&worktree, id)?.then_some(known)
            }
            None => None,
        };
        if known.is_none() {
            worktree.objects.set_object_memory(Storage::default());
        }
        let of_paths = match (paths, &known) {
            (Some(paths), Some(known)) => {
                checkpoint::capture_paths(&worktree, &known.capture, paths)?
            }
            _ => None,
        };
        let capture = match of_paths {
            Some(capture) => capture,
            None => checkpoint::capture_with_changes(&worktree)?,
        };
        let stored = match &known {
            Some(known) => known.stored(&capture),
            None => Stored::Unknown,
        };
        let taken = checkpoint::take_captured(context, &worktree, id, &capture, label, stored)?;
        let checkpoint = taken.checkpoint.clone();
        // It is taken; what can't be remembered of it only makes the next one slower.
        match remembered(taken, capture, known, &worktree, before) {
            Ok(known) => *self.0.lock().unwrap_or_else(PoisonError::into_inner) = known,
            Err(failure) => {
                tracing::debug!(error = %failure, "nothing is remembered of a checkpoint");
            }
        }
        Ok(checkpoint)
    }
}

/// What is known after `capture` was kept; nothing if the index is not `before` any more.
fn remembered(
    taken: Taken,
    mut capture: Capture,
    known: Option<Known>,
    worktree: &gix::Repository,
    before: Stamp,
) -> Result<Option<Known>> {
    if Stamp::of(&worktree.index_path())? != before {
        return Ok(None);
    }
    let (number, id) = (taken.checkpoint.number, taken.checkpoint.id);
    let objects = objects_of(taken, &mut capture, known.as_ref(), worktree)?;
    if let Some(known) = known.filter(|known| known.is_of(&capture))
        && capture.is_whole
    {
        capture.learned = known.capture.learned;
    }
    let made = capture.material.made.iter();
    Ok(Some(Known {
        number,
        id,
        stored: made.chain(objects.keys()).copied().collect(),
        capture,
        index: before,
        objects,
    }))
}

/// What the capture after `capture` reads first: its trees, and the commits that lead to them.
///
/// They are all reached from the checkpoint's reference, so that none of them goes away while that stands.
fn objects_of(
    taken: Taken,
    capture: &mut Capture,
    known: Option<&Known>,
    worktree: &gix::Repository,
) -> Result<Storage> {
    let read = std::mem::take(&mut capture.material.read);
    // Where objects stand for others, what was read under a name need not be what has it.
    let step = "look for replaced objects";
    let references = worktree.references().git(step)?;
    if references
        .prefixed("refs/replace/")
        .git(step)?
        .next()
        .is_some()
    {
        return Ok(Storage::default());
    }
    if let Some(known) = known.filter(|known| known.id == taken.checkpoint.id) {
        return Ok(known.objects.clone());
    }
    let mut objects = taken.objects;
    let commits = with_parents(taken.checkpoint.id, &objects);
    objects.retain(|id, _| capture.material.made.contains(id) || commits.contains(id));
    let head = capture.state.head;
    if !head.is_null() && !objects.contains_key(&head) {
        let mut commit = worktree.find_object(head).git("read HEAD")?;
        objects.insert(head, (commit.kind, std::mem::take(&mut commit.data)));
    }
    // A look at everything begins with the trees of the commit and the index.
    let read_bytes: usize = read.values().map(|(_, data)| data.len()).sum();
    if capture.is_whole && read_bytes < MOST_READ {
        objects.extend(read.iter().map(|(id, object)| (*id, object.clone())));
    }
    Ok(objects)
}

/// The commit `id` and its parents, as far as `objects` tell.
fn with_parents(id: ObjectId, objects: &Storage) -> Vec<ObjectId> {
    let commit = objects.get(&id).map(|(_, data)| data.as_slice());
    let commit = commit.map(|data| CommitRefIter::from_bytes(data, id.kind()));
    let parents = commit.into_iter().flat_map(CommitRefIter::parent_ids);
    std::iter::once(id).chain(parents).collect()
}

impl Known {
    /// Whether this is the latest checkpoint of `head`, and its commit is checked out.
    fn is_latest(&self, worktree: &gix::Repository, head: &str) -> Result<bool> {
        let newest = checkpoint::newest(worktree, head)?;
        Ok(newest == Some((self.number, self.id))
            && checkpoint::head_of(worktree)?.0 == self.capture.state.head)
    }

    /// Whether `capture` builds on the same commit.
    fn is_of(&self, capture: &Capture) -> bool {
        capture.state.head == self.capture.state.head
    }

    /// What of `capture` is stored: what the last one was made of, which the reference keeps. Most of what else it needs is
    /// new, unless the last one didn't look at everything; the rest may be stored twice.
    fn stored<'a>(&'a self, capture: &'a Capture) -> Stored<'a> {
        if capture.is_whole && !self.capture.is_whole {
            return Stored::Known(&self.stored);
        }
        Stored::These {
            known: &self.stored,
            unsure: &capture.new_paths,
        }
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
