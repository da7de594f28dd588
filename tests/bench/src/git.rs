//! The real `git`, without anyone's settings.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

/// What `git` prints.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that runs the alternative measured"
)]
fn output(folder: &Path, arguments: &[&str]) -> anyhow::Result<String> {
    let output = Command::new("git")
        .current_dir(folder)
        .args(["-c", "core.quotePath=false"])
        .args(arguments)
        .output()
        .context("git cannot be run")?;
    if !output.status.success() {
        bail!("git {} failed", arguments.join(" "));
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Runs `git` in `folder`; `index` is used instead of the folder's own index when given.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that runs the alternative measured"
)]
pub(crate) fn run(folder: &Path, index: Option<&Path>, arguments: &[&str]) -> anyhow::Result<()> {
    let mut command = Command::new("git");
    command
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .args([
            "-c",
            "user.name=Bench",
            "-c",
            "user.email=bench@example.org",
            "-c",
            "gc.auto=0",
        ])
        .args(arguments)
        .stdout(Stdio::null());
    if let Some(index) = index {
        command.env("GIT_INDEX_FILE", index);
    }
    let status = command.status().context("git cannot be run")?;
    if !status.success() {
        bail!("git {} failed", arguments.join(" "));
    }
    Ok(())
}

/// A repository to measure with.
#[derive(Debug)]
pub(crate) struct Project {
    /// Its folder.
    pub(crate) folder: PathBuf,
    /// The paths of its files.
    pub(crate) files: Vec<String>,
}

impl Project {
    /// A repository of `files` files of about 2.5 KB in folders of 100, with one commit.
    pub(crate) fn generated(folder: &Path, files: usize) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let files: Vec<String> = (0..files).map(path).collect();
        for (number, file) in files.iter().enumerate() {
            let path = folder.join(file);
            if number % 100 == 0 {
                std::fs::create_dir_all(path.parent().context("a file has a folder")?)?;
            }
            std::fs::write(path, content(number))?;
        }
        run(folder, None, &["init", "--quiet", "--initial-branch=main"])?;
        run(folder, None, &["add", "."])?;
        run(folder, None, &["commit", "--quiet", "--message=first"])?;
        run(folder, None, &["repack", "-adq"])?;
        Ok(Self {
            folder: folder.to_owned(),
            files,
        })
    }

    /// A clone of the repository at `source`, with its checked out commit as `main`.
    pub(crate) fn cloned(folder: &Path, source: &Path) -> anyhow::Result<Self> {
        let (from, to) = (text(source)?, text(folder)?);
        run(
            &std::env::temp_dir(),
            None,
            &["clone", "--quiet", "--no-hardlinks", from, to],
        )?;
        run(folder, None, &["checkout", "--quiet", "-B", "main"])?;
        run(folder, None, &["repack", "-adq"])?;
        let listed = output(folder, &["ls-files"])?;
        Ok(Self {
            folder: folder.to_owned(),
            files: listed.lines().map(str::to_owned).collect(),
        })
    }

    /// Adds a line to each of 100 files spread over `worktree`.
    pub(crate) fn change(&self, worktree: &Path, round: usize) -> anyhow::Result<()> {
        for file in self.changed() {
            let mut file = std::fs::OpenOptions::new()
                .append(true)
                .open(worktree.join(file))?;
            writeln!(file, "changed in round {round}")?;
        }
        Ok(())
    }

    /// The files that [`change`](Self::change) changes.
    pub(crate) fn changed(&self) -> impl Iterator<Item = &String> {
        let step = (self.files.len() / 100).max(1);
        self.files.iter().step_by(step).take(100)
    }
}

/// The path of a file of a generated repository.
pub(crate) fn path(number: usize) -> String {
    format!("d{:04}/file{number:06}.txt", number / 100)
}

fn content(number: usize) -> String {
    let lines = (0..60)
        .map(|line| format!("line {line} of file {number} as it was: some text"))
        .collect::<Vec<_>>();
    lines.join("\n")
}

fn text(path: &Path) -> anyhow::Result<&str> {
    path.to_str().context("a folder's name is no Unicode")
}
