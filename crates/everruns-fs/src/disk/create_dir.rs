use everruns_core::file_system::{FileKind, FileSystemError, LastLink, Permissions};
use everruns_core::path::WorkspacePath;
use rustix::fs::Mode;
use rustix::io::Errno;

use super::errors::{at, not_flushed};
use super::flags::FOLDER_MODE;
use super::kind::kind;
use super::resolve::{Missing, listed};
use super::stat::stat_place;
use super::tree::{Tree, again_while_changing};

impl Tree {
    pub(super) fn create_dir(
        &self,
        path: &WorkspacePath,
        permissions: Option<Permissions>,
    ) -> Result<(), FileSystemError> {
        self.enter_new(path)?;
        again_while_changing(path, || self.try_create_dir(path, permissions))
    }

    fn try_create_dir(
        &self,
        path: &WorkspacePath,
        permissions: Option<Permissions>,
    ) -> Result<Option<()>, FileSystemError> {
        let place = self.place(path, LastLink::Follow, Missing::Create)?;
        let Some(name) = &place.name else {
            return Ok(Some(()));
        };
        match stat_place(&place, path) {
            Ok(stat) => {
                return match kind(&stat) {
                    FileKind::Directory => Ok(Some(())),
                    FileKind::Symlink => Ok(None),
                    _ => Err(FileSystemError::NotADirectory { path: path.clone() }),
                };
            }
            Err(FileSystemError::NotFound { .. }) if place.through_link => {
                return Err(FileSystemError::Escapes { path: path.clone() });
            }
            Err(FileSystemError::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
        // Opened now, so that a folder that cannot be flushed is found out before anything changes.
        let flushed = match listed(&place.folder) {
            Ok(folder) => folder,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(at(path, "open the folder of")(errno)),
        };
        let mode = permissions.map_or(FOLDER_MODE, |permissions| {
            Mode::from_raw_mode((permissions.bits() | 0o700).into())
        });
        match rustix::fs::mkdirat(&place.folder, name, mode) {
            Ok(()) => rustix::fs::fsync(&flushed)
                .map(Some)
                .map_err(not_flushed(path)),
            // Made or removed by somebody else meanwhile.
            Err(Errno::EXIST | Errno::NOENT) => Ok(None),
            Err(errno) => Err(at(path, "make the folder")(errno)),
        }
    }
}
