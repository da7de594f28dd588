//! The user's own `git`, to make the repository and to say what it thinks of the heads. The product itself never
//! runs it.

use std::path::Path;

use tokio::process::Command;

use crate::failure::Failure;

/// Runs `git` in `folder` and gives what it prints. Neither the user's nor the system's settings have a say.
pub(super) async fn run(folder: &Path, arguments: &[&str]) -> Result<String, Failure> {
    let null = if cfg!(windows) { "NUL" } else { "/dev/null" };
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            command.env_remove(name);
        }
    }
    command
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", null)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .args([
            "-c",
            "user.name=Demo",
            "-c",
            "user.email=demo@example.org",
            "-c",
            "core.pager=cat",
        ])
        .args(arguments)
        .kill_on_drop(true);
    let output = command.output().await.map_err(|error| {
        Failure::new(format!("`git` cannot be run: {error}"))
            .hint("install Git: the demonstration makes its repository with it")
    })?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        let said = String::from_utf8_lossy(&output.stderr);
        Err(Failure::new(format!(
            "`git {}` failed: {}",
            arguments.join(" "),
            said.trim()
        )))
    }
}
