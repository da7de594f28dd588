use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The folders in which programs are looked up. Our own `PATH` is not used.
#[derive(Clone, Debug)]
pub(crate) struct Programs(Vec<PathBuf>);

impl Default for Programs {
    fn default() -> Self {
        let usual = [
            "/usr/local/sbin",
            "/usr/local/bin",
            "/usr/sbin",
            "/usr/bin",
            "/sbin",
            "/bin",
        ];
        Self(usual.into_iter().map(PathBuf::from).collect())
    }
}

impl Programs {
    pub(crate) fn put_first(&mut self, folder: PathBuf) {
        self.0.insert(0, folder);
    }

    /// The value of `PATH`. A folder whose name no `PATH` can hold is left out.
    pub(super) fn variable(&self) -> OsString {
        let folders = self
            .0
            .iter()
            .filter(|folder| !folder.as_os_str().as_encoded_bytes().contains(&b':'));
        std::env::join_paths(folders).unwrap_or_default()
    }

    /// Where the program is. A name with a slash is a path from the working folder.
    pub(super) fn find(&self, program: &str, working_folder: &Path) -> Option<PathBuf> {
        if program.is_empty() || program.contains('\0') {
            return None;
        }
        if program.contains('/') {
            let path = working_folder.join(program);
            return is_program(&path).then(|| PathBuf::from(program));
        }
        self.0
            .iter()
            .map(|folder| folder.join(program))
            .find(|path| is_program(path))
    }
}

fn is_program(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
