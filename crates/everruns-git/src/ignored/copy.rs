//! Copying one file from working tree to working tree, sharing its bytes where the file system can.

use std::io;
use std::path::Path;

use gix::bstr::BStr;

use super::is_of_this_file;
use crate::error::Result;
use crate::files::{Files, Opened};

/// What became of a file.
pub(super) enum Copied {
    /// It is there.
    Done {
        /// Its size.
        bytes: u64,
        /// Whether the bytes are shared with the original.
        shared: bool,
    },
    /// It is not, for this reason.
    Not(&'static str),
}

/// Copies files, up to a number of bytes.
pub(super) struct Copier {
    from: Files,
    to: Files,
    left: u64,
}

impl Copier {
    pub(super) fn new(from: &Path, to: &Path, limit: u64) -> Result<Self> {
        Ok(Self {
            from: Files::open(from)?,
            to: Files::open(to)?,
            left: limit,
        })
    }

    /// Copies the regular file at `path`, unless something is there already.
    pub(super) fn copy(&mut self, path: &BStr) -> Result<Copied> {
        let opened = match self.from.open_file(path) {
            Ok(Some(opened)) => opened,
            Ok(None) => return Ok(Copied::Not("it is no regular file any more")),
            Err(failure) if is_of_this_file(&failure) => {
                return Ok(Copied::Not("it can't be read"));
            }
            Err(failure) => return Err(failure),
        };
        if opened.bytes > self.left {
            return Ok(Copied::Not("it is larger than what is left of the limit"));
        }
        let mut shared = false;
        let copied = self.to.create_file(path, opened.mode, |target| {
            shared = share(&opened, target);
            if shared {
                return Ok(opened.bytes);
            }
            // The file may have grown since; no more is taken than was counted.
            io::copy(
                &mut io::Read::take(&opened.file, opened.bytes),
                &mut &*target,
            )
        });
        match copied {
            Ok(bytes) => {
                self.left = self.left.saturating_sub(bytes);
                Ok(Copied::Done { bytes, shared })
            }
            Err(failure) if is_of_this_file(&failure) => Ok(Copied::Not(
                "something is at its place in the new head already",
            )),
            Err(failure) => Err(failure),
        }
    }
}

/// Has the file system share the bytes; `false` if it can't.
#[cfg(target_os = "linux")]
#[expect(
    clippy::disallowed_types,
    reason = "a handle that was opened below the new head, without following links"
)]
fn share(from: &Opened, to: &std::fs::File) -> bool {
    rustix::fs::ioctl_ficlone(to, &from.file).is_ok()
}

/// Has the file system share the bytes; `false` if it can't.
#[cfg(not(target_os = "linux"))]
#[expect(
    clippy::disallowed_types,
    reason = "a handle that was opened below the new head, without following links"
)]
fn share(_: &Opened, _: &std::fs::File) -> bool {
    false
}
