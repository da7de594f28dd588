use everruns_core::clock::Timestamp;
use everruns_core::file_system::{FileKind, FileStat, FileSystemError, Permissions};
use everruns_core::path::WorkspacePath;
use rustix::fs::{FileType, Stat};

/// Which file on which device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) device: u64,
    pub(super) inode: u64,
}

impl Identity {
    pub(super) fn of(stat: &Stat) -> Self {
        Self {
            device: stat.st_dev,
            inode: stat.st_ino,
        }
    }
}

pub(super) fn kind_of(file_type: FileType) -> FileKind {
    match file_type {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        FileType::Symlink => FileKind::Symlink,
        _ => FileKind::Special,
    }
}

pub(super) fn kind(stat: &Stat) -> FileKind {
    kind_of(FileType::from_raw_mode(stat.st_mode))
}

pub(super) fn size(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

pub(super) fn file_stat(stat: &Stat) -> FileStat {
    let kind = kind(stat);
    let is_folder = kind == FileKind::Directory;
    let millis = stat
        .st_mtime
        .saturating_mul(1_000)
        .saturating_add(i64::try_from(stat.st_mtime_nsec / 1_000_000).unwrap_or(0));
    FileStat {
        kind,
        size: if is_folder { 0 } else { size(stat) },
        executable: kind == FileKind::File && stat.st_mode & 0o100 != 0,
        modified: Some(Timestamp::from_millis(millis)),
        permissions: permissions(stat),
    }
}

/// Those of a link mean nothing.
fn permissions(stat: &Stat) -> Option<Permissions> {
    let bits = u16::try_from(stat.st_mode & 0o777).ok()?;
    (kind(stat) != FileKind::Symlink).then(|| Permissions::new(bits))
}

/// Refuses everything but a regular file.
pub(super) fn must_be_file(path: &WorkspacePath, stat: &Stat) -> Result<(), FileSystemError> {
    match kind(stat) {
        FileKind::File => Ok(()),
        kind => Err(FileSystemError::NotAFile {
            path: path.clone(),
            kind,
        }),
    }
}

/// Whether both tell of the same bytes of the same file, as far as the system's clocks can tell.
pub(super) fn is_unchanged(before: &Stat, after: &Stat) -> bool {
    Identity::of(before) == Identity::of(after)
        && before.st_size == after.st_size
        && (before.st_mtime, before.st_mtime_nsec) == (after.st_mtime, after.st_mtime_nsec)
        && (before.st_ctime, before.st_ctime_nsec) == (after.st_ctime, after.st_ctime_nsec)
}
