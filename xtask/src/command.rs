//! Child processes: the one place of this crate that starts them.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::path::Path;
use std::process::{self, Stdio};
use std::thread;

use anyhow::{Context as _, bail};

/// A command that is shown before it runs and never reads from the terminal.
#[derive(Debug)]
pub(crate) struct Command {
    inner: process::Command,
    shown: String,
}

/// What a command wrote, and whether it exited with zero.
#[derive(Debug)]
pub(crate) struct Captured {
    pub(crate) success: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Command {
    /// `program`, to be run in `folder`.
    #[expect(
        clippy::disallowed_methods,
        reason = "checks run other tools; folder and standard input are pinned here"
    )]
    pub(crate) fn new(program: impl AsRef<OsStr>, folder: &Path) -> Self {
        let program = program.as_ref();
        let mut inner = process::Command::new(program);
        inner.current_dir(folder).stdin(Stdio::null());
        let shown = Path::new(program)
            .file_name()
            .unwrap_or(program)
            .to_string_lossy()
            .into_owned();
        Self { inner, shown }
    }

    /// Adds one argument.
    pub(crate) fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        let text = argument.as_ref().to_string_lossy();
        let quote = if text.is_empty() || text.contains(char::is_whitespace) {
            "'"
        } else {
            ""
        };
        self.shown.extend([" ", quote, &text, quote]);
        self.inner.arg(argument);
        self
    }

    /// Adds several arguments.
    pub(crate) fn args<A: AsRef<OsStr>>(self, arguments: impl IntoIterator<Item = A>) -> Self {
        arguments.into_iter().fold(self, Self::arg)
    }

    /// Sets one variable of the child's environment, and shows it.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        let quote = if value.contains(char::is_whitespace) {
            "'"
        } else {
            ""
        };
        self.shown = format!("{name}={quote}{value}{quote} {}", self.shown);
        self.quiet_env(name, value)
    }

    /// Sets one variable that is the same for all commands and not worth showing.
    pub(crate) fn quiet_env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.inner.env(name, value);
        self
    }

    /// The command as a person would type it.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// Runs with the terminal's output; an error unless it exits with zero.
    pub(crate) fn run(mut self) -> anyhow::Result<()> {
        println!("$ {}", self.shown);
        let status = self
            .inner
            .status()
            .with_context(|| format!("`{}` did not start", self.shown))?;
        if !status.success() {
            bail!("`{}` failed: {status}", self.shown);
        }
        Ok(())
    }

    /// Runs silently and returns what was written.
    pub(crate) fn capture(mut self) -> anyhow::Result<Captured> {
        let output = self
            .inner
            .output()
            .with_context(|| format!("`{}` did not start", self.shown))?;
        Ok(Captured {
            success: output.status.success(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }

    /// Runs with the terminal's output, and keeps the lines that `keep` picks.
    ///
    /// The kept lines come back whether or not the command succeeded.
    pub(crate) fn run_keeping(
        mut self,
        keep: fn(&str) -> bool,
    ) -> anyhow::Result<(bool, Vec<String>)> {
        println!("$ {}", self.shown);
        let mut child = self
            .inner
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("`{}` did not start", self.shown))?;
        let stdout = child.stdout.take().context("the output was piped")?;
        let stderr = child.stderr.take().context("the output was piped")?;
        let on_stderr = thread::spawn(move || echo(stderr, std::io::stderr(), keep));
        let mut kept = echo(stdout, std::io::stdout(), keep)?;
        match on_stderr.join() {
            Ok(lines) => kept.extend(lines?),
            Err(_) => bail!("the output of `{}` could not be read", self.shown),
        }
        Ok((child.wait()?.success(), kept))
    }
}

/// Copies line by line, so that progress is seen while it happens.
fn echo(
    from: impl Read,
    mut to: impl Write,
    keep: fn(&str) -> bool,
) -> anyhow::Result<Vec<String>> {
    let mut kept = Vec::new();
    let mut reader = BufReader::new(from);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        to.write_all(&line)?;
        let text = String::from_utf8_lossy(&line);
        if keep(&text) {
            kept.push(text.trim().to_owned());
        }
        line.clear();
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bash(script: &str) -> Command {
        Command::new("bash", Path::new("/")).args(["-c", script])
    }

    #[test]
    fn commands_are_shown_as_they_would_be_typed() {
        let command = bash("exit 3").env("A", "b c").quiet_env("D", "e");
        assert_eq!(command.shown(), "A='b c' bash -c 'exit 3'");
    }

    #[test]
    fn a_failed_command_is_an_error_that_names_it() {
        let error = bash("exit 3").run().expect_err("it exits with 3");
        assert_eq!(
            error.to_string(),
            "`bash -c 'exit 3'` failed: exit status: 3"
        );
        assert!(bash("exit 0").run().is_ok());
        assert!(
            Command::new("no-such-program", Path::new("/"))
                .run()
                .is_err()
        );
    }

    #[test]
    fn kept_lines_come_from_both_streams_and_survive_a_failure() {
        let script = "echo keep one; echo drop; echo keep two >&2; exit 1";
        let (success, mut kept) = bash(script)
            .run_keeping(|line| line.starts_with("keep"))
            .expect("bash starts");
        kept.sort();
        assert!(!success);
        assert_eq!(kept, ["keep one", "keep two"]);
    }

    #[test]
    fn commands_see_their_variables_and_no_input() {
        let captured = bash("echo \"$A\"; cat")
            .env("A", "b")
            .capture()
            .expect("bash starts");
        assert!(captured.success);
        assert_eq!(captured.stdout, "b\n");
    }
}
