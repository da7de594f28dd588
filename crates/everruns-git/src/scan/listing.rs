//! The names in a folder.

use std::mem::MaybeUninit;
use std::ops::Range;

use gix::bstr::{BStr, ByteSlice as _};
use gix::dir::entry::Kind;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, RawDir};
use rustix::io::Errno;

/// How many bytes the kernel may tell at once.
const TOLD_AT_ONCE: usize = 32 * 1024;

/// The names in a folder, in the order in which an index has them: as if a slash followed a folder's name.
#[derive(Default)]
pub(crate) struct Listing {
    bytes: Vec<u8>,
    names: Vec<(Range<usize>, Kind)>,
    buffer: Vec<u8>,
}

/// A name in a folder.
pub(crate) struct Name<'a> {
    /// The name; a slash follows that of a folder.
    pub(super) sorted: &'a BStr,
    /// What has it.
    pub(crate) kind: Kind,
}

impl<'a> Name<'a> {
    pub(crate) fn name(&self) -> &'a BStr {
        let name = self.sorted;
        name.strip_suffix(b"/").unwrap_or(name).as_bstr()
    }
}

impl Listing {
    /// Takes the names of `folder` in place of those that it has.
    pub(crate) fn read(&mut self, folder: &OwnedFd) -> rustix::io::Result<()> {
        self.bytes.clear();
        self.names.clear();
        self.buffer.clear();
        self.buffer.reserve(TOLD_AT_ONCE);
        let buffer: &mut [MaybeUninit<u8>] = self.buffer.spare_capacity_mut();
        let mut entries = RawDir::new(folder, buffer);
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let kind = match entry.file_type() {
                // Some file systems don't tell.
                FileType::Unknown => {
                    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                        Ok(stat) => kind_of(FileType::from_raw_mode(stat.st_mode)),
                        Err(Errno::NOENT) => continue,
                        Err(failure) => return Err(failure),
                    }
                }
                known => kind_of(known),
            };
            let start = self.bytes.len();
            self.bytes.extend_from_slice(name.to_bytes());
            if kind == Kind::Directory {
                self.bytes.push(b'/');
            }
            self.names.push((start..self.bytes.len(), kind));
        }
        let bytes = &self.bytes;
        self.names.sort_unstable_by(|(left, _), (right, _)| {
            bytes[left.clone()].cmp(&bytes[right.clone()])
        });
        Ok(())
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = Name<'_>> {
        self.names.iter().map(|(at, kind)| Name {
            sorted: self.bytes[at.clone()].as_bstr(),
            kind: *kind,
        })
    }
}

fn kind_of(found: FileType) -> Kind {
    match found {
        FileType::Directory => Kind::Directory,
        FileType::RegularFile => Kind::File,
        FileType::Symlink => Kind::Symlink,
        _ => Kind::Untrackable,
    }
}
