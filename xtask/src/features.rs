//! Each feature builds alone, and so do none, the default and all of them, without a warning.

use std::collections::HashSet;
use std::time::Instant;

use serde::Deserialize;

use crate::context::Context;
use crate::manifest::{self, Manifest};
use crate::step::Outcome;

/// Checks the facade first, then each crate by itself: without the rest of the workspace, cargo
/// turns on no feature that the crate did not ask for.
pub(crate) fn step(context: &Context) -> anyhow::Result<Outcome> {
    let mut manifests = manifest::library_crates(context)?;
    manifests.sort_by_key(|manifest| manifest.package.name != "everruns");
    let mut problems = Vec::new();
    let mut shown = HashSet::new();
    let mut checked = 0;
    for manifest in &manifests {
        for selection in selections(manifest) {
            checked += 1;
            if let Some(problem) = check(context, &manifest.package.name, &selection, &mut shown)? {
                problems.push(problem);
            }
        }
    }
    let crates = manifests.len();
    Ok(Outcome::of(
        &problems,
        format!("{checked} feature sets of {crates} crates"),
    ))
}

/// The arguments that choose each feature set of a crate that is worth building.
fn selections(manifest: &Manifest) -> Vec<Vec<String>> {
    let none = || vec!["--no-default-features".to_owned()];
    let mut selections = vec![none()];
    if manifest.features.is_empty() {
        return selections;
    }
    for feature in manifest
        .features
        .keys()
        .filter(|feature| *feature != "default")
    {
        let mut alone = none();
        alone.extend(["--features".to_owned(), feature.clone()]);
        selections.push(alone);
    }
    if manifest.features.contains_key("default") {
        selections.push(Vec::new());
    }
    if manifest.features.len() > 1 {
        selections.push(vec!["--all-features".to_owned()]);
    }
    selections
}

/// Builds one feature set; what is wrong with it, if anything. A diagnostic that was `shown` for
/// another set is not printed again.
fn check(
    context: &Context,
    package: &str,
    selection: &[String],
    shown: &mut HashSet<String>,
) -> anyhow::Result<Option<String>> {
    let command = context
        .cargo_locked("check")
        .args(["--package", package])
        .args(selection)
        .args(["--quiet", "--message-format", "json"]);
    print!("$ {}", command.shown());
    let started = Instant::now();
    let name = format!("{package} {}", selection.join(" "));
    let captured = command.capture()?;
    println!("  ({:.1} s)", started.elapsed().as_secs_f64());
    let diagnostics = our_diagnostics(&captured.stdout);
    for diagnostic in &diagnostics {
        if shown.insert(diagnostic.clone()) {
            print!("{diagnostic}");
        }
    }
    if !captured.success {
        if shown.insert(captured.stderr.clone()) {
            print!("{}", captured.stderr);
        }
        return Ok(Some(format!("{name}: does not build")));
    }
    Ok((!diagnostics.is_empty()).then(|| format!("{name}: {} warnings", diagnostics.len())))
}

/// One line of cargo's JSON output.
#[derive(Deserialize)]
struct Message {
    reason: String,
    message: Option<Diagnostic>,
}

#[derive(Deserialize)]
struct Diagnostic {
    level: String,
    rendered: Option<String>,
}

/// The warnings and errors among cargo's messages; cargo caps those of other people's crates.
fn our_diagnostics(stdout: &str) -> Vec<String> {
    stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<Message>(line).ok())
        .filter(|message| message.reason == "compiler-message")
        .filter_map(|message| message.message)
        .filter(|diagnostic| diagnostic.level == "warning" || diagnostic.level == "error")
        .filter_map(|diagnostic| diagnostic.rendered)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets(features: &str) -> Vec<String> {
        let text = format!("[package]\nname = \"x\"\n{features}");
        let manifest = Manifest::parse(&text).expect("the fixture is a manifest");
        selections(&manifest)
            .iter()
            .map(|arguments| arguments.join(" "))
            .collect()
    }

    #[test]
    fn none_each_default_and_all_are_chosen() {
        assert_eq!(
            sets("[features]\ndefault = [\"a\"]\na = []\nb = []"),
            [
                "--no-default-features",
                "--no-default-features --features a",
                "--no-default-features --features b",
                "",
                "--all-features",
            ]
        );
        assert_eq!(sets(""), ["--no-default-features"]);
    }

    #[test]
    fn only_warnings_and_errors_count() {
        let lines = [
            r#"{"reason":"compiler-message","message":{"level":"warning","rendered":"unused\n"}}"#,
            r#"{"reason":"compiler-message","message":{"level":"note","rendered":"by the way"}}"#,
            r#"{"reason":"compiler-artifact","target":{}}"#,
            r#"{"reason":"build-finished","success":true}"#,
        ];
        assert_eq!(our_diagnostics(&lines.join("\n")), ["unused\n"]);
    }
}
