//! What looks at single paths found out, and the next ones need not look up again.

use std::collections::{HashMap, HashSet};

use gix::ObjectId;
use gix::bstr::BString;
use gix::objs::tree::EntryKind;

/// An entry of a tree.
pub(super) type TreeEntry = Option<(EntryKind, ObjectId)>;

/// What is known of a commit and an index; it holds as long as they do.
#[derive(Debug, Clone, Default)]
pub(crate) struct Learned {
    /// The entries of the commit and of the index at paths.
    pub(super) entries: HashMap<BString, (TreeEntry, TreeEntry)>,
    /// Paths that are those of folders in the index, or of nothing.
    pub(super) folders: HashSet<BString>,
}
