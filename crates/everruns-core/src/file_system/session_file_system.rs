use std::fmt::Debug;
use std::path::PathBuf;

use async_trait::async_trait;
use bytes::Bytes;

use super::{
    ContentVersion, DirectoryPage, EntryIdentity, EntrySupport, FileContent, FileMode, FileStat,
    FileSystemError, LastLink, LinkTarget, PageRequest, Permissions, Precondition, ReadRange,
    Removal, Replace, SearchQuery, SearchStream,
};
use crate::path::WorkspacePath;

/// The files of one head, or a wrapper around them.
///
/// # What every implementation guarantees
///
/// * **Containment.** No call reads, writes, lists or creates anything outside the tree, whatever links are
///   in it and whoever changes them meanwhile. A link that leaves the tree is
///   [`Escapes`](FileSystemError::Escapes); one that stays inside works, and stays a link when its target is
///   written. `.git` in any spelling is no part of the tree
///   ([`GitInternal`](FileSystemError::GitInternal)). FIFOs, sockets and devices are refused without
///   blocking ([`NotAFile`](FileSystemError::NotAFile)).
/// * **Whole versions.** A reader sees the bytes before a write or after it, never a mixture; the version it
///   gets is the hash of the whole file's bytes. A file that another program keeps rewriting in place, so that no whole
///   version of it can be read, is an `Io` that is [retryable](FileSystemError::is_retryable).
/// * **Durability.** When a change returns, it is on stable storage as far as the implementation has one. A disk that
///   fails in the last moment, when the change is made but not yet known to last, is
///   [`NotFlushed`](FileSystemError::NotFlushed); one that displaced what another program had just saved, and could not
///   put it back, is [`NotPutBack`](FileSystemError::NotPutBack). Every other error of a change that is atomic says that
///   it was not made.
/// * **Cancellation.** Dropping a future leaves either the state before the call or the state after it, no
///   lock held and no temporary file that a later call would see. The state after it may come a moment later: a call that
///   takes several steps, such as a move between two trees, goes on to its end. A recursive removal may stop where it is.
/// * **Bounds.** Files over the implementation's limit are [`TooLarge`](FileSystemError::TooLarge); listings
///   come in pages and searches as bounded streams.
///
/// Bytes go in and out; encodings are the caller's affair. Paths that reach an implementation for a single
/// tree lie below [`Mount::Head`](crate::path::Mount::Head).
///
/// Wrappers forward every method on purpose and keep these guarantees; the conformance suite in
/// `everruns-testkit` runs on implementations and wrappers alike. Conveniences are in
/// [`SessionFileSystemExt`](super::SessionFileSystemExt).
#[async_trait]
pub trait SessionFileSystem: Send + Sync + Debug {
    /// Reads `range` (in bytes) of the file at `path`, following links that stay inside.
    ///
    /// The version covers the whole file even when the range does not. A range that starts at or after
    /// the end gives no bytes.
    ///
    /// # Errors
    /// `NotFound`, `NotAFile`, `Escapes`, `LinkLoop`, `GitInternal`, `Denied`, `TooLarge`, `Io`.
    async fn read(
        &self,
        path: &WorkspacePath,
        range: ReadRange,
    ) -> Result<FileContent, FileSystemError>;

    /// Replaces the whole content of the file at `path`, or creates it with its missing folders.
    ///
    /// Atomic: on an error but `NotFlushed` and `NotPutBack` nothing has changed, missing folders aside. The mode of an existing file is kept. A
    /// partner of a hard link keeps its bytes. Returns the version of what was written.
    ///
    /// # Errors
    /// `Conflict` with the current version when `precondition` does not hold; `NotAFile` for a folder or
    /// special file; `Escapes` (also for a dangling link), `GitInternal`, `Denied`, `ReadOnly`,
    /// `TooLarge`, `NoSpace`, `Io`; and `NotFlushed` or `NotPutBack` when it was made all the same.
    async fn write(
        &self,
        path: &WorkspacePath,
        bytes: Bytes,
        precondition: Precondition,
    ) -> Result<ContentVersion, FileSystemError>;

    /// Removes the entry at `path`; a link itself, never its target.
    ///
    /// [`Removal::Entry`] removes a file, a link or an empty folder, atomically. [`Removal::Recursive`] removes
    /// a folder with all below it, one entry after the other: cancelled or failed, the rest is still there.
    /// A precondition other than `Any` needs a file.
    ///
    /// # Errors
    /// `NotFound`, `DirectoryNotEmpty`, `Conflict`, `GitInternal`, `Denied`, `ReadOnly`, `InvalidOperation` for
    /// the top folder, `Io`; and `NotFlushed` or `NotPutBack` when it was made all the same.
    async fn remove(
        &self,
        path: &WorkspacePath,
        removal: Removal,
        precondition: Precondition,
    ) -> Result<(), FileSystemError>;

    /// Moves the entry `from` (a link itself, not its target) to `to`, creating missing folders of `to`.
    ///
    /// Atomic within one tree. [`Replace::Never`] refuses an existing `to`; [`Replace::File`] replaces a file or
    /// link by a file or link, but between two trees no link by a file, which would take two steps (`NotAFile`);
    /// [`Replace::Matches`] replaces a file only as long as it has that version, which is decided as for a `write`. Folders are never replaced. Two names of one file become one.
    ///
    /// # Errors
    /// `NotFound`, `AlreadyExists`, `NotAFile`, `Conflict` with the path and the current version of `to`, `GitInternal`,
    /// `Denied`, `ReadOnly`, `InvalidOperation` when a folder would move into itself, `Io`; `Path` when something in a folder
    /// would get a path that is too long, where the tree or the move looks at all of it; `PartialMove` when both are there,
    /// and `PartialCopy` when a part of a copy is; and `NotFlushed`, with the path `to`, or `NotPutBack`, when it was made
    /// all the same.
    async fn rename(
        &self,
        from: &WorkspacePath,
        to: &WorkspacePath,
        replace: Replace,
    ) -> Result<(), FileSystemError>;

    /// As [`write`](Self::write), and sets the mode of the file in the same step: no reader sees the new bytes with the old
    /// mode. [`FileMode::Kept`] is a plain `write`, which is what the default does with it.
    ///
    /// # Errors
    /// As [`write`](Self::write); `Unsupported` where the tree does not [hold](Self::supports) executable files, which
    /// is what the default answers to any other mode, and then nothing was changed.
    async fn write_with_mode(
        &self,
        path: &WorkspacePath,
        bytes: Bytes,
        mode: FileMode,
        precondition: Precondition,
    ) -> Result<ContentVersion, FileSystemError> {
        match mode {
            FileMode::Kept => self.write(path, bytes, precondition).await,
            FileMode::Plain | FileMode::Executable | FileMode::Exact(_) => {
                Err(FileSystemError::Unsupported {
                    path: path.clone(),
                    what: "executable files",
                })
            }
        }
    }

    /// Makes a symbolic link at `path`, with its missing folders, that says `target` byte for byte.
    ///
    /// Atomic: on an error but `NotFlushed` and `NotPutBack` nothing has changed, missing folders aside. What is there
    /// is replaced as a [`rename`](Self::rename) of a link would: a link itself, not its target. A text that is
    /// absolute, or that leaves the tree from the folder in which the link really lies, is refused; it may lead nowhere.
    /// A link gives no access that its target does not: who goes through it is judged at what it resolves to, then.
    ///
    /// # Errors
    /// `Escapes` and `GitInternal` for such a text as for such a path; `AlreadyExists`, `NotAFile`, `Conflict`, `Denied`,
    /// `ReadOnly`, `NoSpace`, `Io`, `NotFlushed`, `NotPutBack` as for a `rename`; `Unsupported` where the tree does not
    /// [hold](Self::supports) links, which is what the default answers, and then nothing was changed.
    async fn create_link(
        &self,
        path: &WorkspacePath,
        target: &LinkTarget,
        replace: Replace,
    ) -> Result<(), FileSystemError> {
        let _ = (target, replace);
        Err(FileSystemError::Unsupported {
            path: path.clone(),
            what: "symbolic links",
        })
    }

    /// The text of the link at `path` itself, byte for byte.
    ///
    /// # Errors
    /// `InvalidOperation` when there is something else; `NotFound`, `Escapes`, `LinkLoop`, `GitInternal`, `Denied`, `Io`;
    /// `Unsupported` where the tree does not [hold](Self::supports) links, which is what the default answers.
    async fn read_link(&self, path: &WorkspacePath) -> Result<LinkTarget, FileSystemError> {
        Err(FileSystemError::Unsupported {
            path: path.clone(),
            what: "symbolic links",
        })
    }

    /// Makes a folder and its missing parents; an existing folder is no error.
    ///
    /// # Errors
    /// `NotADirectory` when a file is in the way, `Escapes`, `GitInternal`, `Denied`, `ReadOnly`, `NoSpace`, `Io`;
    /// and `NotFlushed` when it was made all the same.
    async fn create_dir(&self, path: &WorkspacePath) -> Result<(), FileSystemError>;

    /// As [`create_dir`](Self::create_dir), and a folder that is made at `path` allows nobody more than `permissions`, apart
    /// from its owner, who may do all. The missing parents are made as by `create_dir`.
    ///
    /// The default is `create_dir`, for a tree that has no permission bits.
    ///
    /// # Errors
    /// As [`create_dir`](Self::create_dir).
    async fn create_dir_within(
        &self,
        path: &WorkspacePath,
        permissions: Permissions,
    ) -> Result<(), FileSystemError> {
        let _ = permissions;
        self.create_dir(path).await
    }

    /// Tells about the entry at `path` itself: a link is reported as a link.
    ///
    /// # Errors
    /// `NotFound`, `Escapes`, `LinkLoop`, `GitInternal`, `Denied`, `Io`.
    async fn stat(&self, path: &WorkspacePath) -> Result<FileStat, FileSystemError>;

    /// One page of the entries of a folder, sorted by name in byte order.
    ///
    /// Entries made or removed between two pages may or may not show up; others show up exactly once.
    /// Names that are not Unicode are in [`DirectoryPage::unrepresentable`], escaped.
    ///
    /// # Errors
    /// `NotFound`, `NotADirectory`, `Escapes`, `LinkLoop`, `GitInternal`, `Denied`, `Io`.
    async fn list(
        &self,
        dir: &WorkspacePath,
        page: PageRequest,
    ) -> Result<DirectoryPage, FileSystemError>;

    /// Finds paths or lines; results come as a stream that ends with one summary.
    ///
    /// Dropping the stream stops the search. Links are not followed. Files that
    /// [`SearchQuery::filter`] refuses are not opened.
    ///
    /// # Errors
    /// `InvalidPattern` at once; `NotFound`, `NotADirectory` for the folder searched; later errors come
    /// in the stream.
    async fn search(&self, query: SearchQuery) -> Result<SearchStream, FileSystemError>;

    /// The path under which the tree itself keeps the entry at `path`: links on the way followed, names
    /// spelled as they are stored. A rule about paths, such as a policy, holds of this path as well as of the
    /// one asked for, so that neither a link nor another spelling evades it.
    ///
    /// Of a path that does not exist, the part that exists is resolved and the rest is kept as given, so a
    /// path without links and other spellings resolves to itself. The result tells of this moment only: whoever
    /// changes links in the tree can make it untrue.
    ///
    /// # Errors
    /// `NotFound` for a link that is followed and whose target does not exist; `Escapes`, `LinkLoop`,
    /// `NotADirectory`, `GitInternal`, `Denied`, `Io`.
    async fn resolve(
        &self,
        path: &WorkspacePath,
        last: LastLink,
    ) -> Result<WorkspacePath, FileSystemError>;

    /// Which entry `path` leads to, so that two paths, of this tree or of two trees, are known to lead to one: a move
    /// between mounts must not copy a file over itself and then remove it.
    ///
    /// `None` says that it cannot be told, which is the default. Between two trees of which one cannot tell, a move does
    /// not replace what could be the same entry, and a folder that moves into itself stops half way
    /// ([`PartialMove`](FileSystemError::PartialMove)) without loss.
    ///
    /// # Errors
    /// `NotFound` when nothing is there; else as [`resolve`](Self::resolve).
    async fn identity(
        &self,
        path: &WorkspacePath,
        last: LastLink,
    ) -> Result<Option<EntryIdentity>, FileSystemError> {
        let _ = (path, last);
        Ok(None)
    }

    /// As [`read`](Self::read), but only when `path` is the path under which the tree itself keeps the file: no link
    /// is on the way, and `resolve` would give `path` back.
    ///
    /// What a rule said about `path` then holds of exactly the bytes that are read, whoever changes links
    /// meanwhile, and it costs no `resolve`. `None` says that this is not so, or cannot be told at once; the
    /// caller then resolves and reads. That is what an implementation that can tell nothing always says, and the
    /// default.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    async fn read_direct(
        &self,
        path: &WorkspacePath,
        range: ReadRange,
    ) -> Result<Option<FileContent>, FileSystemError> {
        let _ = (path, range);
        Ok(None)
    }

    /// As [`stat`](Self::stat), but only when no link is on the way to the entry, which may itself be one; see
    /// [`read_direct`](Self::read_direct).
    ///
    /// # Errors
    /// As [`stat`](Self::stat).
    async fn stat_direct(&self, path: &WorkspacePath) -> Result<Option<FileStat>, FileSystemError> {
        let _ = path;
        Ok(None)
    }

    /// What the tree that serves `path` can hold. Does no I/O; whether one entry can be made is told by making it.
    ///
    /// By default folders and plain files alone, so that a wrapper that does not forward this promises nothing.
    fn supports(&self, path: &WorkspacePath) -> EntrySupport {
        let _ = path;
        EntrySupport::NONE
    }

    /// Where a process on this host would find `path`, when anywhere. Does no I/O and proves nothing
    /// about containment: only a compute that confines its processes may use it.
    fn host_path(&self, path: &WorkspacePath) -> Option<PathBuf>;
}
