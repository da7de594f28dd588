use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

pub(crate) const TARGET: &str = "EVERRUNS_STORE_TEST_TARGET";
pub(crate) const TEST: &str = "EVERRUNS_STORE_TEST_NAME";
const ARGUMENT: &str = "EVERRUNS_STORE_TEST_ARGUMENT";

/// Marks the lines that are meant for the parent.
const MARK: &str = "@child ";

/// This test in a process of its own. Killed when dropped.
pub(crate) struct Child {
    process: std::process::Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Child {
    #[expect(
        clippy::disallowed_methods,
        reason = "starts this very binary again, with nothing that comes from outside"
    )]
    pub(crate) fn spawn(test: &'static str, target: &str, argument: &str) -> Self {
        let (_crate, name) = test.split_once("::").unwrap();
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture", "--test-threads=1"])
            .env(TARGET, target)
            .env(TEST, test)
            .env(ARGUMENT, argument)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            input: process.stdin.take().unwrap(),
            output: BufReader::new(process.stdout.take().unwrap()),
            process,
        }
    }

    /// The next line that the child tells; `None` when it has ended.
    pub(crate) fn hear(&mut self) -> Option<String> {
        let mut line = String::new();
        loop {
            line.clear();
            if self.output.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            // What the test harness printed before is on the same line.
            if let Some((_, told)) = line.split_once(MARK) {
                return Some(told.trim_end().to_owned());
            }
        }
    }

    /// Lets the child go on from `wait`.
    pub(crate) fn go(&mut self) {
        self.input.write_all(b"go\n").unwrap();
        self.input.flush().unwrap();
    }

    /// SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    pub(crate) fn wait(&mut self) -> std::process::ExitStatus {
        self.process.wait().unwrap()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// What the parent gave this child.
pub(crate) fn argument() -> String {
    std::env::var(ARGUMENT).unwrap()
}

/// Tells the parent.
pub(crate) fn tell(text: &str) {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{MARK}{text}").unwrap();
    output.flush().unwrap();
}

/// Waits until the parent lets it go on.
pub(crate) fn wait() {
    let mut line = String::new();
    assert_ne!(
        std::io::stdin().read_line(&mut line).unwrap(),
        0,
        "the parent is gone"
    );
}
