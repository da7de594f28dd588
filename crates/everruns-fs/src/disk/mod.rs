//! Files on disk, contained by the kernel.
//!
//! A [`DiskFileSystem`] holds its top folder as a descriptor and opens everything relative to it, so that no
//! path, link or swap of folders leads outside. Two ways of resolving a path do the same:
//!
//! * **Kernel**: one `openat2` call with `RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS`. When the
//!   kernel meets a link, the walk below takes over, because only it can tell that a link leads into `.git`.
//! * **Walk**: component by component, each opened relative to the one before without following links; links
//!   are read and followed by hand, at most 40 of them, and `..` in a link goes back to a folder that the
//!   walk itself came through, never above the top. A link to an absolute path leaves the tree.
//!
//! Reading and looking first ask for what the kernel has in memory, without waiting and on the task itself; only
//! what needs a disk goes to a thread that may block.
//!
//! A disk that takes several spellings for one name, such as one that ignores case, is found out. There every path
//! resolves to the names that are stored, so that policies and locks decide about those.
//!
//! # Writing
//!
//! A write puts the new bytes into a temporary file beside the target, flushes it, checks the precondition
//! under a lock that every process of ours respects, renames, and flushes the folder. The name of the
//! temporary file is noted in the lock file first; whoever takes that lock after a crash, or opens the tree,
//! removes what was left behind. Temporary files are in no listing and no search.
//!
//! The lock does not bind programs of others. Against them, `Absent` is decided by the kernel
//! (`RENAME_NOREPLACE`), and `Matches` by exchanging the two files, looking at what was displaced, and
//! exchanging back when it is not what was expected. On a file system without these two calls the check
//! happens just before the rename, and an outside write in between is lost. A file that is removed under a
//! precondition is moved aside and looked at likewise. A move onto a file of one version gives the moving file a second
//! name, exchanges that with the target in the same way, and removes the first name last; where there are no hard links
//! it is a plain rename after the check. Bytes that an outside program
//! writes through a descriptor that it opened before the rename go to the replaced file, as with any editor.
//!
//! A link is made under a temporary name and put in place in the same way. Its text is kept byte for byte; one that leaves
//! the tree from the folder in which the link lies is refused.
//!
//! Permissions and, where we may, the owner of a replaced file are kept; access-control lists and extended
//! attributes are not.

mod blocking;
mod cached;
mod call;
mod commit;
mod create_dir;
mod direct;
mod errors;
mod existing;
mod file_system;
mod flags;
mod folding;
mod identity;
mod intent;
mod kind;
mod link;
mod list;
mod lock;
mod names;
mod options;
mod proof;
mod read;
mod remove;
mod remove_folder;
mod rename;
mod replacing;
mod resolve;
mod root;
mod search;
mod stat;
mod temporary;
mod tree;
mod walk;
mod write;

pub(crate) use blocking::blocking;
pub use file_system::DiskFileSystem;
pub use names::is_temporary_name;
pub use options::{DiskOptions, Resolution};
