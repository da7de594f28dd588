//! Licences, banned crates and sources of the whole dependency graph, by cargo-deny.

use crate::context::Context;
use crate::step::Outcome;

/// The advisory database is not asked for: it needs the network, and CI may have none.
pub(crate) fn step(context: &Context) -> anyhow::Result<Outcome> {
    if !context.has_cargo_tool("deny") {
        return Ok(missing(context.ci));
    }
    context
        .cargo("deny")
        // Warnings are for whoever runs the tool by hand: here they would bury what is wrong.
        .args(["--log-level", "error", "--workspace", "--all-features"])
        .args([
            "check",
            "--hide-inclusion-graph",
            "bans",
            "licenses",
            "sources",
        ])
        .run()?;
    Ok(Outcome::Passed(
        "bans, licenses, sources; advisories are not looked at".to_owned(),
    ))
}

/// Locally a check that cannot run is shouted about; in CI it is a failure.
fn missing(ci: bool) -> Outcome {
    println!("!!!! cargo-deny is not installed: licences, bans and sources were NOT checked.");
    println!("!!!! Install it with `cargo install --locked cargo-deny@0.20.2`.");
    let reason = "cargo-deny is not installed".to_owned();
    if ci {
        Outcome::Failed(reason)
    } else {
        Outcome::NotRun(reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_tool_fails_in_ci_only() {
        assert!(matches!(missing(true), Outcome::Failed(_)));
        assert!(matches!(missing(false), Outcome::NotRun(_)));
    }
}
