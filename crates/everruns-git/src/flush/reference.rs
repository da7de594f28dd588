//! Durable references.

use std::fs;
use std::path::Path;

use crate::error::{IoStep as _, Result};
use crate::state::durable;

/// Makes the reference `name` durable.
pub(crate) fn flush_reference(common_dir: &Path, name: &str) -> Result<()> {
    let path = common_dir.join(name);
    // A reference that was packed in the meantime has been written by someone who saw to that.
    if let Ok(file) = fs::OpenOptions::new().read(true).open(&path) {
        file.sync_all().step("flush", &path)?;
        if let Some(folder) = path.parent() {
            durable::sync_folder(folder)?;
        }
    }
    Ok(())
}
