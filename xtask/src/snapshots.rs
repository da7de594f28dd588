//! No snapshot waits for somebody to look at it.

use crate::context::Context;
use crate::files;
use crate::step::Outcome;

/// Finds the files in which insta keeps what a test did not expect, tracked or not.
pub(crate) fn step(context: &Context) -> anyhow::Result<Outcome> {
    let pending = files::walk(&context.root, is_pending)?;
    let problems: Vec<String> = pending
        .iter()
        .map(|path| {
            path.strip_prefix(&context.root)
                .unwrap_or(path)
                .display()
                .to_string()
        })
        .map(|path| format!("{path}: accept it or delete it"))
        .collect();
    Ok(Outcome::of(&problems, "none is pending"))
}

fn is_pending(name: &str) -> bool {
    name.ends_with(".snap.new") || name.ends_with(".pending-snap")
}

#[cfg(test)]
mod tests {
    use super::is_pending;

    #[test]
    fn pending_snapshots_are_known_by_name() {
        assert!(is_pending("errors__a.snap.new"));
        assert!(is_pending(".lib.rs.pending-snap"));
        assert!(!is_pending("errors__a.snap"));
    }
}
