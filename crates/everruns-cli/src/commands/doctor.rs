//! `everruns doctor`

use std::fmt::Write as _;

use everruns::DoctorReport;

use crate::failure::Failure;
use crate::output::{Output, shown};
use crate::repository;
use crate::state::StateFolder;

pub(crate) async fn run(state: &StateFolder, output: Output, repair: bool) -> Result<(), Failure> {
    let backend = repository::backend(state).await?;
    let report = backend.doctor(repair).await?;
    output.show(&report, || text(&report))
}

fn text(report: &DoctorReport) -> String {
    if report.findings.is_empty() {
        return "all is well: nothing was left over".to_owned();
    }
    let mut text = String::new();
    for finding in &report.findings {
        let state = if finding.repaired {
            "put right"
        } else if finding.repairable {
            "can be put right"
        } else {
            "left as it is"
        };
        let _ = writeln!(
            text,
            "{} ({state}): {}",
            shown(&finding.kind),
            shown(&finding.subject)
        );
        let _ = writeln!(text, "  {}", shown(&finding.detail));
    }
    if report
        .findings
        .iter()
        .any(|finding| finding.repairable && !finding.repaired)
    {
        text.push_str("`everruns doctor --repair` puts right what can be\n");
    }
    text
}
