//! The real `git`, without anyone's settings.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

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

/// Makes a repository of `files` files of about 2.5 KB in folders of 100, with one commit.
pub(crate) fn repository(folder: &Path, files: usize) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)?;
    for number in 0..files {
        let path = folder.join(path(number));
        if number % 100 == 0 {
            std::fs::create_dir_all(path.parent().context("a file has a folder")?)?;
        }
        std::fs::write(path, content(number, 0))?;
    }
    run(folder, None, &["init", "--quiet", "--initial-branch=main"])?;
    run(folder, None, &["add", "."])?;
    run(folder, None, &["commit", "--quiet", "--message=first"])?;
    run(folder, None, &["repack", "-adq"])
}

/// Changes 100 files spread over the repository, differently for each `round`.
pub(crate) fn change(folder: &Path, files: usize, round: usize) -> anyhow::Result<()> {
    for number in changed(files) {
        std::fs::write(folder.join(path(number)), content(number, round + 1))?;
    }
    Ok(())
}

/// The paths that [`change`] changes.
pub(crate) fn changed_paths(files: usize) -> impl Iterator<Item = String> {
    changed(files).map(path)
}

fn changed(files: usize) -> impl Iterator<Item = usize> {
    (0..files).step_by((files / 100).max(1)).take(100)
}

/// The path of a file of [`repository`].
pub(crate) fn path(number: usize) -> String {
    format!("d{:04}/file{number:06}.txt", number / 100)
}

fn content(number: usize, round: usize) -> String {
    let lines = (0..60)
        .map(|line| format!("line {line} of file {number} in round {round}: some text"))
        .collect::<Vec<_>>();
    lines.join("\n")
}
