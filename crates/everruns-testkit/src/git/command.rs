use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

/// What a `git` command gave.
#[derive(Clone, Debug)]
pub struct GitOutput {
    /// Its status.
    pub status: ExitStatus,
    /// Its standard output, byte for byte.
    pub stdout: Vec<u8>,
    /// Its standard error, for people.
    pub stderr: String,
}

impl GitOutput {
    /// Standard output as text without the last line feed.
    pub fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.stdout);
        text.strip_suffix('\n').unwrap_or(&text).to_owned()
    }
}

/// Runs the real `git` in `folder`, apart from all settings of the host.
///
/// `second` is the time of commits, in seconds since the Unix epoch. No optional lock is taken, so that reading
/// commands write nothing.
#[expect(
    clippy::disallowed_methods,
    reason = "fixtures are made with the real git"
)]
pub(super) fn run(
    folder: &Path,
    home: &Path,
    second: u64,
    arguments: &[&OsStr],
) -> io::Result<GitOutput> {
    let date = format!("{second} +0000");
    let mut command = Command::new("git");
    command
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .env("HOME", home)
        .env("LC_ALL", "C")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_EDITOR", "true");
    for role in ["AUTHOR", "COMMITTER"] {
        command
            .env(format!("GIT_{role}_NAME"), "Test User")
            .env(format!("GIT_{role}_EMAIL"), "test@example.org")
            .env(format!("GIT_{role}_DATE"), &date);
    }
    let output = command.stdin(Stdio::null()).output()?;
    Ok(GitOutput {
        status: output.status,
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}
