//! Contents that were just read from a repository, for the next head that is made of it.
//!
//! Heads are mostly made several at a time and of the same few commits, and reading a packed content costs more than
//! writing the file.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use gix::ObjectId;
use gix::objs::{Data, Find, Kind};

/// How many bytes are kept at most.
const MOST_BYTES: usize = 64 << 20;

/// The largest content that is kept, in bytes.
const LARGEST: usize = 64 << 10;

/// How many parts the contents are divided into, so that threads seldom wait for each other.
const PARTS: usize = 16;

/// The contents of one repository.
#[derive(Default)]
pub(crate) struct Contents {
    parts: [Mutex<Part>; PARTS],
}

#[derive(Default)]
struct Part {
    contents: HashMap<ObjectId, Arc<[u8]>>,
    bytes: usize,
}

impl Contents {
    fn part(&self, id: &gix::hash::oid) -> std::sync::MutexGuard<'_, Part> {
        let number = usize::from(id.first_byte()) % PARTS;
        self.parts[number]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, id: &gix::hash::oid) -> Option<Arc<[u8]>> {
        self.part(id).contents.get(id).map(Arc::clone)
    }

    fn keep(&self, id: &gix::hash::oid, content: &[u8]) {
        if content.len() > LARGEST {
            return;
        }
        let mut part = self.part(id);
        if part.bytes + content.len() > MOST_BYTES / PARTS {
            return;
        }
        if part
            .contents
            .insert(id.to_owned(), content.into())
            .is_none()
        {
            part.bytes += content.len();
        }
    }
}

impl fmt::Debug for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contents").finish_non_exhaustive()
    }
}

/// The contents of the repository that heads were last made of.
///
/// Those of one repository are never used for another: an id proves nothing about contents that nobody has checked.
#[derive(Debug, Default)]
pub(crate) struct LatestContents(Mutex<Option<(String, Arc<Contents>)>>);

impl LatestContents {
    /// The contents of the repository of `workspace`.
    pub(crate) fn of(&self, workspace: &str) -> Arc<Contents> {
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*latest {
            Some((owner, contents)) if owner == workspace => Arc::clone(contents),
            _ => {
                let contents = Arc::<Contents>::default();
                *latest = Some((workspace.to_owned(), Arc::clone(&contents)));
                contents
            }
        }
    }
}

/// Finds objects in a repository, and contents that were read before in memory.
#[derive(Clone)]
pub(super) struct Remembering<F> {
    pub(super) objects: F,
    pub(super) contents: Arc<Contents>,
}

impl<F: Find> Find for Remembering<F> {
    fn try_find<'a>(
        &self,
        id: &gix::hash::oid,
        buffer: &'a mut Vec<u8>,
    ) -> Result<Option<Data<'a>>, gix::Error> {
        if let Some(content) = self.contents.get(id) {
            buffer.clear();
            buffer.extend_from_slice(&content);
            return Ok(Some(Data {
                object_hash: id.kind(),
                kind: Kind::Blob,
                data: buffer,
            }));
        }
        let found = self.objects.try_find(id, buffer)?;
        if let Some(found) = &found
            && found.kind == Kind::Blob
        {
            self.contents.keep(id, found.data);
        }
        Ok(found)
    }
}
