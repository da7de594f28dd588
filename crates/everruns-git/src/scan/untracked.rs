//! What is in a working tree that its index doesn't know: each folder is listed once, beside the index's own order.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use everruns_fs::disk::is_temporary_name;
use gix::AttributeStack;
use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::dir::Entry;
use gix::dir::entry::{Kind, PathspecMatch, Status};
use gix::index::State;
use gix::index::entry::Mode;
use gix::worktree::stack::state::ignore::Source;
use rustix::fd::OwnedFd;
use rustix::fs::{Access, OFlags};
use rustix::io::Errno;

use super::listing::{Listing, Name};
use super::place::blocking;
use crate::error::{GitError, GitStep as _, IoStep as _, Result};
use crate::files::open_folder;

/// Files of rules, which the library opens wherever it finds them.
pub(crate) const RULES: [&[u8]; 2] = [b".gitignore", b".gitattributes"];

/// Paths of so many bytes can't be used, and a tree that is deeper would take ever longer.
const LONGEST_PATH: usize = 4096;

/// What the index doesn't know.
#[derive(Debug, Default)]
pub(super) struct Untracked {
    /// Files, links and whatever else is not ignored, and the folders of other repositories; folders as such are none.
    pub(super) entries: Vec<Entry>,
    /// Folders below the root, with files that the index knows or could know, in which there is a `.git` as well.
    pub(super) nested: Vec<BString>,
    /// Folders that may not be listed.
    pub(super) closed: Vec<BString>,
}

/// Looks through the working tree of `worktree` at `root` for what `index` doesn't know.
///
/// Names are taken as they are: this is for file systems that tell `a` and `A` apart and keep names as they were given.
pub(super) fn look(worktree: &gix::Repository, index: &State, root: &Path) -> Result<Untracked> {
    let handle = rustix::fs::open(root, FOLDER, rustix::fs::Mode::empty())
        .step("open the working tree", root)?;
    let mut walk = Walk {
        worktree,
        index,
        root: &handle,
        at: root,
        ignored: None,
        pending: vec![Pending {
            path: BString::default(),
            entries: 0..index.entries().len(),
        }],
        found: Untracked::default(),
    };
    let mut listing = Listing::default();
    while let Some(folder) = walk.pending.pop() {
        listing = walk.folder(&folder, listing)?;
    }
    Ok(walk.found)
}

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// A folder that is to be listed.
struct Pending {
    /// Empty for the root; no slash at the end.
    path: BString,
    /// The entries of the index that are in it.
    entries: Range<usize>,
}

struct Walk<'a> {
    worktree: &'a gix::Repository,
    index: &'a State,
    root: &'a OwnedFd,
    at: &'a Path,
    /// What is ignored; read when there is something that may be.
    ignored: Option<AttributeStack<'a>>,
    pending: Vec<Pending>,
    found: Untracked,
}

impl Walk<'_> {
    /// Tells the names of `folder` from those in the index, and notes its folders. Returns `listing` for the next one.
    fn folder(&mut self, folder: &Pending, mut listing: Listing) -> Result<Listing> {
        let opened = match open_folder(self.root, folder.path.as_bstr(), FOLDER) {
            Ok(opened) => opened,
            // It has gone since it was seen.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) if !folder.path.is_empty() => {
                return Ok(listing);
            }
            Err(Errno::ACCESS | Errno::PERM) if !folder.path.is_empty() => {
                self.found.closed.push(folder.path.clone());
                return Ok(listing);
            }
            Err(failure) => return Err(failure).step("open a folder", &self.whole(&folder.path)),
        };
        listing
            .read(&opened)
            .step("list a folder", &self.whole(&folder.path))?;
        let mut known = Known::of(self.index, folder);
        for name in listing.names() {
            if name.name() == ".git" {
                if !folder.path.is_empty() {
                    self.found.nested.push(folder.path.clone());
                }
                continue;
            }
            if name.kind == Kind::Untrackable && RULES.contains(&name.name().as_bytes()) {
                return Err(GitError::Unsupported {
                    path: self.whole(&below(&folder.path, name.name())),
                    reason: "it is no file, and whoever reads it waits for ever; remove it",
                });
            }
            let entries = known.find(&name);
            if let (Some(entries), Kind::Directory) = (&entries, name.kind) {
                self.pending.push(Pending {
                    path: below(&folder.path, name.name()),
                    entries: entries.clone(),
                });
            } else if entries.is_none() {
                self.unknown(folder, &name)?;
            }
        }
        Ok(listing)
    }

    fn unknown(&mut self, folder: &Pending, name: &Name<'_>) -> Result<()> {
        if name.kind != Kind::Directory && is_temporary_name(&name.name().to_str_lossy()) {
            return Ok(());
        }
        let path = below(&folder.path, name.name());
        let is_folder = name.kind == Kind::Directory;
        let whole = self.whole(&path);
        if whole.as_os_str().len() >= LONGEST_PATH {
            return Err(Errno::NAMETOOLONG).step("look at", &whole);
        }
        if is_folder && self.is_submodule(path.as_bstr()) || self.is_ignored(&path, is_folder)? {
            return Ok(());
        }
        let kind = if is_folder {
            if !self.is_repository(&path) {
                self.pending.push(Pending {
                    path,
                    entries: folder.entries.end..folder.entries.end,
                });
                return Ok(());
            }
            Kind::Repository
        } else {
            name.kind
        };
        self.found.entries.push(Entry {
            rela_path: path,
            status: Status::Untracked,
            property: None,
            disk_kind: Some(kind),
            index_kind: None,
            pathspec_match: Some(PathspecMatch::Always),
        });
        Ok(())
    }

    /// Whether the index knows the folder `path` as that of a submodule.
    fn is_submodule(&self, path: &BStr) -> bool {
        let is_submodule = |entry: &gix::index::Entry| entry.mode == Mode::COMMIT;
        self.index
            .entry_range(path)
            .is_some_and(|range| self.index.entries()[range].iter().any(is_submodule))
    }

    fn is_ignored(&mut self, path: &BString, is_folder: bool) -> Result<bool> {
        let step = "read what is ignored";
        let stack = match &mut self.ignored {
            Some(stack) => stack,
            unread => unread.insert(
                self.worktree
                    .excludes(self.index, None, Source::WorktreeThenIdMappingIfNotSkipped)
                    .git(step)?,
            ),
        };
        let mode = if is_folder { Mode::DIR } else { Mode::FILE };
        match stack.at_entry(path.as_bstr(), Some(mode)) {
            Ok(platform) => Ok(platform.excluded_kind().is_some()),
            Err(failure) => {
                self.read_rules_above(path)?;
                Err(failure).git(step)
            }
        }
    }

    /// Fails if there are rules for `path` that can't be read, and says where, which the library doesn't.
    fn read_rules_above(&self, path: &BString) -> Result<()> {
        let mut folder = path.as_bstr();
        while !folder.is_empty() {
            let above = folder.rfind_byte(b'/').unwrap_or(0);
            folder = folder[..above].as_bstr();
            let rules = self.whole(&below(&folder.to_owned(), BStr::new(".gitignore")));
            if let Err(failure @ Errno::ACCESS) = rustix::fs::access(&rules, Access::READ_OK) {
                return Err(failure).step("read what is ignored in", &rules);
            }
        }
        Ok(())
    }

    /// Whether the folder `path` holds a repository other than this one.
    fn is_repository(&self, path: &BString) -> bool {
        let git_dir = self.whole(path).join(".git");
        let real = |path: &Path| std::fs::canonicalize(path).ok();
        git_dir.symlink_metadata().is_ok()
            && blocking(&place_of(&git_dir)).is_none()
            && gix::discover::is_git(&git_dir).is_ok()
            && real(&git_dir) != real(self.worktree.git_dir())
    }

    fn whole(&self, path: &BString) -> PathBuf {
        self.at.join(OsStr::from_bytes(path))
    }
}

/// The Git directory that `git_dir` is, or that it names if it is a file.
fn place_of(git_dir: &Path) -> PathBuf {
    let named = match std::fs::symlink_metadata(git_dir) {
        Ok(found) if found.is_file() && found.len() < 64 * 1024 => std::fs::read(git_dir),
        _ => return git_dir.to_owned(),
    };
    let named = named.unwrap_or_default();
    let named = named.strip_prefix(b"gitdir:").unwrap_or_default().trim();
    let named = OsStr::from_bytes(named);
    git_dir.parent().unwrap_or(git_dir).join(named)
}

fn below(folder: &BString, name: &BStr) -> BString {
    let mut path = BString::from(Vec::with_capacity(folder.len() + 1 + name.len()));
    if !folder.is_empty() {
        path.extend_from_slice(folder);
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

/// What the index knows of one folder, looked for in the order of an index.
struct Known<'a> {
    index: &'a State,
    /// How many bytes of each path are the folder's.
    above: usize,
    /// The entries that were not passed yet.
    rest: Range<usize>,
}

impl<'a> Known<'a> {
    fn of(index: &'a State, folder: &Pending) -> Self {
        let slash = usize::from(!folder.path.is_empty());
        Self {
            index,
            above: folder.path.len() + slash,
            rest: folder.entries.clone(),
        }
    }

    /// The entries of `name`, or of what is in the folder `name`. Names have to come in the order of an index.
    fn find(&mut self, name: &Name<'_>) -> Option<Range<usize>> {
        while !self.rest.is_empty() {
            let path = self.path(self.rest.start);
            let child = path
                .find_byte(b'/')
                .map_or(path, |at| path[..=at].as_bstr());
            let ordering = name.sorted.as_bytes().cmp(child);
            if ordering == Ordering::Less {
                return None;
            }
            let start = self.rest.start;
            self.rest.start = self.end_of(child);
            if ordering == Ordering::Equal {
                return Some(start..self.rest.start);
            }
        }
        None
    }

    /// Where the entries end that are `child`, or in it.
    fn end_of(&self, child: &'a BStr) -> usize {
        let is_folder = child.ends_with(b"/");
        let is_of = |number: usize| {
            let path = self.path(number);
            if is_folder {
                path.starts_with(child)
            } else {
                path == child
            }
        };
        // Most have few entries, some have very many.
        let (mut last, mut step) = (self.rest.start, 1);
        while last + step < self.rest.end && is_of(last + step) {
            last += step;
            step *= 2;
        }
        let mut end = (last + step).min(self.rest.end);
        while end - last > 1 {
            let middle = last + (end - last) / 2;
            if is_of(middle) {
                last = middle;
            } else {
                end = middle;
            }
        }
        end
    }

    fn path(&self, number: usize) -> &'a BStr {
        self.index.entries()[number].path(self.index)[self.above..].as_bstr()
    }
}
