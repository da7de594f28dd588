//! The arrows between the crates: what may depend on what.

use std::collections::BTreeSet;

use anyhow::bail;

use crate::context::Context;
use crate::manifest::{self, Manifest};
use crate::step::Outcome;

/// One crate and the crates of this workspace on which it may depend.
struct Layer {
    name: &'static str,
    may_use: &'static [&'static str],
}

/// The architecture, lowest layer first.
const LAYERS: &[Layer] = &[
    Layer {
        name: "everruns-core",
        may_use: &[],
    },
    Layer {
        name: "everruns-fs",
        may_use: &["everruns-core"],
    },
    Layer {
        name: "everruns-git",
        may_use: &["everruns-core", "everruns-fs"],
    },
    Layer {
        name: "everruns-store",
        may_use: &["everruns-core"],
    },
    Layer {
        name: "everruns-models",
        may_use: &["everruns-core"],
    },
    Layer {
        name: "everruns-compute",
        may_use: &["everruns-core"],
    },
    Layer {
        name: "everruns-engine",
        may_use: &["everruns-core", "everruns-fs"],
    },
    Layer {
        name: "everruns",
        may_use: &[
            "everruns-core",
            "everruns-fs",
            "everruns-git",
            "everruns-store",
            "everruns-models",
            "everruns-compute",
            "everruns-engine",
        ],
    },
    Layer {
        name: CLI,
        may_use: &["everruns"],
    },
    Layer {
        name: TESTKIT,
        may_use: &["everruns-core", "everruns-fs"],
    },
];

/// For tests only: any crate may have it as a dev-dependency, none as another.
const TESTKIT: &str = "everruns-testkit";

/// The top layer is tested against the scripted server that the acceptance tests have. Nothing but its tests may use it,
/// and no other layer's.
const CLI: &str = "everruns-cli";
const ACCEPTANCE: &str = "everruns-acceptance";

/// The bottom layer does no I/O and knows no vendor: neither these nor crates of their families
/// may be in what it builds.
const CORE: &str = "everruns-core";
const NOT_BELOW_CORE: &[&str] = &["tokio", "gix", "sqlx", "genai", "reqwest"];

/// Checks the manifests, then what cargo resolves below the bottom layer.
pub(crate) fn step(context: &Context) -> anyhow::Result<Outcome> {
    let manifests = manifest::library_crates(context)?;
    let mut problems: Vec<String> = manifests.iter().flat_map(forbidden_arrows).collect();
    let below_core = below_core(context)?;
    problems.extend(
        below_core
            .iter()
            .filter(|name| is_not_for_core(name))
            .map(|name| format!("{CORE} builds {name}, though through another crate")),
    );
    Ok(Outcome::of(
        &problems,
        format!(
            "{} crates; {} packages below {CORE}",
            manifests.len(),
            below_core.len()
        ),
    ))
}

/// What one crate depends on and must not.
fn forbidden_arrows(manifest: &Manifest) -> Vec<String> {
    let name = manifest.package.name.as_str();
    let Some(layer) = LAYERS.iter().find(|layer| layer.name == name) else {
        return vec![format!(
            "{name} has no place in the architecture: give it a layer"
        )];
    };
    let normal = manifest.normal_dependencies();
    let dev = manifest.dev_dependencies();
    let mut problems: Vec<String> = normal
        .iter()
        .filter(|other| is_ours(other) && !layer.may_use.contains(other))
        .map(|other| format!("{name} must not depend on {other}"))
        .collect();
    problems.extend(
        dev.iter()
            .filter(|other| is_ours(other) && **other != TESTKIT && **other != name)
            .filter(|other| !layer.may_use.contains(other))
            .filter(|other| !(name == CLI && **other == ACCEPTANCE))
            .map(|other| format!("{name} must not depend on {other}, not even in its tests")),
    );
    if name == CORE {
        problems.extend(
            normal
                .iter()
                .filter(|other| is_not_for_core(other))
                .map(|other| format!("{name} must not depend on {other}: no I/O, no vendor")),
        );
    }
    problems
}

fn is_ours(package: &str) -> bool {
    package == "xtask" || package == "everruns" || package.starts_with("everruns-")
}

fn is_not_for_core(package: &str) -> bool {
    NOT_BELOW_CORE.iter().any(|banned| {
        package
            .strip_prefix(banned)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    })
}

/// The packages that cargo builds for the bottom layer with all its features.
fn below_core(context: &Context) -> anyhow::Result<BTreeSet<String>> {
    let tree = context
        .cargo_locked("tree")
        .args([
            "--package",
            CORE,
            "--all-features",
            "--edges",
            "normal,build",
        ])
        .args(["--prefix", "none", "--format", "{p}"])
        .capture()?;
    if !tree.success {
        bail!("cargo could not resolve {CORE}: {}", tree.stderr.trim());
    }
    let names = tree
        .stdout
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    Ok(names.map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(name: &str, tables: &str) -> Vec<String> {
        let text = format!("[package]\nname = \"{name}\"\n{tables}");
        forbidden_arrows(&Manifest::parse(&text).expect("the fixture is a manifest"))
    }

    #[test]
    fn each_allowed_arrow_passes_and_each_other_one_is_found() {
        for from in LAYERS {
            for to in LAYERS {
                let found = problems(from.name, &format!("[dependencies]\n{} = \"1\"", to.name));
                if from.may_use.contains(&to.name) {
                    assert!(found.is_empty(), "{} -> {}: {found:?}", from.name, to.name);
                } else {
                    let expected = format!("{} must not depend on {}", from.name, to.name);
                    assert_eq!(found, [expected]);
                }
            }
        }
    }

    #[test]
    fn the_arrows_have_no_cycle_and_implementations_are_strangers() {
        for (index, layer) in LAYERS.iter().enumerate() {
            for lower in layer.may_use {
                let place = LAYERS.iter().position(|other| other.name == *lower);
                assert!(
                    place.is_some_and(|place| place < index),
                    "{} -> {lower}",
                    layer.name
                );
            }
        }
        let found = problems("everruns-store", "[dependencies]\neverruns-git = \"1\"");
        assert_eq!(found, ["everruns-store must not depend on everruns-git"]);
    }

    #[test]
    fn testkit_is_for_tests_of_every_crate_and_for_nothing_else() {
        for layer in LAYERS.iter().filter(|layer| layer.name != TESTKIT) {
            let found = problems(layer.name, "[dev-dependencies]\neverruns-testkit = \"1\"");
            assert!(found.is_empty(), "{found:?}");
            let found = problems(layer.name, "[build-dependencies]\neverruns-testkit = \"1\"");
            assert_eq!(
                found,
                [format!("{} must not depend on {TESTKIT}", layer.name)]
            );
        }
    }

    #[test]
    fn tests_do_not_reach_around_the_layers_either() {
        let found = problems(
            "everruns-engine",
            "[dev-dependencies]\neverruns-git = \"1\"",
        );
        assert_eq!(
            found,
            ["everruns-engine must not depend on everruns-git, not even in its tests"]
        );
    }

    #[test]
    fn the_scripted_server_is_for_the_tests_of_the_command_alone() {
        for layer in LAYERS {
            let table = format!("[dev-dependencies]\n{ACCEPTANCE} = \"1\"");
            assert_eq!(problems(layer.name, &table).is_empty(), layer.name == CLI);
            let table = format!("[dependencies]\n{ACCEPTANCE} = \"1\"");
            assert_eq!(problems(layer.name, &table).len(), 1);
        }
    }

    #[test]
    fn core_has_no_runtime_and_no_vendor() {
        for banned in [
            "tokio",
            "tokio-util",
            "gix",
            "gix-hash",
            "sqlx",
            "genai",
            "reqwest",
        ] {
            let found = problems(CORE, &format!("[dependencies]\n{banned} = \"1\""));
            assert_eq!(found.len(), 1, "{banned}: {found:?}");
        }
        assert!(problems(CORE, "[dependencies]\nserde = \"1\"").is_empty());
        assert!(problems(CORE, "[dev-dependencies]\ntokio = \"1\"").is_empty());
    }

    #[test]
    fn renamed_and_platform_dependencies_are_seen() {
        let renamed = "[dependencies]\nrepo = { package = \"everruns-git\", version = \"1\" }";
        assert_eq!(problems("everruns-store", renamed).len(), 1);
        let platform = "[target.'cfg(unix)'.dependencies]\neverruns-git = { path = \"../g\" }";
        assert_eq!(problems("everruns-store", platform).len(), 1);
    }

    #[test]
    fn a_crate_without_a_layer_is_found() {
        assert_eq!(problems("everruns-new", "").len(), 1);
    }
}
