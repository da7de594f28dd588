use everruns_core::file_system::{EntryIdentity, FileKind, FileSystemError, LastLink};
use everruns_core::path::WorkspacePath;

use super::errors::at;
use super::kind::{Identity, kind};
use super::resolve::Missing;
use super::stat::stat_place;
use super::tree::Tree;

impl Tree {
    /// A folder is told by its number; all else by the number of its folder and its name there, as a hard link's number
    /// is that of its partner, too.
    pub(super) fn identity(
        &self,
        path: &WorkspacePath,
        last: LastLink,
    ) -> Result<EntryIdentity, FileSystemError> {
        self.enter_existing(path)?;
        let place = self.place(path, last, Missing::Fail)?;
        let stat = stat_place(&place, path)?;
        if kind(&stat) == FileKind::Directory {
            let Identity { device, inode } = Identity::of(&stat);
            return Ok(EntryIdentity::HostFolder { device, inode });
        }
        let folder = rustix::fs::fstat(&place.folder).map_err(at(path, "look at the folder of"))?;
        let Identity { device, inode } = Identity::of(&folder);
        let stored = place.stored_path();
        let name = stored.rsplit(|byte| *byte == b'/').next();
        Ok(EntryIdentity::HostEntry {
            device,
            inode,
            name: name.unwrap_or_default().to_vec(),
        })
    }
}
