//! Durable references.

use std::path::Path;
use std::time::Instant;

use super::tell;
use crate::error::Result;
use crate::state::durable;

/// Makes the reference `name` durable, as it was written or removed here: what a reference says is flushed before it
/// gets its name.
///
/// One that was packed in the meantime has been written by someone who saw to that.
pub(crate) fn flush_reference(common_dir: &Path, name: &str) -> Result<()> {
    let path = common_dir.join(name);
    // With the last reference in it, a folder goes, too.
    if let Some(folder) = path.ancestors().skip(1).find(|folder| folder.exists()) {
        let begun = Instant::now();
        durable::sync_folder(folder)?;
        tell(begun, "the reference is on the disk");
    }
    Ok(())
}
