//! A project outside the workspace that uses the facade as a stranger would.

use anyhow::{Context as _, bail};
use serde::Deserialize;

use crate::command::Command;
use crate::context::Context;
use crate::manifest::Manifest;
use crate::step::Outcome;

/// Tests and runs the consumer with each of its feature sets.
pub(crate) fn step(context: &Context) -> anyhow::Result<Outcome> {
    let folder = context.root.join("tests/consumer");
    let manifest = Manifest::read(&folder.join("Cargo.toml"))?;
    let sets = feature_sets(&manifest)?;
    let mut problems = Vec::new();
    for set in &sets {
        let selected = |subcommand: &str| {
            context
                .cargo(subcommand)
                .arg("--manifest-path")
                .arg(folder.join("Cargo.toml"))
                .args(context.ci.then_some("--locked"))
                .args(["--no-default-features", "--features", set.as_str()])
        };
        let mut commands = vec![selected("test")];
        for binary in binaries(context, set)? {
            commands.push(selected("run").arg("--quiet").arg("--bin").arg(binary));
        }
        // What does not build for its tests is not worth a second attempt.
        if let Err(error) = commands.into_iter().try_for_each(Command::run) {
            problems.push(format!("with `{set}`: {error:#}"));
        }
    }
    Ok(Outcome::of(
        &problems,
        format!("{} feature sets: {}", sets.len(), sets.join("; ")),
    ))
}

/// What the consumer's manifest says in `[package.metadata.consumer] feature-sets`: each entry is
/// one set of its own features, separated by commas or spaces.
fn feature_sets(manifest: &Manifest) -> anyhow::Result<Vec<String>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    struct Consumer {
        feature_sets: Vec<FeatureSet>,
    }
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum FeatureSet {
        Text(String),
        List(Vec<String>),
    }

    let metadata = manifest
        .package
        .metadata
        .get("consumer")
        .context("the consumer has no [package.metadata.consumer] with feature-sets")?;
    let consumer: Consumer = metadata.clone().try_into()?;
    if consumer.feature_sets.is_empty() {
        bail!("the consumer's feature-sets are empty: nothing would be checked");
    }
    let text = |set| match set {
        FeatureSet::Text(text) => text,
        FeatureSet::List(list) => list.join(","),
    };
    Ok(consumer.feature_sets.into_iter().map(text).collect())
}

/// The binaries of the consumer that its features `set` allow.
fn binaries(context: &Context, set: &str) -> anyhow::Result<Vec<String>> {
    let metadata = context
        .cargo("metadata")
        .args(["--no-deps", "--format-version", "1", "--manifest-path"])
        .arg(context.root.join("tests/consumer/Cargo.toml"))
        .capture()?;
    if !metadata.success {
        bail!("cargo cannot read the consumer: {}", metadata.stderr.trim());
    }
    runnable(&metadata.stdout, set)
}

fn runnable(metadata: &str, set: &str) -> anyhow::Result<Vec<String>> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Package>,
    }
    #[derive(Deserialize)]
    struct Package {
        targets: Vec<Target>,
    }
    #[derive(Deserialize)]
    struct Target {
        name: String,
        kind: Vec<String>,
        #[serde(default, rename = "required-features")]
        required_features: Vec<String>,
    }

    let metadata: Metadata = serde_json::from_str(metadata)?;
    let selected: Vec<&str> = set.split([',', ' ']).collect();
    Ok(metadata
        .packages
        .into_iter()
        .flat_map(|package| package.targets)
        .filter(|target| target.kind.iter().any(|kind| kind == "bin"))
        .filter(|target| {
            target
                .required_features
                .iter()
                .all(|needed| selected.contains(&needed.as_str()))
        })
        .map(|target| target.name)
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets(metadata: &str) -> anyhow::Result<Vec<String>> {
        feature_sets(&Manifest::parse(&format!(
            "[package]\nname = \"x\"\n{metadata}"
        ))?)
    }

    #[test]
    fn feature_sets_are_read_in_both_spellings() {
        let read = sets(
            "[package.metadata.consumer]\nfeature-sets = [\"\", \"local\", [\"git\", \"sqlite\"]]",
        );
        assert_eq!(
            read.expect("the fixture is right"),
            ["", "local", "git,sqlite"]
        );
    }

    #[test]
    fn no_feature_sets_is_an_error() {
        assert!(sets("").is_err());
        assert!(sets("[package.metadata.consumer]\nfeature-sets = []").is_err());
    }

    #[test]
    fn binaries_whose_features_are_off_are_not_run() {
        let metadata = r#"{"packages":[{"targets":[
            {"name":"plain","kind":["bin"]},
            {"name":"git","kind":["bin"],"required-features":["local"]},
            {"name":"lib","kind":["lib"]}]}]}"#;
        assert_eq!(
            runnable(metadata, "").expect("the fixture is right"),
            ["plain"]
        );
        let both = runnable(metadata, "openai,local").expect("the fixture is right");
        assert_eq!(both, ["plain", "git"]);
    }
}
