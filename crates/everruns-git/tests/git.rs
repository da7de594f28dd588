//! The backend beside the real `git`.
#![expect(
    clippy::unwrap_used,
    reason = "in a test and its fixtures, what can't be unwrapped is a failure"
)]

#[path = "git/fixture/mod.rs"]
mod fixture;

#[path = "git/checkpoint.rs"]
mod checkpoint;
#[path = "git/claims.rs"]
mod claims;
#[path = "git/commit.rs"]
mod commit;
#[path = "git/conformance.rs"]
mod conformance;
#[path = "git/crash.rs"]
mod crash;
#[path = "git/destroyed.rs"]
mod destroyed;
#[path = "git/diff.rs"]
mod diff;
#[path = "git/doctor.rs"]
mod doctor;
#[path = "git/dropped.rs"]
mod dropped;
#[path = "git/failed.rs"]
mod failed;
#[path = "git/filters.rs"]
mod filters;
#[path = "git/folding.rs"]
mod folding;
#[path = "../../everruns-fs/tests/disk/folding_disk.rs"]
#[expect(clippy::print_stderr, reason = "what isn't tested must be heard of")]
#[expect(dead_code, reason = "shared with the tests of the file systems")]
mod folding_disk;
#[path = "git/forged.rs"]
mod forged;
#[path = "git/fork_from.rs"]
mod fork_from;
#[path = "git/full_disk.rs"]
mod full_disk;
#[path = "git/generated.rs"]
mod generated;
#[path = "git/guide.rs"]
mod guide;
#[path = "git/home_crash.rs"]
mod home_crash;
#[path = "git/home_full_disk.rs"]
mod home_full_disk;
#[path = "git/home_generated.rs"]
mod home_generated;
#[path = "git/hostile.rs"]
mod hostile;
#[path = "git/identity.rs"]
mod identity;
#[path = "git/ignored.rs"]
mod ignored;
#[path = "git/input.rs"]
mod input;
#[path = "git/killed_filters.rs"]
mod killed_filters;
#[path = "git/kinds.rs"]
mod kinds;
#[path = "git/lifecycle.rs"]
mod lifecycle;
#[path = "git/locks.rs"]
mod locks;
#[path = "git/marks.rs"]
mod marks;
#[path = "git/merge.rs"]
mod merge;
#[path = "git/names.rs"]
mod names;
#[path = "git/own_changes.rs"]
mod own_changes;
#[path = "git/packs.rs"]
mod packs;
#[path = "git/parallel.rs"]
mod parallel;
#[path = "git/patch.rs"]
mod patch;
#[path = "git/picks.rs"]
mod picks;
#[path = "git/reflink.rs"]
mod reflink;
#[path = "git/restore.rs"]
mod restore;
#[path = "git/status.rs"]
mod status;
#[path = "git/submodules.rs"]
mod submodules;
#[path = "git/turns.rs"]
mod turns;
#[path = "git/unborn.rs"]
mod unborn;
#[path = "git/undo.rs"]
mod undo;
#[path = "git/unfinished.rs"]
mod unfinished;
#[path = "git/unreadable.rs"]
mod unreadable;
#[path = "git/untouched.rs"]
mod untouched;
#[path = "git/update.rs"]
mod update;
