use std::sync::Arc;

use everruns_testkit::check::Selection;
use everruns_testkit::conformance::session_store::{self, Subject};

use crate::reference_store::{Flaw, ReferenceStore};

#[tokio::test(flavor = "multi_thread")]
async fn the_reference_passes() {
    session_store::check(|| async { Subject::new(Arc::new(ReferenceStore::default())) }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_flaw_is_caught_by_its_check() {
    for (flaw, check) in [
        (Flaw::NoFencing, "leases::the_old_holder_is_fenced"),
        (Flaw::ForgetsKeys, "appending::a_repeated_key_is_answered"),
        (
            Flaw::BindsTwice,
            "binding::an_isolated_head_serves_one_session",
        ),
        (Flaw::BindsTwice, "concurrency::one_bind_wins"),
        (Flaw::IgnoresPlace, "appending::a_stale_place_is_refused"),
        (Flaw::IgnoresPlace, "concurrency::one_appender_wins"),
        (Flaw::ReusesTokens, "leases::what_was_seen_is_taken_over"),
        (Flaw::TakesLeases, "leases::a_held_lease_is_refused"),
        (
            Flaw::TakesLeases,
            "leases::what_has_changed_is_not_taken_over",
        ),
        (Flaw::ForksUnleased, "forking::needs_the_present_lease"),
        (Flaw::DeletesLeased, "deleting::refused_while_leased"),
        (Flaw::ReusesTokens, "deleting::tokens_go_on"),
        (Flaw::ForgetsUnleased, "deleting::is_told_from_never_made"),
        (
            Flaw::ForgetsUnleased,
            "forking::a_deleted_one_is_told_from_one_never_made",
        ),
        (Flaw::DeletedForGood, "deleting::is_told_from_never_made"),
        (Flaw::AbsentIsDeleted, "deleting::is_told_from_never_made"),
        (
            Flaw::AbsentIsDeleted,
            "forking::a_deleted_one_is_told_from_one_never_made",
        ),
        (Flaw::IgnoresCase, "listing::prefixes_are_literal"),
        (
            Flaw::FollowsTheCursor,
            "moving::goes_on_when_its_last_session_changed",
        ),
        (
            Flaw::ChangesBackwards,
            "moving::a_late_clock_moves_nothing_back",
        ),
        (
            Flaw::LeavesHalfForks,
            "forking::is_made_whole_or_not_at_all",
        ),
    ] {
        let report = session_store::report(Selection::all().only(check), || async {
            Subject::new(Arc::new(ReferenceStore::with(flaw)))
        })
        .await;
        assert!(
            report.has_failed(check),
            "{flaw:?} is not caught by {check}: {report}"
        );
    }
}
