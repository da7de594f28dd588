//! What every [`SessionStore`](everruns_core::session::SessionStore) guarantees.
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use everruns_core::session::SessionStore;
//! # fn my_store(_: &std::path::Path) -> Arc<dyn SessionStore> { unimplemented!() }
//! use everruns_testkit::conformance::session_store::{self, Subject};
//!
//! # async fn test() {
//! session_store::check(|| async {
//!     let folder = Arc::new(tempfile::tempdir().expect("a temporary folder can be made"));
//!     let again = Arc::clone(&folder);
//!     Subject::new(my_store(folder.path())).restarting(move || {
//!         let again = Arc::clone(&again);
//!         async move { my_store(again.path()) }
//!     })
//! })
//! .await;
//! # }
//! ```

mod appending;
mod binding;
mod concurrency;
mod deleting;
mod forking;
mod leases;
mod listing;
mod moving;
mod paging;
mod recording;
mod restarting;
mod samples;
mod subject;

pub use subject::Subject;

use crate::check::{self, Check, Report, Selection};

const CHECKS: &[Check<Subject>] = checks![
    recording::{
        a_new_session_is_found, an_id_is_taken_once, unknown_sessions_are_not_found, titles_change,
    },
    binding::{
        is_kept_exactly, the_same_again_is_no_error, another_head_is_refused,
        an_isolated_head_serves_one_session, a_shared_head_serves_many, refused_binds_change_nothing,
    },
    appending::{
        sequences_have_no_gaps, payloads_are_kept_exactly, a_repeated_key_is_answered,
        a_stale_place_is_refused, needs_the_present_lease, keys_belong_to_their_session,
    },
    paging::{forward, backward, from_the_middle, a_limit_of_zero_counts_as_one, an_empty_session},
    leases::{
        renewing_keeps_the_token, every_renewal_has_another_end, a_held_lease_is_refused,
        what_was_seen_is_taken_over, what_has_changed_is_not_taken_over,
        the_old_holder_is_fenced, releasing_frees_it, a_stale_release_changes_nothing,
    },
    forking::{
        takes_over_the_first_events, is_made_whole_or_not_at_all, needs_the_present_lease,
        a_deleted_one_is_told_from_one_never_made,
    },
    listing::{
        most_recently_changed_first, pages_are_complete, prefixes_are_literal, one_workspace,
        a_limit_of_zero_counts_as_one, filters, titles_change,
    },
    moving::{
        goes_on_when_its_last_session_changed, goes_on_when_its_last_session_is_deleted,
        what_changes_is_at_the_front, a_late_clock_moves_nothing_back, pages_under_load,
    },
    deleting::{
        refused_while_leased, needs_the_present_lease, forgets_all, frees_the_head, spares_others,
        is_told_from_never_made, tokens_go_on,
    },
    concurrency::{
        one_appender_wins, a_repeated_append_is_applied_once, one_bind_wins, one_creator_wins,
        one_owner_wins,
    },
    restarting::{
        everything_is_kept, leases_outlive_the_process, deletions_stay_known,
        two_instances_see_each_other,
    },
];

/// Runs all checks on stores that `make` makes, each fresh and empty, and panics with what failed.
///
/// # Panics
/// When a check fails; the message names each.
pub async fn check<F, Fut, S>(make: F)
where
    F: Fn() -> Fut + Send + Sync,
    Fut: Future<Output = S> + Send,
    S: Into<Subject>,
{
    report(Selection::all(), make).await.assert_passed();
}

/// Runs the selected checks as [`check()`] does, and tells what it found.
pub async fn report<F, Fut, S>(selection: Selection, make: F) -> Report
where
    F: Fn() -> Fut + Send + Sync,
    Fut: Future<Output = S> + Send,
    S: Into<Subject>,
{
    let make = &make;
    check::run("session store", CHECKS, &selection, || async move {
        make().await.into()
    })
    .await
}
