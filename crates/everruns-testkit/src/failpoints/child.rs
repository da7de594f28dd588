use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::Signal;

const MARK: &str = "EVERRUNS_TESTKIT_CHILD";
const ARGUMENT: &str = "EVERRUNS_TESTKIT_ARGUMENT_";

/// Runs one test of the present test binary again in a process of its own, which may die.
///
/// The test asks [`is_child`] which of the two it is:
///
/// ```no_run
/// use everruns_testkit::failpoints::{Child, argument, is_child, kill_at};
///
/// # fn work_in(_: &std::ffi::OsStr) {}
/// # fn look_at(_: &std::path::Path) {}
/// #[test]
/// fn dies_in_the_middle() {
///     if is_child() {
///         kill_at("create.after-branch");
///         return work_in(&argument("state").expect("the parent gives it"));
///     }
///     let state = tempfile::tempdir().expect("a temporary folder can be made");
///     Child::of_test("dies_in_the_middle").argument("state", state.path()).run().assert_killed();
///     look_at(state.path());
/// }
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing runs before `run`"]
pub struct Child {
    test: String,
    variables: Vec<(String, OsString)>,
    patience: Duration,
}

/// How a child ended.
#[derive(Clone, Debug)]
#[must_use = "a child that died as it should not is seen here alone"]
pub struct ChildOutcome {
    /// Its status.
    pub status: ExitStatus,
    /// What it wrote to standard output and standard error.
    pub output: String,
}

/// Whether this process is a [`Child`].
pub fn is_child() -> bool {
    std::env::var_os(MARK).is_some()
}

/// What the parent gave the child under `name`.
pub fn argument(name: &str) -> Option<OsString> {
    std::env::var_os(format!("{ARGUMENT}{name}"))
}

impl Child {
    /// The test of this full name, such as `module::name`, in this very test binary.
    pub fn of_test(name: impl Into<String>) -> Self {
        Self {
            test: name.into(),
            variables: vec![(MARK.to_owned(), "1".into())],
            patience: Duration::from_mins(1),
        }
    }

    /// Gives the child a value, which it reads with [`argument`].
    pub fn argument(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables
            .push((format!("{ARGUMENT}{name}"), value.into()));
        self
    }

    /// Sets an environment variable of the child.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Kills the child after this long instead of a minute.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Runs the child to its end and blocks this thread meanwhile.
    ///
    /// # Panics
    /// When the child cannot be run, or has not ended in time; it is killed then.
    pub fn run(&self) -> ChildOutcome {
        match self.try_run() {
            Ok(outcome) => outcome,
            Err(error) => panic!("the child test `{}`: {error}", self.test),
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the present test binary runs one of its own tests"
    )]
    fn try_run(&self) -> io::Result<ChildOutcome> {
        // A file, because a full pipe would hold the child.
        let output = tempfile::NamedTempFile::new()?;
        let mut child = Command::new(std::env::current_exe()?)
            .args([&self.test, "--exact", "--nocapture", "--test-threads=1"])
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(output.reopen()?)
            .stderr(output.reopen()?)
            .process_group(0)
            .spawn()?;
        let mut waited = Duration::ZERO;
        let step = Duration::from_millis(10);
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if waited > self.patience {
                child.kill()?;
                child.wait()?;
                return Err(io::Error::other(format!(
                    "it had not ended after {waited:?}"
                )));
            }
            std::thread::sleep(step);
            waited += step;
        };
        let output = String::from_utf8_lossy(&std::fs::read(output.path())?).into_owned();
        Ok(ChildOutcome { status, output })
    }
}

impl ChildOutcome {
    /// Panics unless the child died by SIGKILL.
    ///
    /// # Panics
    /// See above.
    pub fn assert_killed(&self) {
        let killed = self.status.signal() == Some(Signal::KILL.as_raw());
        assert!(
            killed,
            "the child was not killed but ended with {}: {}",
            self.status, self.output
        );
    }

    /// Panics unless the child's test ran and passed.
    ///
    /// # Panics
    /// See above.
    pub fn assert_passed(&self) {
        // A name that no test has gives success with no test run.
        let ran = self.output.contains("1 passed");
        assert!(
            self.status.success() && ran,
            "the child ended with {}: {}",
            self.status,
            self.output
        );
    }
}
