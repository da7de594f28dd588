//! Which branches Git's operations under way in a worktree will come back to.

use std::path::Path;

use crate::repository::read_patterns as read_small_file;

/// The files that name a branch which a rebase will move when it ends, and the one that names more of them.
const REBASED: [&str; 2] = ["rebase-merge/head-name", "rebase-apply/head-name"];
const REBASED_TOO: &str = "rebase-merge/update-refs";

/// The file that names the branch, or the commit, that a bisection goes back to.
const BISECTED: &str = "BISECT_START";

/// Which operation in the worktree with the Git directory `git_dir` has the branch `reference` in its hands, told as a
/// reason not to move it; `None` if none has.
///
/// `HEAD` doesn't name the branch meanwhile, but Git counts it as checked out, and moves it when the operation ends.
pub(super) fn holds(git_dir: &Path, reference: &str) -> Option<&'static str> {
    let names = |file: &str| {
        let content = read_small_file(&git_dir.join(file)).unwrap_or_default();
        content.trim_ascii() == reference.as_bytes()
    };
    if REBASED.into_iter().any(names) {
        return Some("it is being rebased there; finish or abort that first");
    }
    // Three lines a branch: its name, and where it was and is to be.
    let others = read_small_file(&git_dir.join(REBASED_TOO)).unwrap_or_default();
    let mut others = others.split(|byte| *byte == b'\n').step_by(3);
    if others.any(|line| line == reference.as_bytes()) {
        return Some("a rebase there moves it when it ends; finish or abort that first");
    }
    let start = read_small_file(&git_dir.join(BISECTED)).unwrap_or_default();
    let start = start.trim_ascii();
    let short = reference.strip_prefix("refs/heads/").unwrap_or(reference);
    if start == reference.as_bytes() || start == short.as_bytes() {
        return Some("a bisection there goes back to it; end that first");
    }
    None
}
