use std::sync::Arc;

use everruns_core::workspace::{Workspace, WorkspaceBackend};
use everruns_testkit::check::{Report, Selection};
use everruns_testkit::conformance::file_system::{self, Options, Subject};
use tempfile::tempdir;

use crate::broken_file_system::{Broken, Flaw};
use crate::journal::JournalBackend;

async fn report(flaw: Flaw, selection: Selection) -> Report {
    let options = Options::default()
        .without_ignore_files()
        .without_executables()
        .without_links()
        .select(selection);
    file_system::report(options, || async {
        let state = tempdir().unwrap();
        let backend: Arc<dyn WorkspaceBackend> =
            Arc::new(JournalBackend::open(state.path()).unwrap());
        let workspace = Workspace::open(backend, "project").await.unwrap();
        let inner = workspace.head("head").create().await.unwrap().file_system();
        Subject::new(Arc::new(Broken { inner, flaw })).keeping(state)
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrapper_that_forwards_everything_passes() {
    let report = report(Flaw::None, Selection::all()).await;
    report.assert_passed();
    assert!(report.passed.len() > 80, "{report}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_flaw_is_caught_by_its_check() {
    for (flaw, check) in [
        (
            Flaw::CheckThenWrite,
            "concurrency::one_writer_wins_per_version",
        ),
        (Flaw::TornWrite, "concurrency::readers_see_whole_versions"),
        (
            Flaw::ForgetfulConflict,
            "preconditions::matches_refuses_another_version",
        ),
        (
            Flaw::VersionOfRange,
            "reading::ranges_carry_the_whole_version",
        ),
        (
            Flaw::RepeatedPages,
            "listing::pages_are_sorted_and_complete",
        ),
        (Flaw::OneSpellingOfGit, "git_internal::writing_is_refused"),
        (
            Flaw::RenameReplaces,
            "renaming::never_refuses_an_existing_file",
        ),
        (
            Flaw::RenameForgetsTheVersion,
            "renaming::another_version_is_kept",
        ),
        (Flaw::UnfilteredSearch, "grep::filter_is_asked"),
        (Flaw::LeftOvers, "preconditions::a_conflict_changes_nothing"),
        (Flaw::ModesAreLost, "modes::refused_where_there_are_none"),
        (Flaw::PromisesAll, "modes::what_is_held_is_told"),
    ] {
        let report = report(flaw, Selection::all().only(check)).await;
        assert!(
            report.has_failed(check),
            "{flaw:?} is not caught by {check}: {report}"
        );
        assert!(
            report.to_string().contains(check),
            "the failure does not name its check"
        );
    }
}

#[tokio::test]
async fn panics_are_failures_of_their_check_alone() {
    let selection = Selection::all().only("reading::");
    let report = file_system::report(Options::default().select(selection), || async {
        Subject::new(Arc::new(
            everruns_testkit::doubles::RefusingFileSystem::new(),
        ))
    })
    .await;
    assert!(
        report.passed.is_empty() && report.failed.len() == 6,
        "{report}"
    );
    let panics = std::panic::catch_unwind(|| report.assert_passed());
    assert!(panics.is_err(), "a report with failures passes");
}
