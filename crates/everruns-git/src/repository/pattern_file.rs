//! Files of patterns that configuration names, which may be anything.

use std::io::Read as _;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags};

use crate::files::into_file;

/// The largest file of patterns, in bytes.
const SIZE_LIMIT: u64 = 16 * 1024 * 1024;

/// Whether what is at `path` may be read to its end: nothing, or a regular file of a bearable size.
///
/// Links are followed, as Git does. An empty file has no pattern, and only files of the kernel's own, which may well
/// have no end, claim to be empty and are not.
pub(super) fn is_usable(path: &Path) -> bool {
    match std::fs::metadata(path) {
        Ok(found) => found.is_file() && (1..=SIZE_LIMIT).contains(&found.len()),
        Err(_) => true,
    }
}

/// The content of the file at `path`; `None` if there is none, or it may not be read to its end.
pub(crate) fn read(path: &Path) -> Option<Vec<u8>> {
    // A pipe must not block.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let handle = rustix::fs::openat(CWD, path, flags, Mode::empty()).ok()?;
    let found = rustix::fs::fstat(&handle).ok()?;
    let size = u64::try_from(found.st_size).ok()?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile || size > SIZE_LIMIT {
        return None;
    }
    let mut content = Vec::new();
    let mut file = into_file(handle).take(size);
    file.read_to_end(&mut content).ok()?;
    Some(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h16_only_regular_files_of_a_bearable_size_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("patterns"), "*.log\n").unwrap();
        std::os::unix::fs::symlink("patterns", at("link")).unwrap();
        for path in [at("patterns"), at("link")] {
            assert!(is_usable(&path));
            assert_eq!(read(&path).unwrap(), b"*.log\n");
        }
        assert!(is_usable(&at("missing")));
        std::fs::write(at("large"), vec![b'x'; 17 * 1024 * 1024]).unwrap();
        let others = ["/dev/zero", "/proc/self/maps", "/", "/dev/null"].map(Path::new);
        for path in others.into_iter().chain([at("large").as_path()]) {
            assert!(!is_usable(path), "{}", path.display());
            assert!(
                read(path).is_none_or(|content| content.is_empty()),
                "{}",
                path.display()
            );
        }
    }
}
