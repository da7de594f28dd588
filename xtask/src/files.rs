//! Reading and listing the files of the workspace.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::command::Command;
use crate::context::Context;

/// One text file, by its path relative to the workspace root with forward slashes.
#[derive(Debug, Clone)]
pub(crate) struct TextFile {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl TextFile {
    /// Whether this is Rust source.
    pub(crate) fn is_rust(&self) -> bool {
        Path::new(&self.path)
            .extension()
            .is_some_and(|extension| extension == "rs")
    }
}

/// Reads one UTF-8 file.
#[expect(
    clippy::disallowed_methods,
    reason = "checks read the checkout that they were built from"
)]
pub(crate) fn read(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))
}

/// Writes one file, with the folders above it.
pub(crate) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("{} cannot be made", folder.display()))?;
    }
    std::fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
}

/// The UTF-8 files that Git tracks or would track: new files count before they are added.
///
/// The checkout may belong to somebody else, as in a container: only its index is read.
/// Files that are listed but gone, and files that are not text, are left out.
pub(crate) fn tracked(context: &Context) -> anyhow::Result<Vec<TextFile>> {
    let listed = Command::new("git", &context.root)
        .args(["-c", "safe.directory=*"])
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .capture()?;
    if !listed.success {
        bail!("git could not list the files: {}", listed.stderr.trim());
    }
    let mut paths: Vec<&str> = listed
        .stdout
        .split('\0')
        .filter(|path| !path.is_empty())
        .collect();
    paths.sort_unstable();
    paths.dedup();
    let mut files = Vec::new();
    for path in paths {
        let Ok(bytes) = std::fs::read(context.root.join(path)) else {
            continue;
        };
        if let Ok(text) = String::from_utf8(bytes) {
            files.push(TextFile {
                path: path.to_owned(),
                text,
            });
        }
    }
    Ok(files)
}

/// Every file below `folder` whose name `wanted` picks; build output and `.git` are not entered.
pub(crate) fn walk(folder: &Path, wanted: fn(&str) -> bool) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)
            .with_context(|| format!("{} cannot be listed", folder.display()))?
        {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let kind = entry.file_type()?;
            if kind.is_dir() && name != "target" && name != ".git" {
                folders.push(entry.path());
            } else if kind.is_file() && wanted(&name) {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_listed_and_build_output_is_not() {
        let context = Context::discover().expect("the tests run in the workspace");
        let files = tracked(&context).expect("the workspace is a Git checkout");
        let listed = |path: &str| files.iter().any(|file| file.path == path);
        assert!(listed("xtask/src/files.rs"));
        assert!(!files.iter().any(|file| file.path.starts_with("target/")));
        let found = walk(&context.root, |name| name == "nextest.toml").expect("it can be read");
        assert_eq!(found, [context.root.join(".config/nextest.toml")]);
    }
}
