use rustix::fs::{Mode, OFlags};

/// For a folder that is only a place to start from.
pub(super) const FOLDER: OFlags = OFlags::PATH
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// For a folder that is listed or flushed.
pub(super) const LISTED_FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

/// For a file that is read. A FIFO does not block, a terminal does not become ours.
pub(super) const READ: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// For a file that must be new.
pub(super) const CREATE: OFlags = OFlags::WRONLY
    .union(OFlags::CREATE)
    .union(OFlags::EXCL)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// The mode of new files, before the process's mask.
pub(super) const FILE_MODE: Mode = Mode::from_raw_mode(0o666);

/// The mode of new folders, before the process's mask.
pub(super) const FOLDER_MODE: Mode = Mode::from_raw_mode(0o777);
