use bytes::Bytes;
use everruns_core::file_system::{
    ContentVersion, FileMode, FileSystemError, LastLink, Precondition,
};
use everruns_core::path::WorkspacePath;
use rustix::io::Errno;

use super::call::Call;
use super::commit::Commit;
use super::errors::{at, late_step, not_flushed, step};
use super::existing::{Found, must_be_writable, set_mode};
use super::read::too_large;
use super::resolve::{Missing, Place, listed};
use super::temporary::{Temporary, write_all};
use super::tree::{Tree, again_while_changing};

impl Tree {
    pub(super) fn write(
        &self,
        path: &WorkspacePath,
        bytes: &Bytes,
        mode: FileMode,
        precondition: Precondition,
        call: &Call,
    ) -> Result<ContentVersion, FileSystemError> {
        self.enter_new(path)?;
        if bytes.len() as u64 > self.max_file_bytes {
            return Err(too_large(path, bytes.len() as u64, self.max_file_bytes));
        }
        again_while_changing(path, || {
            self.try_write(path, bytes, mode, precondition, call)
        })
    }

    fn try_write(
        &self,
        path: &WorkspacePath,
        bytes: &Bytes,
        mode: FileMode,
        precondition: Precondition,
        call: &Call,
    ) -> Result<Option<ContentVersion>, FileSystemError> {
        let place = self.place_to_write(path, precondition)?;
        let name = place.name(path)?;
        step("fs.write.before-lock", path)?;
        let lock = self.lock(path, &place.key(), call)?;
        let existing = match Found::at(&place, path, precondition, self.max_file_bytes)? {
            Found::File(existing) => Some(existing),
            Found::Nothing if place.through_link => {
                return Err(FileSystemError::Escapes { path: path.clone() });
            }
            Found::Nothing => None,
            Found::Other(kind) => {
                return Err(FileSystemError::NotAFile {
                    path: path.clone(),
                    kind,
                });
            }
            Found::Changed => return Ok(None),
        };
        match &existing {
            Some(existing) => {
                precondition.check(path, existing.version)?;
                must_be_writable(&place, path)?;
            }
            None => precondition.check(path, None)?,
        }
        step("fs.write.after-check", path)?;
        // Opened now, so that a folder that cannot be flushed is found out before anything changes.
        let flushed = match listed(&place.folder) {
            Ok(folder) => folder,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(at(path, "open the folder of")(errno)),
        };
        let temporary = Temporary::reserve(&place, &lock, path)?;
        step("fs.write.after-note", path)?;
        let file = match temporary.create() {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(at(path, "make a temporary file for")(errno)),
        };
        step("fs.write.after-temp", path)?;
        let is_exact = matches!(mode, FileMode::Exact(_));
        if is_exact {
            // Before there is anything to read in it.
            set_mode(&file, mode).map_err(at(path, "set the mode of"))?;
        }
        write_all(&file, bytes).map_err(at(path, "write"))?;
        step("fs.write.after-bytes", path)?;
        if let Some(existing) = &existing
            && !is_exact
        {
            existing
                .give_permissions(&file)
                .map_err(at(path, "set the mode of"))?;
        }
        if !is_exact {
            set_mode(&file, mode).map_err(at(path, "set the mode of"))?;
        }
        rustix::fs::fsync(&file).map_err(at(path, "flush"))?;
        step("fs.write.after-flush", path)?;
        Commit {
            path,
            folder: &place.folder,
            name,
            temporary: &temporary,
            file: &file,
            existing: existing.as_ref(),
            limit: self.max_file_bytes,
        }
        .run(precondition)?;
        late_step("fs.write.after-rename", path)?;
        rustix::fs::fsync(&flushed).map_err(not_flushed(path))?;
        late_step("fs.write.after-folder-flush", path)?;
        Ok(Some(ContentVersion::of(bytes)))
    }

    /// The place to write to, missing folders made unless nothing can be there as expected.
    fn place_to_write(
        &self,
        path: &WorkspacePath,
        precondition: Precondition,
    ) -> Result<Place, FileSystemError> {
        let missing = match precondition {
            Precondition::Matches(_) => Missing::Fail,
            Precondition::Any | Precondition::Absent => Missing::Create,
        };
        match self.place(path, LastLink::Follow, missing) {
            Err(error @ FileSystemError::NotFound { .. }) => {
                precondition.check(path, None)?;
                Err(error)
            }
            other => other,
        }
    }
}
