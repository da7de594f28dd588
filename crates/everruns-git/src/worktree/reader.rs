//! Reading files of a working tree as the objects that Git would make of them.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice as _};
use gix::index::entry::{Flags, Mode};
use gix::objs::Write as _;
use gix::objs::tree::EntryKind;
use gix::odb::memory::Storage;

use super::conversion::{conversion, convert};
use crate::error::{GitError, GitStep as _, Result};
use crate::files::{Files, Found, Recent};
use crate::objects::{Stored, hand_over, is_no_name_of_a_link, settle};
use crate::threads::share_out;

/// Files of more bytes than this are read one after the other: each is held in memory while it is stored.
const LARGE: u64 = 32 << 20;

/// How many files are worth a thread.
const FILES_A_THREAD: usize = 16;

/// How many bytes of files a thread holds back before it stores them.
const HELD_A_THREAD: usize = 32 << 20;

/// The largest file that is held back, in bytes: a larger one is worth an object of its own.
const LARGEST_HELD: usize = 1 << 20;

/// Whether the repository is known to have an object.
type IsThere<'a> = &'a dyn Fn(ObjectId) -> bool;

/// What becomes of the files that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// They go to the repository, which holds them back.
    Stored,
    /// They are held back by the repository, and forgotten with it.
    InMemory,
    /// Only their ids are wanted.
    Nowhere,
}

/// What `read` makes of each of `items`, in their order, on as many cores as they are worth.
pub(crate) fn read_each<T: Sync>(
    worktree: &gix::Repository,
    items: &[T],
    keep: Keep,
    read: impl Fn(&mut Reader<'_>, &T) -> Result<Entry> + Sync,
) -> Result<Vec<Entry>> {
    let large = Arc::<Mutex<()>>::default();
    let read_some = |mut own: gix::Repository, items: &[T]| -> Result<_> {
        own.objects.set_object_memory(Storage::default());
        let mut reader = Reader::new(&own, Arc::clone(&large), keep)?;
        let entries: Vec<Entry> = items
            .iter()
            .map(|item| read(&mut reader, item))
            .collect::<Result<_>>()?;
        Ok((entries, own.objects.reset_object_memory()))
    };
    let mut entries = Vec::with_capacity(items.len());
    for (read, held) in share_out(items, FILES_A_THREAD, || worktree.clone(), read_some)? {
        entries.extend(read);
        hand_over(&held.unwrap_or_default(), worktree)?;
    }
    Ok(entries)
}

/// What a path becomes in the tree of the files.
pub(crate) enum Entry {
    Blob(EntryKind, ObjectId),
    Gone,
    Same,
    Uncaptured(Why),
}

/// Why something is in no tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    Repository,
    Special,
    TooLarge,
    Name,
    Unreadable,
}

impl Why {
    /// What a checkpoint says of it.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::Repository => "a repository of its own",
            Self::Special => "a pipe, socket or device",
            Self::TooLarge => "a file of more than 1 GiB",
            Self::Name => "its name is one that some systems take for .git",
            Self::Unreadable => "it can't be read: permission denied",
        }
    }
}

/// Reads working files as the objects that Git would make of them.
pub(crate) struct Reader<'repo> {
    worktree: &'repo gix::Repository,
    /// Held while a large file is in memory.
    large: Arc<Mutex<()>>,
    keep: Keep,
    /// How many bytes of files are held back.
    held: usize,
    files: Files,
    recent: Option<Recent>,
    pipeline: gix::filter::Pipeline<'repo>,
    index: gix::worktree::IndexPersistedOrInMemory,
    executable_bit: bool,
    symlinks: bool,
}

impl<'repo> Reader<'repo> {
    fn new(worktree: &'repo gix::Repository, large: Arc<Mutex<()>>, keep: Keep) -> Result<Self> {
        let folder = worktree.workdir().ok_or_else(|| GitError::Unsupported {
            path: worktree.git_dir().to_owned(),
            reason: "its record names no folder",
        })?;
        let (pipeline, index) = conversion(worktree)?;
        let capabilities = worktree
            .filesystem_options()
            .git("prepare the reading of files")?;
        Ok(Self {
            worktree,
            large,
            keep,
            held: 0,
            files: Files::open(folder)?,
            recent: None,
            pipeline,
            index,
            executable_bit: capabilities.executable_bit,
            symlinks: capabilities.symlink,
        })
    }

    /// What the path of the index entry `known` becomes.
    pub(crate) fn tracked(&mut self, path: &BStr, known: &gix::index::Entry) -> Result<Entry> {
        // An announced file has no content in the index.
        let is_there = |id| id == known.id && !known.flags.contains(Flags::INTENT_TO_ADD);
        match self.file(path, known.mode == Mode::FILE_EXECUTABLE, &is_there)? {
            Entry::Same => Ok(Entry::Gone),
            // A file that was only touched is the one that is stored.
            Entry::Uncaptured(Why::TooLarge) if self.is_unchanged(path, known.id)? => {
                let kind = if known.mode == Mode::FILE_EXECUTABLE {
                    EntryKind::BlobExecutable
                } else {
                    EntryKind::Blob
                };
                Ok(Entry::Blob(kind, known.id))
            }
            // Where there are no links, files hold their targets.
            Entry::Blob(EntryKind::Blob, _) if known.mode == Mode::SYMLINK && !self.symlinks => {
                self.link_in_a_file(path)
            }
            entry => Ok(entry),
        }
    }

    /// Whether the file at `path`, however large, has the content `id`, as it is.
    fn is_unchanged(&self, path: &BStr, id: ObjectId) -> Result<bool> {
        let Some(mut opened) = self.files.open_file(path)? else {
            return Ok(false);
        };
        let found = gix::objs::compute_stream_hash(
            self.worktree.object_hash(),
            gix::objs::Kind::Blob,
            &mut opened.file,
            opened.bytes,
            &mut gix::progress::Discard,
            &AtomicBool::new(false),
        );
        Ok(found.git("hash a file")? == id)
    }

    fn link_in_a_file(&mut self, path: &BStr) -> Result<Entry> {
        match self.files.read(path)? {
            Found::File { content, .. } => Ok(Entry::Blob(
                EntryKind::Link,
                keep(self.worktree, self.keep, &content, &|_| false)?,
            )),
            _ => Ok(Entry::Same),
        }
    }

    /// What the file at `path` becomes; `was_executable` counts where files can't say it themselves.
    pub(crate) fn file(
        &mut self,
        path: &BStr,
        was_executable: bool,
        is_there: IsThere<'_>,
    ) -> Result<Entry> {
        let recorded = (!self.executable_bit).then_some(was_executable);
        self.read(path, recorded, is_there)
    }

    /// Reads `path`; `executable` overrides what the file says where it has no say.
    fn read(
        &mut self,
        path: &BStr,
        executable: Option<bool>,
        is_there: IsThere<'_>,
    ) -> Result<Entry> {
        let named_like_git = path
            .split_str("/")
            .any(|name| everruns_core::path::is_git_internal_name(&name.to_str_lossy()));
        if named_like_git {
            return Ok(Entry::Uncaptured(Why::Name));
        }
        let large = Arc::clone(&self.large);
        let alone = |stat: &rustix::fs::Stat| {
            let is_large = u64::try_from(stat.st_size).is_ok_and(|size| size > LARGE);
            is_large.then(|| large.lock().unwrap_or_else(PoisonError::into_inner))
        };
        let (found, _alone) = match self.files.read_after(&mut self.recent, path, alone) {
            Err(failure) if failure.is_denied() => {
                return Ok(Entry::Uncaptured(Why::Unreadable));
            }
            read => read?,
        };
        match found {
            Found::Link(_) if is_no_name_of_a_link(path) => Ok(Entry::Uncaptured(Why::Name)),
            Found::Link(target) => Ok(Entry::Blob(
                EntryKind::Link,
                keep(self.worktree, self.keep, &target, is_there)?,
            )),
            Found::File {
                content,
                executable: found,
            } => {
                let (pipeline, index) = (&mut self.pipeline, &self.index);
                let converted = convert(self.worktree, pipeline, index, path, &content)?;
                let id = keep(self.worktree, self.keep, &converted, is_there)?;
                let held = converted.len();
                self.hold(held)?;
                let kind = if executable.unwrap_or(found) {
                    EntryKind::BlobExecutable
                } else {
                    EntryKind::Blob
                };
                Ok(Entry::Blob(kind, id))
            }
            Found::TooLarge => Ok(Entry::Uncaptured(Why::TooLarge)),
            Found::Special => Ok(Entry::Uncaptured(Why::Special)),
            Found::Folder | Found::Nothing => Ok(Entry::Same),
        }
    }

    /// Counts `bytes` that are held back now, and stores what is when it has become much.
    fn hold(&mut self, bytes: usize) -> Result<()> {
        if bytes <= LARGEST_HELD {
            self.held += bytes;
        }
        if self.held > HELD_A_THREAD && self.keep == Keep::Stored {
            self.held = 0;
            settle(self.worktree, Stored::Unknown)?;
        }
        Ok(())
    }
}

/// The id of `content`, which is kept as is wanted. What is large isn't worth holding back.
fn keep(
    worktree: &gix::Repository,
    keep: Keep,
    content: &[u8],
    is_there: IsThere<'_>,
) -> Result<ObjectId> {
    let (step, kind) = ("store a file", gix::objs::Kind::Blob);
    let hash = || gix::objs::compute_hash(worktree.object_hash(), kind, content).git(step);
    match keep {
        Keep::Nowhere => hash(),
        Keep::InMemory => Ok(worktree.write_blob(content).git(step)?.detach()),
        Keep::Stored => {
            let id = hash()?;
            if is_there(id) {
                return Ok(id);
            }
            if content.len() <= LARGEST_HELD {
                // Whether the repository has it already is asked when it is stored.
                return worktree
                    .objects
                    .write_buf_with_known_id(kind, content, id)
                    .git(step);
            }
            if !worktree.objects.exists_without_refresh(&id) {
                // The database itself, below what is held in memory.
                (*worktree.objects)
                    .write_buf_with_known_id(kind, content, id)
                    .git(step)?;
            }
            Ok(id)
        }
    }
}
