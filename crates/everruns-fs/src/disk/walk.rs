use std::collections::VecDeque;
use std::rc::Rc;

use everruns_core::file_system::{FileKind, FileSystemError, LastLink};
use everruns_core::path::{MAX_DEPTH, WorkspacePath};
use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;

use super::errors::at;
use super::flags::{FOLDER, FOLDER_MODE};
use super::kind::kind;
use super::names::is_git_name;
use super::resolve::{Missing, Place, flush_folder};

/// The most links that one path may go through.
const MAX_LINKS: usize = 40;

/// How often a component may change its kind under the walk before it gives up.
const MAX_CHANGES: usize = 64;

struct Component {
    name: Vec<u8>,
    /// Whether it is part of a link's target; only what the caller named is created.
    from_link: bool,
}

/// Finds the place of `path` below `root` component by component.
pub(super) fn walk(
    root: BorrowedFd<'_>,
    path: &WorkspacePath,
    last: LastLink,
    missing: Missing,
) -> Result<Place, FileSystemError> {
    let mut walk = Walk {
        root,
        path,
        missing,
        folders: Vec::new(),
        pending: path
            .components()
            .map(|name| Component {
                name: name.as_bytes().to_vec(),
                from_link: false,
            })
            .collect(),
        links: 0,
        changes: 0,
    };
    walk.run(last)
}

struct Walk<'a> {
    root: BorrowedFd<'a>,
    path: &'a WorkspacePath,
    missing: Missing,
    /// The folders gone through from the top to here, which `..` goes back along.
    folders: Vec<(Vec<u8>, Rc<OwnedFd>)>,
    pending: VecDeque<Component>,
    links: usize,
    changes: usize,
}

impl Walk<'_> {
    fn run(&mut self, last: LastLink) -> Result<Place, FileSystemError> {
        while let Some(component) = self.pending.pop_front() {
            if component.name == b"." {
                continue;
            }
            if component.name == b".." {
                if self.folders.pop().is_none() {
                    return Err(self.escapes());
                }
                continue;
            }
            if is_git_name(&component.name) {
                return Err(FileSystemError::GitInternal {
                    path: self.path.clone(),
                });
            }
            if self.pending.is_empty() {
                if last == LastLink::Follow
                    && let Some(target) = self.link_target(&component.name)?
                {
                    self.follow(&target)?;
                    continue;
                }
                return self.place(Some(component));
            }
            match rustix::fs::openat(self.here(), &component.name, FOLDER, Mode::empty()) {
                Ok(folder) => self.folders.push((component.name, Rc::new(folder))),
                Err(Errno::NOTDIR | Errno::LOOP) => match self.link_target(&component.name)? {
                    Some(target) => self.follow(&target)?,
                    None => self.changed_or_no_folder(component)?,
                },
                Err(Errno::NOENT) => match self.missing {
                    Missing::Fail => return Err(self.not_found()),
                    Missing::Create if component.from_link => return Err(self.escapes()),
                    Missing::Keep if component.from_link => return Err(self.not_found()),
                    Missing::Create => self.create(component)?,
                    Missing::Keep => return self.keep_rest(component),
                },
                Err(errno) => return Err(at(self.path, "open a folder on the way to")(errno)),
            }
        }
        self.place(None)
    }

    fn here(&self) -> BorrowedFd<'_> {
        self.folders
            .last()
            .map_or(self.root, |(_, folder)| folder.as_fd())
    }

    /// The target of the link `name`; `None` when it is no link or does not exist.
    fn link_target(&self, name: &[u8]) -> Result<Option<Vec<u8>>, FileSystemError> {
        match rustix::fs::readlinkat(self.here(), name, Vec::new()) {
            Ok(target) => Ok(Some(target.into_bytes())),
            Err(Errno::INVAL | Errno::NOENT) => Ok(None),
            Err(errno) => Err(at(self.path, "read a link on the way to")(errno)),
        }
    }

    /// Puts the components of a link's target before what is left.
    fn follow(&mut self, target: &[u8]) -> Result<(), FileSystemError> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(FileSystemError::LinkLoop {
                path: self.path.clone(),
            });
        }
        if target.starts_with(b"/") {
            return Err(self.escapes());
        }
        let parts = target
            .split(|&byte| byte == b'/')
            .filter(|part| !part.is_empty() && *part != b".");
        let target_must_be_folder = target.ends_with(b"/") || target.ends_with(b"/.");
        if target_must_be_folder {
            self.pending.push_front(Component {
                name: b".".to_vec(),
                from_link: true,
            });
        }
        for part in parts.rev() {
            self.pending.push_front(Component {
                name: part.to_vec(),
                from_link: true,
            });
        }
        Ok(())
    }

    /// A component that was neither folder nor link a moment ago: looks again, or it is a file in the way.
    fn changed_or_no_folder(&mut self, component: Component) -> Result<(), FileSystemError> {
        let stat = rustix::fs::statat(self.here(), &component.name, AtFlags::SYMLINK_NOFOLLOW);
        let is_stable =
            stat.is_ok_and(|stat| !matches!(kind(&stat), FileKind::Directory | FileKind::Symlink));
        if is_stable {
            return Err(FileSystemError::NotADirectory {
                path: self.path.clone(),
            });
        }
        self.look_again(component)
    }

    fn create(&mut self, component: Component) -> Result<(), FileSystemError> {
        match rustix::fs::mkdirat(self.here(), &component.name, FOLDER_MODE) {
            Ok(()) => {
                flush_folder(self.here()).map_err(at(self.path, "flush a folder on the way to"))?;
            }
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(at(self.path, "make a folder on the way to")(errno)),
        }
        self.look_again(component)
    }

    fn look_again(&mut self, component: Component) -> Result<(), FileSystemError> {
        self.changes += 1;
        // Each created folder counts as a change, and a path may need as many as it is deep.
        if self.changes > MAX_CHANGES + MAX_DEPTH {
            return Err(at(self.path, "find a steady way to")(Errno::AGAIN));
        }
        self.pending.push_front(component);
        Ok(())
    }

    /// The place of a path whose rest does not exist; only its resolved spelling is of use.
    fn keep_rest(&mut self, component: Component) -> Result<Place, FileSystemError> {
        let rest: Vec<_> = self.pending.drain(..).collect();
        if rest.iter().any(|part| part.from_link || part.name == b"..") {
            return Err(self.not_found());
        }
        if rest.iter().any(|part| is_git_name(&part.name)) {
            return Err(FileSystemError::GitInternal {
                path: self.path.clone(),
            });
        }
        let mut place = self.place(Some(component))?;
        place
            .resolved
            .extend(rest.into_iter().map(|part| part.name));
        place.name = None;
        Ok(place)
    }

    fn place(&mut self, last: Option<Component>) -> Result<Place, FileSystemError> {
        let mut resolved: Vec<_> = self.folders.iter().map(|(name, _)| name.clone()).collect();
        let folder = match self.folders.pop().map(|(_, folder)| Rc::try_unwrap(folder)) {
            Some(Ok(folder)) => folder,
            Some(Err(shared)) => shared.try_clone().map_err(|source| FileSystemError::Io {
                path: self.path.clone(),
                step: "keep open the folder of",
                source,
            })?,
            None => rustix::io::fcntl_dupfd_cloexec(self.root, 0)
                .map_err(at(self.path, "keep open the folder of"))?,
        };
        let through_link = last.as_ref().is_some_and(|component| component.from_link);
        let name = last.map(|component| component.name);
        resolved.extend(name.clone());
        Ok(Place {
            folder,
            name,
            resolved,
            stored: None,
            through_link,
        })
    }

    fn escapes(&self) -> FileSystemError {
        FileSystemError::Escapes {
            path: self.path.clone(),
        }
    }

    fn not_found(&self) -> FileSystemError {
        FileSystemError::NotFound {
            path: self.path.clone(),
        }
    }
}
