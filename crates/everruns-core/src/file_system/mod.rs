//! The one way to a head's bytes: [`SessionFileSystem`].

mod content;
mod entry;
mod entry_identity;
mod error;
mod error_paths;
mod ext;
mod file_mode;
mod link_target;
mod permissions;
mod precondition;
mod search;
mod session_file_system;

pub use content::{ContentVersion, FileContent, ReadRange, VersionError};
pub use entry::{DirectoryEntry, DirectoryPage, FileKind, FileStat, Hidden, PageRequest};
pub use entry_identity::{EntryIdentity, TreeIdentity};
pub use error::{FileAccess, FileSystemError};
pub use ext::SessionFileSystemExt;
pub use file_mode::{EntrySupport, FileMode};
pub use link_target::{LinkTarget, LinkTargetError, MAX_LINK_BYTES};
pub use permissions::Permissions;
pub use precondition::{LastLink, Precondition, Removal, Replace};
pub use search::{
    GrepQuery, GrepShow, PathFilter, SearchEvent, SearchLimits, SearchQuery, SearchStream,
    SearchSummary, SearchTarget, Truncation,
};
pub use session_file_system::SessionFileSystem;
