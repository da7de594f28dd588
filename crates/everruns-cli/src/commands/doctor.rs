//! `everruns doctor`

use std::fmt::Write as _;

use everruns::{DoctorReport, Finding, WorkspaceBackend as _};
use serde::Serialize;

use crate::failure::Failure;
use crate::files::exists;
use crate::output::{Output, shown};
use crate::repository;
use crate::sessions::Sessions;
use crate::state::StateFolder;

/// What was found, of the sessions and of the heads.
#[derive(Debug, Serialize)]
struct Examined {
    database: Database,
    findings: Vec<Finding>,
}

/// The state of the sessions' database.
#[derive(Debug, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
enum Database {
    /// There is none: no session was ever recorded.
    Missing,
    Sound,
    Unusable {
        problem: String,
    },
}

pub(crate) async fn run(state: &StateFolder, output: Output, repair: bool) -> Result<(), Failure> {
    // Nothing is recovered at opening: that would hide what is looked for, and change it without being asked to.
    let backend = repository::git_as_it_is(state).await?;
    let DoctorReport { findings } = backend.doctor(repair).await?;
    let examined = Examined {
        database: database(state).await?,
        findings,
    };
    output.show(&examined, || text(&examined))?;
    verdict(&examined)
}

async fn database(state: &StateFolder) -> Result<Database, Failure> {
    if !exists(&state.database()).await? {
        return Ok(Database::Missing);
    }
    let checked = match Sessions::open_alone(state).await {
        Ok(sessions) => {
            let checked = sessions.check().await;
            sessions.close().await;
            checked.map_err(Failure::from)
        }
        Err(failure) => Err(failure),
    };
    Ok(match checked {
        Ok(()) => Database::Sound,
        Err(failure) => Database::Unusable {
            problem: failure.to_string(),
        },
    })
}

/// What is left for a person to do is a failure, so that scripts notice.
fn verdict(examined: &Examined) -> Result<(), Failure> {
    let unusable = matches!(examined.database, Database::Unusable { .. });
    let left = examined
        .findings
        .iter()
        .filter(|finding| !finding.repaired)
        .count()
        + usize::from(unusable);
    let failure = match left {
        0 => return Ok(()),
        1 => Failure::new("1 thing needs a hand"),
        more => Failure::new(format!("{more} things need a hand")),
    };
    let repairable = |finding: &Finding| finding.repairable && !finding.repaired;
    Err(if examined.findings.iter().any(repairable) {
        failure.hint("`everruns doctor --repair` puts right what can be")
    } else {
        failure
    })
}

fn text(examined: &Examined) -> String {
    let mut text = match &examined.database {
        Database::Missing => "no session is recorded yet\n".to_owned(),
        Database::Sound => "the database of the sessions is sound\n".to_owned(),
        Database::Unusable { problem } => {
            format!("the database of the sessions needs a hand: {problem}\n")
        }
    };
    if examined.findings.is_empty() {
        text.push_str("all is well with the heads: nothing was left over\n");
    }
    for finding in &examined.findings {
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
    text
}
