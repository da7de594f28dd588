//! Proof that the repository's own files are as they were.

use std::collections::BTreeMap;
use std::path::Path;

use everruns::file_system::ContentVersion;

use super::git;
use super::say::{must, said};
use crate::failure::Failure;

/// Every file of the working tree, and what of `.git` is the user's: its index, HEAD and configuration.
pub(super) struct Fingerprint {
    files: BTreeMap<String, ContentVersion>,
    own: BTreeMap<String, ContentVersion>,
    status: String,
    branches: String,
}

impl Fingerprint {
    pub(super) fn files(&self) -> usize {
        self.files.len()
    }
}

pub(super) async fn take(project: &Path) -> Result<Fingerprint, Failure> {
    let mut files = BTreeMap::new();
    collect(project, project, &mut files)
        .map_err(|error| Failure::new(format!("{} cannot be read: {error}", project.display())))?;
    let mut own = BTreeMap::new();
    for name in ["index", "HEAD", "config"] {
        let path = project.join(".git").join(name);
        let bytes = std::fs::read(&path)
            .map_err(|error| Failure::new(format!("{} cannot be read: {error}", path.display())))?;
        own.insert(name.to_owned(), ContentVersion::of(&bytes));
    }
    let status = git::run(project, &["status", "--porcelain"]).await?;
    let all = git::run(project, &["for-each-ref", "refs/heads", "refs/tags"]).await?;
    let theirs = all
        .lines()
        .filter(|line| !line.contains("refs/heads/everruns/"));
    Ok(Fingerprint {
        files,
        own,
        status,
        branches: theirs.collect::<Vec<_>>().join("\n"),
    })
}

/// Fails unless the repository is as it was at `before`.
pub(super) async fn compare(before: &Fingerprint, project: &Path) -> Result<(), Failure> {
    let now = take(project).await?;
    must(
        now.files == before.files,
        "the files of your working tree are byte for byte as they were",
    )?;
    must(
        now.own == before.own,
        "your index, HEAD and configuration are byte for byte as they were",
    )?;
    must(
        now.status == before.status,
        "`git status` says what it said",
    )?;
    must(
        now.branches == before.branches,
        "your branches point where they pointed",
    )?;
    said(&format!(
        "checked: your {} files, index, HEAD, configuration and branches are byte for byte as before",
        now.files()
    ))
}

fn collect(
    top: &Path,
    folder: &Path,
    files: &mut BTreeMap<String, ContentVersion>,
) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            if entry.file_name() != ".git" {
                collect(top, &path, files)?;
            }
        } else {
            let name = path
                .strip_prefix(top)
                .unwrap_or(&path)
                .to_string_lossy()
                .into_owned();
            files.insert(name, ContentVersion::of(&std::fs::read(&path)?));
        }
    }
    Ok(())
}
