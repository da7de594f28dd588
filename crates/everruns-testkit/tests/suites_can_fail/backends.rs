use std::sync::Arc;

use everruns_core::workspace::WorkspaceBackend;
use everruns_testkit::check::{Report, Selection};
use everruns_testkit::conformance::workspace_backend::{self, Subject};
use tempfile::tempdir;

use crate::broken_backend::{Broken, Flaw};
use crate::journal::JournalBackend;

async fn report(flaw: Flaw, check: &str) -> Report {
    workspace_backend::report(Selection::all().only(check), || async {
        let state = Arc::new(tempdir().unwrap());
        let open = move || {
            let inner = Arc::new(JournalBackend::open(state.path()).unwrap());
            Arc::new(Broken { inner, flaw }) as Arc<dyn WorkspaceBackend>
        };
        Subject::new(open(), "project").restarting(move || {
            let again = open();
            async { again }
        })
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_flaw_is_caught_by_its_check() {
    for (flaw, check) in [
        (Flaw::OpensArchived, "archiving::blocks_reopening"),
        (Flaw::IgnoresPayload, "bindings::swapped_heads_are_refused"),
        (Flaw::SharedByDefault, "creating::isolated_by_default"),
        (
            Flaw::SharedByDefault,
            "claims::one_session_claims_an_isolated_head",
        ),
        (Flaw::Substitutes, "reopening::unknown_heads_are_not_found"),
    ] {
        let report = report(flaw, check).await;
        assert!(
            report.has_failed(check),
            "{flaw:?} is not caught by {check}: {report}"
        );
    }
}
