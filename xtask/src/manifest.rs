//! What the checks need of a `Cargo.toml`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;

use crate::context::Context;
use crate::files;

type Dependencies = BTreeMap<String, Dependency>;

/// The tables of a manifest that say on what a crate depends, and its features.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Manifest {
    pub(crate) package: Package,
    #[serde(default)]
    pub(crate) features: BTreeMap<String, Vec<String>>,
    #[serde(flatten)]
    tables: Tables,
    #[serde(default)]
    target: BTreeMap<String, Tables>,
}

/// The name of a package and what it tells other tools.
#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) metadata: BTreeMap<String, toml::Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Tables {
    #[serde(default)]
    dependencies: Dependencies,
    #[serde(default)]
    build_dependencies: Dependencies,
    #[serde(default)]
    dev_dependencies: Dependencies,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Dependency {
    Version(#[expect(dead_code, reason = "only the shape matters")] String),
    Detailed { package: Option<String> },
}

impl Manifest {
    /// Parses the text of a `Cargo.toml`.
    pub(crate) fn parse(text: &str) -> anyhow::Result<Self> {
        Ok(toml::from_str(text)?)
    }

    /// Reads a `Cargo.toml`.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        Self::parse(&files::read(path)?).with_context(|| format!("in {}", path.display()))
    }

    /// The packages that a user of this crate builds too, whatever the platform.
    pub(crate) fn normal_dependencies(&self) -> Vec<&str> {
        self.all_tables()
            .flat_map(|tables| tables.dependencies.iter().chain(&tables.build_dependencies))
            .map(package_name)
            .collect()
    }

    /// The packages that only this crate's tests build.
    pub(crate) fn dev_dependencies(&self) -> Vec<&str> {
        self.all_tables()
            .flat_map(|tables| &tables.dev_dependencies)
            .map(package_name)
            .collect()
    }

    fn all_tables(&self) -> impl Iterator<Item = &Tables> {
        std::iter::once(&self.tables).chain(self.target.values())
    }
}

/// The package behind a key of a dependency table, which may rename it.
fn package_name<'a>((key, dependency): (&'a String, &'a Dependency)) -> &'a str {
    match dependency {
        Dependency::Detailed {
            package: Some(package),
        } => package,
        Dependency::Detailed { package: None } | Dependency::Version(_) => key,
    }
}

/// The manifests of `crates/*`, by package name.
pub(crate) fn library_crates(context: &Context) -> anyhow::Result<Vec<Manifest>> {
    let folder = context.root.join("crates");
    let mut manifests = Vec::new();
    for entry in std::fs::read_dir(&folder)
        .with_context(|| format!("{} cannot be listed", folder.display()))?
    {
        let path = entry?.path().join("Cargo.toml");
        if path.is_file() {
            manifests.push(Manifest::read(&path)?);
        }
    }
    manifests.sort_by(|left, right| left.package.name.cmp(&right.package.name));
    Ok(manifests)
}
