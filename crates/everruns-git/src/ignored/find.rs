//! Which ignored files there are.

use std::collections::BTreeMap;
use std::path::Path;

use gix::AttributeStack;
use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::dir::entry::Kind as Found;
use gix::index::State;
use gix::index::entry::Mode;
use gix::worktree::stack::state::ignore::Source;
use rustix::fd::OwnedFd;
use rustix::fs::OFlags;

use super::patterns::Patterns;
use crate::error::{GitStep as _, IoStep as _, Result};
use crate::files::open_folder;
use crate::scan::{Listing, RULES};

/// How many ignored entries are looked at.
pub(super) const MOST_ENTRIES: usize = 200_000;

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// A path that is ignored and asked for, or one that kept others from being looked at.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) path: BString,
    pub(super) kind: Kind,
}

/// What is at such a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Link,
    Repository,
    Special,
    Name,
    /// A folder that can't be listed.
    Closed,
    /// A file of rules that is none: without reading it, nobody can tell what is ignored beside it, and reading a pipe
    /// takes for ever.
    Rules,
}

/// What was found.
pub(super) struct Candidates {
    /// In the order of paths.
    pub(super) candidates: Vec<Candidate>,
    /// Whether there is more.
    pub(super) cut: bool,
}

/// Everything that Git ignores in the working tree of `source`, at `root`, and that `patterns` ask for.
pub(super) fn candidates(
    source: &gix::Repository,
    root: &Path,
    patterns: &Patterns,
) -> Result<Candidates> {
    let step = "look for ignored files";
    let index = source.index_or_empty().git(step)?;
    let mut walk = Walk {
        index: &index,
        excluded: source
            .excludes(&index, None, Source::WorktreeThenIdMappingIfNotSkipped)
            .git(step)?,
        root: rustix::fs::open(root, FOLDER, rustix::fs::Mode::empty())
            .step("open the working tree", root)?,
        patterns,
        pending: vec![Pending {
            path: BString::default(),
            ignored: false,
        }],
        found: BTreeMap::new(),
        seen: 0,
    };
    let mut listing = Listing::default();
    while let Some(folder) = walk.pending.pop() {
        if walk.seen > MOST_ENTRIES {
            break;
        }
        walk.folder(&folder, &mut listing)?;
    }
    let candidates = walk.found.into_iter();
    Ok(Candidates {
        candidates: candidates
            .map(|(path, kind)| Candidate { path, kind })
            .collect(),
        cut: walk.seen > MOST_ENTRIES,
    })
}

/// A folder that is to be listed.
struct Pending {
    /// Empty for the root; no slash at the end.
    path: BString,
    /// Whether it is ignored, and so all that is in it.
    ignored: bool,
}

struct Walk<'a> {
    index: &'a State,
    excluded: AttributeStack<'a>,
    root: OwnedFd,
    patterns: &'a Patterns,
    pending: Vec<Pending>,
    found: BTreeMap<BString, Kind>,
    seen: usize,
}

impl Walk<'_> {
    /// Notes what is asked for in `folder`, and which folders are to be listed.
    fn folder(&mut self, folder: &Pending, listing: &mut Listing) -> Result<()> {
        let opened = open_folder(&self.root, folder.path.as_bstr(), FOLDER);
        if opened.and_then(|opened| listing.read(&opened)).is_err() {
            // It has gone, or it is closed to us; nothing of the new head depends on it.
            self.tell(folder.path.clone(), Kind::Closed);
            return Ok(());
        }
        if !folder.path.is_empty() && listing.names().any(|name| name.name() == ".git") {
            if folder.ignored {
                self.note(folder.path.as_bstr(), Kind::Repository);
            }
            return Ok(());
        }
        if !folder.ignored {
            let rules = listing.names().find(|name| {
                name.kind == Found::Untrackable && RULES.contains(&name.name().as_bytes())
            });
            if let Some(rules) = rules {
                self.tell(below(&folder.path, rules.name()), Kind::Rules);
                return Ok(());
            }
        }
        for name in listing.names() {
            if name.name() == ".git" {
                continue;
            }
            let path = below(&folder.path, name.name());
            let is_folder = name.kind == Found::Directory;
            let ignored = folder.ignored || self.is_ignored(path.as_bstr(), is_folder)?;
            if is_folder {
                self.seen += usize::from(ignored);
                // One with files that the index knows is looked at name by name.
                let ignored = ignored && !self.index.path_is_directory(path.as_bstr());
                if !self.is_known(path.as_bstr()) {
                    self.pending.push(Pending { path, ignored });
                }
            } else if ignored {
                let kind = match name.kind {
                    Found::File => Kind::File,
                    Found::Symlink => Kind::Link,
                    _ => Kind::Special,
                };
                self.note(path.as_bstr(), kind);
            }
        }
        Ok(())
    }

    /// Whether the index knows `path` itself; of a folder, that is to say, as a submodule.
    fn is_known(&self, path: &BStr) -> bool {
        self.index.entry_range(path).is_some()
    }

    fn is_ignored(&mut self, path: &BStr, is_folder: bool) -> Result<bool> {
        if self.is_known(path) {
            return Ok(false);
        }
        let mode = if is_folder { Mode::DIR } else { Mode::FILE };
        let step = "read what is ignored";
        let platform = self.excluded.at_entry(path, Some(mode)).git(step)?;
        Ok(platform.is_excluded())
    }

    /// Notes what is at `path` if it is asked for.
    fn note(&mut self, path: &BStr, kind: Kind) {
        self.seen += 1;
        if self.seen > MOST_ENTRIES || !self.patterns.select(path, kind == Kind::Repository) {
            return;
        }
        let named_like_git = path
            .split_str("/")
            .any(|name| everruns_core::path::is_git_internal_name(&name.to_str_lossy()));
        let kind = if named_like_git { Kind::Name } else { kind };
        self.found.insert(path.to_owned(), kind);
    }

    /// Notes that what is at `path` kept us from looking, asked for or not.
    fn tell(&mut self, path: BString, kind: Kind) {
        self.seen += 1;
        self.found.insert(path, kind);
    }
}

fn below(folder: &BString, name: &BStr) -> BString {
    let mut path = folder.clone();
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}
