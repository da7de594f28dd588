use bytes::Bytes;
use everruns_core::file_system::{FileContent, FileKind, FileSystemError, ReadRange};
use everruns_core::path::WorkspacePath;
use rustix::buffer::spare_capacity;
use rustix::fd::AsFd;
use rustix::fs::{SeekFrom, Stat};
use rustix::io::Errno;

use super::errors::{at, step};
use super::flags::READ;
use super::kind::{is_unchanged, must_be_file, size};
use super::tree::Tree;

/// How often a file that changes while it is read is read again.
const MAX_READS: usize = 4;

/// How much more room is made when a file turns out to be larger than it said.
const GROWTH_BYTES: usize = 64 << 10;

impl Tree {
    pub(super) fn read(
        &self,
        path: &WorkspacePath,
        range: ReadRange,
    ) -> Result<FileContent, FileSystemError> {
        let file = self
            .open_at(path, READ, "open")
            .map_err(|error| opened_special(path, error))?;
        let (bytes, _) = read_whole(&file, path, self.max_file_bytes)?;
        Ok(FileContent::of(&bytes, range))
    }
}

/// A socket, or a device without a driver, refuses to be opened with an error of its own.
pub(super) fn opened_special(path: &WorkspacePath, error: FileSystemError) -> FileSystemError {
    match &error {
        FileSystemError::Io { source, .. }
            if matches!(
                Errno::from_io_error(source),
                Some(Errno::NXIO | Errno::NODEV)
            ) =>
        {
            FileSystemError::NotAFile {
                path: path.clone(),
                kind: FileKind::Special,
            }
        }
        _ => error,
    }
}

/// Reads an open file to its end. It is read again when an outside program changes it meanwhile. Of a file that grows all
/// the time, such as a log, it gives what was there at one moment; one that is rewritten in place all the time is an error.
pub(super) fn read_whole(
    file: impl AsFd,
    path: &WorkspacePath,
    limit: u64,
) -> Result<(Bytes, Stat), FileSystemError> {
    let file = file.as_fd();
    let mut attempt = 1;
    let mut last: Option<Vec<u8>> = None;
    loop {
        let before = rustix::fs::fstat(file).map_err(at(path, "look at"))?;
        must_be_file(path, &before)?;
        if size(&before) > limit {
            return Err(too_large(path, size(&before), limit));
        }
        step("fs.read.after-look", path)?;
        let bytes = read_to_end(file, path, &before, limit)?;
        let after = rustix::fs::fstat(file).map_err(at(path, "look at"))?;
        let is_whole = is_unchanged(&before, &after) && bytes.len() as u64 == size(&after);
        if is_whole {
            return Ok((bytes.into(), after));
        }
        // What was read before is still there: so much the file had at that moment. That goes for files that the kernel
        // makes up, too, which do not tell their size.
        if let Some(last) = last.take_if(|last| bytes.starts_with(last)) {
            return Ok((last.into(), after));
        }
        if attempt == MAX_READS {
            return Err(at(path, "read, as another program keeps changing it,")(
                Errno::BUSY,
            ));
        }
        last = Some(bytes);
        attempt += 1;
        rustix::fs::seek(file, SeekFrom::Start(0)).map_err(at(path, "read"))?;
    }
}

fn read_to_end(
    file: impl AsFd,
    path: &WorkspacePath,
    stat: &Stat,
    limit: u64,
) -> Result<Vec<u8>, FileSystemError> {
    // One byte more, so that the end is seen without growing.
    let expected = usize::try_from(size(stat)).unwrap_or(0).saturating_add(1);
    let mut bytes = Vec::with_capacity(expected);
    loop {
        if bytes.len() as u64 > limit {
            return Err(too_large(path, bytes.len() as u64, limit));
        }
        if bytes.capacity() == bytes.len() {
            bytes.reserve(GROWTH_BYTES);
        }
        match rustix::io::read(file.as_fd(), spare_capacity(&mut bytes)) {
            Ok(0) => return Ok(bytes),
            // All that it said to have, so another look at it tells whether that is all. Files that the kernel makes
            // up say to have nothing.
            Ok(_) if bytes.len() as u64 == size(stat) => return Ok(bytes),
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(at(path, "read")(errno)),
        }
    }
}

pub(super) fn too_large(path: &WorkspacePath, size: u64, limit: u64) -> FileSystemError {
    FileSystemError::TooLarge {
        path: path.clone(),
        size,
        limit,
    }
}
