use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::parse::{self, MAX_COMPONENT_BYTES, MAX_DEPTH, MAX_PATH_BYTES};
use super::{PathError, is_git_internal_name};

/// The name of an additional root: 1 to 64 letters, digits, `.`, `_` and `-`, not starting with a dot.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RootName(Arc<str>);

impl RootName {
    /// Makes a root name of `text`.
    ///
    /// # Errors
    /// [`PathError::RootName`] when the text is not of the form above.
    pub fn new(text: &str) -> Result<Self, PathError> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let fits = (1..=64).contains(&text.len()) && !text.starts_with('.');
        if fits && text.chars().all(allowed) {
            Ok(Self(text.into()))
        } else {
            Err(PathError::RootName {
                name: text.to_owned(),
            })
        }
    }

    /// The name's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RootName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which tree of the namespace a path lies in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mount {
    /// `/workspace`: the session's head.
    Head,
    /// `/roots/<name>`: an additional root.
    Root(RootName),
}

impl fmt::Display for Mount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Head => f.write_str("/workspace"),
            Self::Root(name) => write!(f, "/roots/{name}"),
        }
    }
}

/// A parsed path of the portable namespace, in one normal form.
///
/// `a//./b`, `a/b/`, `/workspace/a/b` and `a/b` are one value. A path is never absolute on a host, holds no
/// `..` and no NUL, and its length is bounded ([`MAX_PATH_BYTES`](super::MAX_PATH_BYTES) and its siblings).
/// It displays in the absolute spelling, `/workspace/a/b`.
///
/// ```
/// use everruns_core::path::WorkspacePath;
/// let path = WorkspacePath::parse("src//./lib.rs").unwrap();
/// assert_eq!(path, WorkspacePath::parse("/workspace/src/lib.rs").unwrap());
/// assert_eq!(path.relative(), "src/lib.rs");
/// assert!(WorkspacePath::parse("../etc/passwd").is_err());
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WorkspacePath {
    mount: Mount,
    relative: Arc<str>,
}

impl WorkspacePath {
    /// Parses `text`; a relative text is taken from the top of the head.
    ///
    /// # Errors
    /// [`PathError`] says what is wrong. No I/O is done.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        parse::parse(text)
    }

    /// The top folder of the head, `/workspace`.
    pub fn root() -> Self {
        Self {
            mount: Mount::Head,
            relative: Arc::from(""),
        }
    }

    pub(super) fn from_parts(mount: Mount, relative: String) -> Self {
        Self {
            mount,
            relative: relative.into(),
        }
    }

    /// Which tree the path lies in.
    pub fn mount(&self) -> &Mount {
        &self.mount
    }

    /// The path below its mount, without a leading `/`; empty for the mount's top folder.
    pub fn relative(&self) -> &str {
        &self.relative
    }

    /// The same path below another mount.
    #[must_use]
    pub fn with_mount(&self, mount: Mount) -> Self {
        Self {
            mount,
            relative: Arc::clone(&self.relative),
        }
    }

    /// Whether this is the top folder of its mount.
    pub fn is_top(&self) -> bool {
        self.relative.is_empty()
    }

    /// The components below the mount.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.relative
            .split('/')
            .filter(|component| !component.is_empty())
    }

    /// The last component; `None` for the top folder of a mount.
    pub fn file_name(&self) -> Option<&str> {
        self.components().next_back()
    }

    /// The folder that holds this path; `None` for the top folder of a mount.
    pub fn parent(&self) -> Option<Self> {
        let name = self.file_name()?;
        let above = self.relative.strip_suffix(name).unwrap_or_default();
        let above = above.strip_suffix('/').unwrap_or(above);
        Some(Self {
            mount: self.mount.clone(),
            relative: above.into(),
        })
    }

    /// The path `below` this one; `below` is relative and obeys the same rules.
    ///
    /// # Errors
    /// [`PathError`] as for [`parse`](Self::parse).
    pub fn join(&self, below: &str) -> Result<Self, PathError> {
        if below.starts_with('/') {
            return Err(PathError::HostPath {
                path: below.to_owned(),
            });
        }
        if let Some(child) = self.child(below) {
            return Ok(child);
        }
        Self::parse(&format!("{self}/{below}"))
    }

    /// The path of the entry `name`, when that is one plain component. Listings and searches make many of these.
    fn child(&self, name: &str) -> Option<Self> {
        let is_plain = !matches!(name, "" | "." | "..")
            && name.len() <= MAX_COMPONENT_BYTES
            && !name.bytes().any(|byte| matches!(byte, b'/' | 0));
        if !is_plain || self.components().count() >= MAX_DEPTH {
            return None;
        }
        let mount = match &self.mount {
            Mount::Head => "/workspace".len(),
            Mount::Root(name) => "/roots/".len() + name.as_str().len(),
        };
        // What is counted is the absolute spelling, with its separators.
        if mount + self.relative.len() + name.len() + 2 > MAX_PATH_BYTES {
            return None;
        }
        let relative = if self.relative.is_empty() {
            Arc::from(name)
        } else {
            let mut text = String::with_capacity(self.relative.len() + 1 + name.len());
            text.push_str(&self.relative);
            text.push('/');
            text.push_str(name);
            Arc::from(text)
        };
        Some(Self {
            mount: self.mount.clone(),
            relative,
        })
    }

    /// Whether this path is `folder` or lies below it, by components.
    pub fn starts_with(&self, folder: &Self) -> bool {
        self.mount == folder.mount
            && match self.relative.strip_prefix(folder.relative()) {
                Some(rest) => folder.is_top() || rest.is_empty() || rest.starts_with('/'),
                None => false,
            }
    }

    /// Whether a component is `.git` in any spelling. No such path is part of the namespace: every
    /// file system refuses to read, write or list it.
    pub fn is_git_internal(&self) -> bool {
        self.components().any(is_git_internal_name)
    }
}

impl fmt::Display for WorkspacePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.relative.is_empty() {
            write!(f, "{}", self.mount)
        } else {
            write!(f, "{}/{}", self.mount, self.relative)
        }
    }
}

impl fmt::Debug for WorkspacePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WorkspacePath({:?})", self.to_string())
    }
}

impl FromStr for WorkspacePath {
    type Err = PathError;
    fn from_str(text: &str) -> Result<Self, PathError> {
        Self::parse(text)
    }
}

impl TryFrom<String> for WorkspacePath {
    type Error = PathError;
    fn try_from(text: String) -> Result<Self, PathError> {
        Self::parse(&text)
    }
}

impl From<WorkspacePath> for String {
    fn from(path: WorkspacePath) -> Self {
        path.to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path(text: &str) -> WorkspacePath {
        WorkspacePath::parse(text).unwrap()
    }

    #[test]
    fn h01_paths_of_a_host_are_refused() {
        for text in ["../x", "a/../b", "..", "/workspace/../x"] {
            assert!(
                matches!(
                    WorkspacePath::parse(text),
                    Err(PathError::ParentComponent { .. })
                ),
                "{text}"
            );
        }
        for text in [
            "/etc/passwd",
            "/",
            "C:x",
            "c:\\x",
            "\\\\?\\x",
            "\\\\server\\share",
            "/workspacex/a",
        ] {
            assert!(
                matches!(WorkspacePath::parse(text), Err(PathError::HostPath { .. })),
                "{text}"
            );
        }
    }

    #[test]
    fn h03_bounds_are_typed_errors() {
        assert_eq!(WorkspacePath::parse(""), Err(PathError::Empty));
        assert_eq!(WorkspacePath::parse("a\0b"), Err(PathError::Nul));
        assert_eq!(
            WorkspacePath::parse(&"a/".repeat(2049)),
            Err(PathError::TooLong { length: 4098 })
        );
        assert_eq!(
            WorkspacePath::parse(&"a".repeat(256)),
            Err(PathError::ComponentTooLong { length: 256 })
        );
        assert_eq!(
            WorkspacePath::parse(&"a/".repeat(1000)),
            Err(PathError::TooDeep { depth: 1000 })
        );
    }

    #[test]
    fn h04_spellings_of_one_path_are_equal() {
        for text in [
            "a//./b",
            "a/b/",
            "/workspace/a/b",
            "//workspace//a/b",
            "./a/b",
        ] {
            assert_eq!(path(text), path("a/b"), "{text}");
        }
        assert_eq!(path("."), WorkspacePath::root());
        assert_eq!(path("/workspace"), WorkspacePath::root());
    }

    #[test]
    fn c04_roots_are_apart_from_the_head() {
        let root = path("/roots/lib/src");
        assert_eq!(root.mount(), &Mount::Root(RootName::new("lib").unwrap()));
        assert_eq!(root.relative(), "src");
        assert!(!root.starts_with(&WorkspacePath::root()));
        assert!(matches!(
            WorkspacePath::parse("/roots"),
            Err(PathError::RootName { .. })
        ));
        assert!(matches!(
            WorkspacePath::parse("/roots/.x/a"),
            Err(PathError::RootName { .. })
        ));
    }

    #[test]
    fn parents_and_prefixes_go_by_component() {
        assert_eq!(path("a/b").parent(), Some(path("a")));
        assert_eq!(path("a").parent(), Some(WorkspacePath::root()));
        assert_eq!(WorkspacePath::root().parent(), None);
        assert!(path("a/b").starts_with(&path("a")));
        assert!(!path("ab").starts_with(&path("a")));
        assert_eq!(path("a").join("b/c").unwrap(), path("a/b/c"));
        assert!(path("a").join("../c").is_err());
    }

    proptest! {
        #[test]
        fn joining_is_parsing_the_longer_text(
            folder in "(/roots/r/)?([ab]{1,3}/){0,4}[ab]{1,200}",
            deep in 0_usize..260,
            name in "[ab./\\\\:\0]{0,3}|[ab]{250,260}",
        ) {
            let folder = WorkspacePath::parse(&format!("{folder}{}", "/x".repeat(deep)));
            let folder = folder.unwrap_or_else(|_| WorkspacePath::root());
            if !name.starts_with('/') {
                prop_assert_eq!(folder.join(&name), WorkspacePath::parse(&format!("{folder}/{name}")));
            }
        }

        #[test]
        fn parsing_the_display_gives_the_same_path(text in "[a-z./ :\\\\~-]{1,40}") {
            if let Ok(parsed) = WorkspacePath::parse(&text) {
                prop_assert_eq!(WorkspacePath::parse(&parsed.to_string()), Ok(parsed));
            }
        }
    }
}
