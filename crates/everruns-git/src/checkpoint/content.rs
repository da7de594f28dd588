//! What the changed files of a working tree become as objects.

use std::num::NonZero;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice as _};
use gix::dir::entry::Kind;
use gix::index::entry::Mode;
use gix::objs::tree::EntryKind;
use gix::odb::memory::Storage;
use gix::status::index_worktree::Item;
use gix::status::plumbing::index_as_worktree::{Change, EntryStatus};

use crate::error::{GitError, GitStep as _, Result};
use crate::files::{Files, Found};
use crate::objects::{hand_over, settle};
use crate::scan::path_of;
use crate::worktree::{conversion, store};

/// Files of more bytes than this are read one after the other: each is held in memory while it is stored.
const LARGE: u64 = 32 << 20;

/// How many files are worth a thread.
const FILES_A_THREAD: usize = 16;

/// How many bytes of files a thread holds back before it stores them.
const HELD_A_THREAD: usize = 16 << 20;

/// What becomes of the files that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// They go to the repository.
    Stored,
    /// They are held back by the repository, and forgotten with it.
    InMemory,
}

/// What each of `items` becomes, in their order, as an object of the repository of `worktree`.
pub(super) fn read_all(
    worktree: &gix::Repository,
    items: &[Item],
    keep: Keep,
) -> Result<Vec<Entry>> {
    read_each(worktree, items, keep, |reader, item| {
        reader.entry(item, path_of(item))
    })
}

/// What `read` makes of each of `items`, in their order, on as many cores as they are worth.
pub(super) fn read_each<T: Sync>(
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
    let most = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = (items.len() / FILES_A_THREAD).clamp(1, most);
    let share = items.len().div_ceil(threads).max(1);
    let mut entries = Vec::with_capacity(items.len());
    thread::scope(|scope| {
        let running: Vec<_> = items
            .chunks(share)
            .map(|items| {
                let own = worktree.clone();
                let read_some = &read_some;
                scope.spawn(move || read_some(own, items))
            })
            .collect();
        for thread in running {
            // A panic goes on where it would have come up without threads.
            let (read, held) = thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            entries.extend(read);
            hand_over(held, worktree)?;
        }
        Ok(entries)
    })
}

/// What a path becomes in the tree of the files.
pub(super) enum Entry {
    Blob(EntryKind, ObjectId),
    Gone,
    Same,
    Uncaptured(Why),
}

/// Why something is in no tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    Repository,
    Special,
    TooLarge,
    Name,
}

impl Why {
    /// What a checkpoint says of it.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Repository => "a repository of its own",
            Self::Special => "a pipe, socket or device",
            Self::TooLarge => "a file of more than 1 GiB",
            Self::Name => "its name is one that some systems take for .git",
        }
    }
}

/// Reads working files as the objects that Git would make of them.
pub(super) struct Reader<'repo> {
    worktree: &'repo gix::Repository,
    /// Held while a large file is in memory.
    large: Arc<Mutex<()>>,
    keep: Keep,
    /// How many bytes of files are held back.
    held: usize,
    files: Files,
    pipeline: gix::filter::Pipeline<'repo>,
    index: gix::worktree::IndexPersistedOrInMemory,
    executable_bit: bool,
}

impl<'repo> Reader<'repo> {
    fn new(worktree: &'repo gix::Repository, large: Arc<Mutex<()>>, keep: Keep) -> Result<Self> {
        let folder = worktree.workdir().ok_or_else(|| GitError::Unsupported {
            path: worktree.git_dir().to_owned(),
            reason: "its record names no folder",
        })?;
        let (pipeline, index) = conversion(worktree)?;
        Ok(Self {
            worktree,
            large,
            keep,
            held: 0,
            files: Files::open(folder)?,
            pipeline,
            index,
            executable_bit: worktree
                .config_snapshot()
                .boolean("core.fileMode")
                .unwrap_or(true),
        })
    }

    fn entry(&mut self, item: &Item, path: &BStr) -> Result<Entry> {
        match item {
            Item::Modification { entry, status, .. } => match status {
                EntryStatus::NeedsUpdate(_) => Ok(Entry::Same),
                EntryStatus::Change(Change::Removed) => Ok(Entry::Gone),
                EntryStatus::Change(Change::SubmoduleModification(submodule)) => {
                    Ok(match submodule.checked_out_head_id {
                        Some(id) => Entry::Blob(EntryKind::Commit, id),
                        None => Entry::Same,
                    })
                }
                _ => self.tracked(path, entry.mode),
            },
            Item::DirectoryContents { entry, .. } => match entry.disk_kind {
                Some(Kind::File | Kind::Symlink) => self.untracked(path),
                Some(Kind::Repository) => Ok(Entry::Uncaptured(Why::Repository)),
                Some(Kind::Untrackable) => Ok(Entry::Uncaptured(Why::Special)),
                Some(Kind::Directory) | None => Ok(Entry::Same),
            },
            // Renames are not looked for, so there are none.
            Item::Rewrite { .. } => Ok(Entry::Same),
        }
    }

    fn tracked(&mut self, path: &BStr, mode: Mode) -> Result<Entry> {
        match self.file(path, mode == Mode::FILE_EXECUTABLE)? {
            Entry::Same => Ok(Entry::Gone),
            entry => Ok(entry),
        }
    }

    /// What the file at `path` becomes; `was_executable` counts where files can't say it themselves.
    pub(super) fn file(&mut self, path: &BStr, was_executable: bool) -> Result<Entry> {
        let recorded = (!self.executable_bit).then_some(was_executable);
        self.read(path, recorded)
    }

    fn untracked(&mut self, path: &BStr) -> Result<Entry> {
        self.file(path, false)
    }

    /// Reads `path`; `executable` overrides what the file says where it has no say.
    fn read(&mut self, path: &BStr, executable: Option<bool>) -> Result<Entry> {
        let named_like_git = path
            .split_str("/")
            .any(|name| everruns_core::path::is_git_internal_name(&name.to_str_lossy()));
        if named_like_git {
            return Ok(Entry::Uncaptured(Why::Name));
        }
        let is_large =
            |stat: rustix::fs::Stat| u64::try_from(stat.st_size).is_ok_and(|size| size > LARGE);
        let large = Arc::clone(&self.large);
        let _alone = self
            .files
            .stat(path)?
            .is_some_and(is_large)
            .then(|| large.lock().unwrap_or_else(PoisonError::into_inner));
        match self.files.read(path)? {
            Found::Link(target) => {
                let id = self.worktree.write_blob(&target).git("store a link")?;
                Ok(Entry::Blob(EntryKind::Link, id.detach()))
            }
            Found::File {
                content,
                executable: found,
            } => {
                let (pipeline, index) = (&mut self.pipeline, &self.index);
                let id = store(self.worktree, pipeline, index, path, &content)?;
                self.hold(content.len())?;
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
        self.held += bytes;
        if self.held > HELD_A_THREAD && self.keep == Keep::Stored {
            self.held = 0;
            settle(self.worktree)?;
        }
        Ok(())
    }
}
