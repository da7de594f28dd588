//! One path in the place of another.

use everruns_core::path::WorkspacePath;

/// `path`, which lies in the folder `from`, in `to` instead.
pub(crate) fn swap_folder(
    path: &WorkspacePath,
    from: &WorkspacePath,
    to: &WorkspacePath,
) -> Option<WorkspacePath> {
    if !path.starts_with(from) {
        return None;
    }
    let below = path.relative().strip_prefix(from.relative())?;
    let below = below.trim_start_matches('/');
    if below.is_empty() {
        Some(to.clone())
    } else {
        to.join(below).ok()
    }
}
