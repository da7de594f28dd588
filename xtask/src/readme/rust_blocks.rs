//! The Rust that the README prints.

use anyhow::{Context as _, bail};

use crate::context::Context;
use crate::files;
use crate::markdown::Fence;

/// A block and the features of the facade that it needs on top of the defaults.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block {
    code: String,
    attributes: Vec<String>,
    features: Vec<String>,
    pub(super) line: usize,
}

/// What the first example needs, and each block without a `<!-- features: … -->` above it.
const USUAL_FEATURES: &str = "local";

/// Crates beside the facade that an example may use, with the versions of the workspace.
const COMPANIONS: &[&str] = &[
    "anyhow",
    "async-trait",
    "bytes",
    "futures",
    "serde_json",
    "tempfile",
    "tokio",
];

/// The blocks marked as Rust.
pub(super) fn find(fences: &[Fence]) -> Vec<Block> {
    fences.iter().filter_map(block).collect()
}

fn block(fence: &Fence) -> Option<Block> {
    let mut words = fence.info.split([',', ' ']).filter(|word| !word.is_empty());
    if words.next()? != "rust" {
        return None;
    }
    let features = fence
        .above
        .strip_prefix("<!-- features:")
        .and_then(|rest| rest.strip_suffix("-->"))
        .unwrap_or(USUAL_FEATURES);
    Some(Block {
        code: fence.text.clone(),
        attributes: words.map(str::to_owned).collect(),
        features: features
            .split([',', ' '])
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect(),
        line: fence.line,
    })
}

/// Compiles one block in a project outside the workspace.
pub(super) fn compile(context: &Context, block: &Block) -> anyhow::Result<()> {
    if let Some(attribute) = block
        .attributes
        .iter()
        .find(|word| matches!(word.as_str(), "ignore" | "compile_fail"))
    {
        bail!("the block is marked `{attribute}`: it must compile");
    }
    let folder = context
        .target
        .join("readme")
        .join(format!("line-{}", block.line));
    let workspace = files::read(&context.root.join("Cargo.toml"))?;
    let facade = context.root.join("crates/everruns");
    let manifest = manifest(&workspace, &facade.to_string_lossy(), &block.features)?;
    files::write(&folder.join("Cargo.toml"), &manifest)?;
    files::write(
        &folder.join("Cargo.lock"),
        &files::read(&context.root.join("Cargo.lock"))?,
    )?;
    files::write(&folder.join("src/main.rs"), &program(&block.code))?;
    context
        .cargo("check")
        .args(["--quiet", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .run()
        .with_context(|| format!("with the features {}", block.features.join(", ")))
}

/// The manifest of a project that has one block as its program.
fn manifest(workspace: &str, facade: &str, features: &[String]) -> anyhow::Result<String> {
    let workspace: toml::Table = toml::from_str(workspace)?;
    let theirs = workspace
        .get("workspace")
        .and_then(|table| table.get("dependencies"))
        .and_then(toml::Value::as_table)
        .context("Cargo.toml has no [workspace.dependencies]")?;
    let mut dependencies = toml::Table::new();
    let mut own = toml::Table::new();
    own.insert("path".to_owned(), facade.into());
    own.insert("features".to_owned(), features.to_vec().into());
    dependencies.insert("everruns".to_owned(), own.into());
    for name in COMPANIONS {
        if let Some(dependency) = theirs.get(*name) {
            dependencies.insert((*name).to_owned(), dependency.clone());
        }
    }
    let mut table = toml::Table::new();
    table.insert("dependencies".to_owned(), dependencies.into());
    let mut manifest = String::from(
        "[package]\nname = \"readme\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n",
    );
    manifest.push_str(&toml::to_string(&table)?);
    Ok(manifest)
}

/// The block as it is when it has a `main`, else as the body of one. As in rustdoc, a line that
/// begins with `# ` belongs to the program although it is not shown.
fn program(code: &str) -> String {
    let code: String = code
        .lines()
        .map(|line| {
            let trimmed = line.trim_start();
            if trimmed == "#" {
                ""
            } else {
                trimmed.strip_prefix("# ").unwrap_or(line)
            }
        })
        .flat_map(|line| [line, "\n"])
        .collect();
    if code.contains("fn main(") {
        return code;
    }
    format!(
        "#![allow(unused)]\n#[tokio::main]\n\
         async fn main() -> Result<(), Box<dyn std::error::Error>> {{\n{code}\nOk(())\n}}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown;

    #[test]
    fn blocks_have_features_from_the_comment_above() {
        let document = "<!-- features: git, sqlite -->\n```rust,no_run\na\n```\n\n```rust\nb\n```\n```toml\n```\n";
        let blocks = find(&markdown::fences(document));
        assert_eq!(blocks.len(), 2);
        assert_eq!(blocks[0].features, ["git", "sqlite"]);
        assert_eq!(blocks[0].attributes, ["no_run"]);
        assert_eq!(blocks[1].features, ["local"]);
    }

    #[test]
    fn a_block_with_main_is_compiled_as_printed() {
        let code = "fn main() {}\n";
        assert_eq!(program(code), code);
        assert!(
            program("# let a = 1;\nlet b = a;\n").contains("{\nlet a = 1;\nlet b = a;\n\nOk(())")
        );
    }

    #[test]
    fn the_manifest_names_the_facade_by_path() {
        let workspace =
            "[workspace.dependencies]\ntokio = { version = \"1\", features = [\"time\"] }\n";
        let text = manifest(workspace, "/x/everruns", &["local".to_owned()]).expect("it is right");
        let table: toml::Table = toml::from_str(&text).expect("it is a manifest");
        assert_eq!(
            table["dependencies"]["everruns"]["path"].as_str(),
            Some("/x/everruns")
        );
        assert_eq!(
            table["dependencies"]["tokio"]["version"].as_str(),
            Some("1")
        );
        assert!(table.contains_key("workspace"));
    }
}
