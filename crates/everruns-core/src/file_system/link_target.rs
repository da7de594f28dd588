use std::fmt;

use bytes::Bytes;

use super::FileSystemError;
use crate::path::{WorkspacePath, is_git_internal_name};

/// The longest text of a link, in bytes.
pub const MAX_LINK_BYTES: usize = 4095;

/// The text of a symbolic link: where it leads, byte for byte as it is stored.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct LinkTarget(Bytes);

/// Why a text is none of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkTargetError {
    /// It has no bytes.
    #[error("the text of a link is not empty")]
    Empty,
    /// It has a byte that no path has.
    #[error("the text of a link has no NUL byte")]
    Nul,
    /// It is longer than any path.
    #[error("the text of a link has at most {MAX_LINK_BYTES} bytes")]
    TooLong,
}

impl LinkTarget {
    /// The text `bytes`, which is not interpreted.
    ///
    /// # Errors
    /// [`LinkTargetError`] when no link can have that text.
    pub fn new(bytes: impl Into<Bytes>) -> Result<Self, LinkTargetError> {
        let bytes = bytes.into();
        if bytes.is_empty() {
            return Err(LinkTargetError::Empty);
        }
        if bytes.len() > MAX_LINK_BYTES {
            return Err(LinkTargetError::TooLong);
        }
        if bytes.contains(&0) {
            return Err(LinkTargetError::Nul);
        }
        Ok(Self(bytes))
    }

    /// The text.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Where the text leads from a link at `link`, as far as the text alone can tell: no other link is followed.
    ///
    /// `None` when it leads through a name that is not Unicode, which no path of ours has.
    ///
    /// # Errors
    /// `Escapes` for an absolute text, and for one that goes above the top of the tree; `GitInternal` for one that goes
    /// through `.git` in any spelling; `Path` for one that is longer or deeper than a path may be. All name `link`.
    pub fn leads_from(
        &self,
        link: &WorkspacePath,
    ) -> Result<Option<WorkspacePath>, FileSystemError> {
        let escapes = || FileSystemError::Escapes { path: link.clone() };
        if self.0.starts_with(b"/") {
            return Err(escapes());
        }
        let mut parts: Vec<&str> = link.components().collect();
        parts.pop();
        let (mut depth, mut is_unicode) = (parts.len(), true);
        for part in self.0.split(|&byte| byte == b'/') {
            match part {
                b"" | b"." => {}
                b".." => {
                    depth = depth.checked_sub(1).ok_or_else(escapes)?;
                    parts.pop();
                }
                name => {
                    depth += 1;
                    let name = String::from_utf8_lossy(name);
                    if is_git_internal_name(&name) {
                        return Err(FileSystemError::GitInternal { path: link.clone() });
                    }
                    match std::str::from_utf8(part) {
                        Ok(name) => parts.push(name),
                        Err(_) => is_unicode = false,
                    }
                }
            }
        }
        if !is_unicode {
            return Ok(None);
        }
        let top = WorkspacePath::root().with_mount(link.mount().clone());
        if parts.is_empty() {
            return Ok(Some(top));
        }
        Ok(Some(top.join(&parts.join("/"))?))
    }
}

impl fmt::Debug for LinkTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LinkTarget({self})")
    }
}

/// For people: bytes that are not printable are escaped.
impl fmt::Display for LinkTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            write!(f, "{}", chunk.valid().escape_debug())?;
            write!(f, "{}", chunk.invalid().escape_ascii())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leads(link: &str, target: &[u8]) -> Result<Option<String>, FileSystemError> {
        let link = WorkspacePath::parse(link).unwrap();
        let target = LinkTarget::new(target.to_vec()).unwrap();
        let led = target.leads_from(&link)?;
        Ok(led.map(|path| path.to_string()))
    }

    #[test]
    fn a_text_leads_from_the_folder_of_its_link() {
        for (link, target, to) in [
            ("a/link", "b", "a/b"),
            ("a/link", "./b//c/.", "a/b/c"),
            ("a/b/link", "../c", "a/c"),
            ("a/link", "..", "."),
            ("link", "a/../b", "b"),
            ("/roots/docs/a/link", "../b", "/roots/docs/b"),
            ("link", "with\nline", "with\nline"),
        ] {
            let expected = WorkspacePath::parse(to).unwrap().to_string();
            let led = leads(link, target.as_bytes()).unwrap();
            assert_eq!(led, Some(expected), "{link} -> {target}");
        }
        assert_eq!(leads("link", b"a/\xff/b").unwrap(), None);
    }

    #[test]
    fn h10_a_text_that_leaves_the_tree_escapes() {
        for (link, target) in [
            ("link", &b"/etc/passwd"[..]),
            ("link", b"/workspace/a"),
            ("link", b".."),
            ("a/link", b"../../b"),
            ("a/link", b"b/../../../a/c"),
            ("/roots/docs/link", b"../a"),
            ("link", b"\xff/../../a"),
        ] {
            let led = leads(link, target);
            assert!(
                matches!(led, Err(FileSystemError::Escapes { .. })),
                "{link}: {led:?}"
            );
        }
    }

    #[test]
    fn h40_a_text_through_the_git_folder_is_refused_in_every_spelling() {
        for target in [".git/config", "a/.GIT", "git~1/x", ".git./../a"] {
            let led = leads("link", target.as_bytes());
            assert!(
                matches!(led, Err(FileSystemError::GitInternal { .. })),
                "{target}: {led:?}"
            );
        }
    }

    #[test]
    fn what_no_link_can_say_is_no_target() {
        assert_eq!(LinkTarget::new(""), Err(LinkTargetError::Empty));
        assert_eq!(LinkTarget::new("a\0b"), Err(LinkTargetError::Nul));
        let long = vec![b'a'; MAX_LINK_BYTES + 1];
        assert_eq!(LinkTarget::new(long), Err(LinkTargetError::TooLong));
        let shown = LinkTarget::new(&b"a\xff\n"[..]).unwrap().to_string();
        assert_eq!(shown, "a\\xff\\n");
    }
}
