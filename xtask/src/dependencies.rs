//! Each direct dependency of the workspace has a line in `docs/dependencies.md`, and no other has.

use std::collections::BTreeSet;

use anyhow::Context as _;

use crate::context::Context;
use crate::{files, markdown};

const PATH: &str = "docs/dependencies.md";

/// What the document and the workspace's manifest do not agree on.
pub(crate) fn problems(context: &Context) -> anyhow::Result<Vec<String>> {
    let manifest = files::read(&context.root.join("Cargo.toml"))?;
    let document = files::read(&context.root.join(PATH))?;
    Ok(compare(&external(&manifest)?, &documented(&document)))
}

fn compare(external: &BTreeSet<String>, documented: &BTreeSet<String>) -> Vec<String> {
    let missing = external
        .difference(documented)
        .map(|name| format!("{PATH} has no line for the dependency {name}"));
    let extra = documented
        .difference(external)
        .map(|name| format!("{PATH} has a line for {name}, which is no dependency"));
    missing.chain(extra).collect()
}

/// The dependencies of the workspace that are not its own crates.
fn external(manifest: &str) -> anyhow::Result<BTreeSet<String>> {
    let manifest: toml::Table = toml::from_str(manifest)?;
    let dependencies = manifest
        .get("workspace")
        .and_then(|workspace| workspace.get("dependencies"))
        .and_then(toml::Value::as_table)
        .context("Cargo.toml has no [workspace.dependencies]")?;
    Ok(dependencies
        .iter()
        .filter(|(_, dependency)| dependency.get("path").is_none())
        .map(|(name, _)| name.clone())
        .collect())
}

/// The names in the first column of the document's tables, which stand in backticks.
fn documented(document: &str) -> BTreeSet<String> {
    document
        .lines()
        .filter_map(markdown::cells)
        .filter_map(|cells| {
            let name = cells.first()?.strip_prefix('`')?.strip_suffix('`')?;
            Some(name.to_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_directions_are_compared() {
        let manifest = "[workspace.dependencies]\na = \"1\"\nb = { version = \"1\" }\n\
                        c = { path = \"crates/c\" }\n";
        let document = "| crate | for |\n|---|---|\n| `a` | x |\n| `d` | y |\n";
        let external = external(manifest).expect("the fixture is a manifest");
        assert_eq!(
            compare(&external, &documented(document)),
            [
                "docs/dependencies.md has no line for the dependency b",
                "docs/dependencies.md has a line for d, which is no dependency",
            ]
        );
    }
}
