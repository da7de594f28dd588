//! What every [`WorkspaceBackend`](everruns_core::workspace::WorkspaceBackend) guarantees.
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use everruns_core::workspace::WorkspaceBackend;
//! # fn my_backend(_: &std::path::Path) -> Arc<dyn WorkspaceBackend> { unimplemented!() }
//! use everruns_testkit::conformance::workspace_backend::{self, Capabilities, Subject};
//!
//! # async fn test() {
//! workspace_backend::check(|| async {
//!     let state = Arc::new(tempfile::tempdir().expect("a temporary folder can be made"));
//!     let again = Arc::clone(&state);
//!     Subject::new(my_backend(state.path()), "project")
//!         .can(Capabilities { revisions: false, ..Capabilities::default() })
//!         .restarting(move || {
//!             let again = Arc::clone(&again);
//!             async move { my_backend(again.path()) }
//!         })
//! })
//! .await;
//! # }
//! ```
//!
//! The heads' file systems have a suite of their own: [`file_system`](super::file_system).

mod archiving;
mod bindings;
mod capabilities;
mod checkpoints;
mod claims;
mod committing;
mod concurrency;
mod creating;
mod destroying;
mod diffs;
mod dropping;
mod forks;
mod identity;
mod merging;
mod patches;
mod reopening;
mod status;
mod subject;
mod updating;

pub use capabilities::Capabilities;
pub use subject::Subject;

use crate::check::{self, Check, Report, Selection};

const CHECKS: &[Check<Subject>] = checks![
    identity::{
        one_id_for_every_locator, ids_outlive_the_process, unknown_workspaces_are_not_found,
        bad_locators_are_refused, other_workspaces_are_others,
    },
    creating::{
        isolated_by_default, shared_when_asked, unsupported_access_is_refused, names_are_unique, names_are_checked,
        unknown_revisions_are_refused, heads_are_listed_oldest_first, heads_do_not_share_files,
    },
    claims::{
        one_session_claims_an_isolated_head, a_shared_head_takes_many, claims_outlive_the_process,
        handles_share_the_claim, concurrent_claims_have_one_winner,
    },
    reopening::{
        gives_the_same_head, after_a_restart, through_the_workspace, unknown_heads_are_not_found,
    },
    bindings::{
        are_bounded_and_free_of_credentials, corrupt_payloads_never_lead_elsewhere,
        swapped_heads_are_refused, swapped_workspaces_are_refused, swapped_access_is_refused,
    },
    archiving::{
        blocks_reopening, keeps_a_held_handle_working, unarchiving_gives_it_back, is_idempotent,
        claims_are_refused,
    },
    destroying::{
        blocks_reopening, is_idempotent, keeps_uncommitted_work, frees_the_name, ends_every_operation,
        is_known_after_a_restart, waits_for_those_at_work,
    },
    dropping::{
        handles_remove_nothing, a_dropped_create_leaves_a_whole_head_or_none,
        a_dropped_fork_leaves_its_origin_whole, a_dropped_restore_leaves_one_state,
        a_dropped_destroy_loses_no_work,
    },
    status::{clean_and_dirty, lists_what_differs, tells_archived},
    checkpoints::{
        restore_brings_back_the_files, change_nothing, the_same_state_has_one_revision, are_listed,
        unknown_ones_are_refused, unsupported_is_told, outlive_the_process, serve_other_heads,
    },
    diffs::{tell_what_changed, since_a_checkpoint, a_fresh_head_has_none},
    forks::{
        hold_uncommitted_work, are_independent, know_their_origin, names_are_unique, unsupported_is_told,
        of_a_checkpoint_have_its_state,
    },
    committing::{
        leaves_the_head_clean, of_paths_leaves_the_rest, bad_messages_change_nothing, outlives_the_head,
        is_taken_back_by_a_restore, is_in_forks, unsupported_is_told,
    },
    updating::{
        brings_what_the_branch_got, joins_both_sides, local_changes_are_named_and_stay, conflicts_wait_for_a_commit,
        a_restore_ends_a_merge, unknown_branches_are_refused,
    },
    patches::{are_applied_by_git, unsupported_is_told},
    merging::{moves_the_branch, unknown_branches_are_refused, unsupported_is_told},
    concurrency::{
        different_names_all_succeed, one_name_is_given_once, a_second_instance_sees_the_first,
    },
];

/// Runs all checks on subjects that `make` makes, each over fresh state, and panics with what failed.
///
/// # Panics
/// When a check fails; the message names each.
pub async fn check<F, Fut>(make: F)
where
    F: Fn() -> Fut + Send + Sync,
    Fut: Future<Output = Subject> + Send,
{
    report(Selection::all(), make).await.assert_passed();
}

/// Runs the selected checks as [`check()`] does, and tells what it found.
pub async fn report<F, Fut>(selection: Selection, make: F) -> Report
where
    F: Fn() -> Fut + Send + Sync,
    Fut: Future<Output = Subject> + Send,
{
    let make = &make;
    check::run("workspace backend", CHECKS, &selection, make).await
}
