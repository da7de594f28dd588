//! Storing objects as one pack.

use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Instant;

use everruns_core::failpoint::hit;
use gix::odb::memory::Storage;

use super::encode::encode;
use crate::error::{IoStep as _, Result};
use crate::flush::tell;

/// What names of files that are being written start with. `git gc` removes such files where a crash has left them.
const UNFINISHED: &str = "tmp_pack_";

/// Stores `objects` as a pack of the database of `repository`.
///
/// The pack and its index are on the disk before they are named, so that no crash leaves a broken one; the pack is named
/// first, as Git only looks at packs that have an index. Their names are on the disk once their folder is flushed.
pub(super) fn write(repository: &gix::Repository, mut objects: Storage) -> Result<()> {
    let mut objects: Vec<_> = objects
        .drain()
        .map(|(id, (kind, data))| (id, kind, data))
        .collect();
    objects.sort_unstable_by_key(|(id, ..)| *id);
    let encoded = encode(repository.object_hash(), &objects)?;
    let folder = repository.common_dir().join("objects/pack");
    let name = format!("pack-{}", encoded.checksum);
    fs::create_dir_all(&folder).step("create", &folder)?;
    place(&folder, &format!("{name}.pack"), &encoded.pack)?;
    hit("git.objects.after-pack")?;
    place(&folder, &format!("{name}.idx"), &encoded.index)?;
    hit("git.objects.after-index")?;
    Ok(())
}

/// Writes `bytes` to the file `name` of `folder`, which nobody may change, as Git makes it.
fn place(folder: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let path = folder.join(name);
    let write = || -> io::Result<()> {
        let mut file = tempfile::Builder::new()
            .prefix(UNFINISHED)
            .permissions(Permissions::from_mode(0o444))
            .tempfile_in(folder)?;
        file.write_all(bytes)?;
        let begun = Instant::now();
        file.as_file().sync_data()?;
        tell(begun, "a pack is on the disk");
        file.persist(&path)?;
        Ok(())
    };
    write().step("write", &path)
}
