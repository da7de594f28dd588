use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use everruns_testkit::git::GitFixture;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{Server, redacted};

/// How long anything that a test waits for may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// A repository, a state folder beside it, and the program to be run there.
pub(crate) struct Place {
    pub(crate) repository: GitFixture,
    model: Vec<(&'static str, String)>,
}

/// What a run of the program gave.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    folder: PathBuf,
}

/// A run of the program that goes on.
pub(crate) struct Running {
    child: Child,
    folder: PathBuf,
}

impl Place {
    /// A repository with a few files, with work in it that is not committed.
    pub(crate) fn new() -> Self {
        let repository = GitFixture::sample();
        repository.write("README.md", "# Sample\n\nThe user works on this.\n");
        Self {
            repository,
            model: Vec::new(),
        }
    }

    /// Asks the server's model from now on.
    pub(crate) fn asks(&mut self, server: &Server) {
        self.model = vec![
            ("OPENAI_API_KEY", "test-key".to_owned()),
            ("OPENAI_BASE_URL", server.url().to_owned()),
            ("EVERRUNS_MODEL", "scripted".to_owned()),
        ];
    }

    /// Knows no model from now on.
    pub(crate) fn asks_nobody(&mut self) {
        self.model.clear();
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.repository.beside("state")
    }

    /// The program, with nothing of this machine's settings, in the repository's folder.
    #[expect(clippy::disallowed_methods, reason = "the program is what is tested")]
    pub(crate) fn program(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_everruns"));
        command
            .args(arguments)
            .current_dir(self.repository.path())
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .env("HOME", self.repository.beside("home"))
            .env("TMPDIR", self.folder())
            .env("EVERRUNS_STATE", self.state())
            .envs(self.model.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.finish(&mut self.program(arguments))
    }

    pub(crate) fn finish(&self, command: &mut Command) -> Ran {
        let output = command.output().unwrap();
        Ran {
            status: output.status,
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            folder: self.folder(),
        }
    }

    /// Runs the program with its standard output going elsewhere.
    pub(crate) fn finish_into(&self, arguments: &[&str], stdout: Stdio) -> Ran {
        let child = self
            .program(arguments)
            .stdout(stdout)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Running {
            child,
            folder: self.folder(),
        }
        .finish()
    }

    /// Runs the program, which has to do what it is told, and gives what it prints.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert!(ran.status.success(), "{arguments:?}: {ran:?}");
        ran.stdout
    }

    /// Runs the program with `--json`, which has to do what it is told, and gives the result.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let mut all = arguments.to_vec();
        all.push("--json");
        let printed = self.ok(&all);
        serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"))
    }

    /// Runs the program, which has to refuse, and gives what it says, redacted.
    pub(crate) fn refused(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!(ran.status.code(), Some(1), "{arguments:?}: {ran:?}");
        assert_eq!(ran.stdout, "", "{arguments:?}");
        ran.said()
    }

    /// Starts the program and leaves it running.
    pub(crate) fn start(&self, arguments: &[&str]) -> Running {
        let child = self
            .program(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Running {
            child,
            folder: self.folder(),
        }
    }

    /// Makes a head and gives its folder.
    pub(crate) fn head(&self, name: &str) -> (String, PathBuf) {
        let made = self.json(&["head", "create", name]);
        let id = made["head"]["id"].as_str().unwrap().to_owned();
        (id, made["location"].as_str().unwrap().into())
    }

    /// The only session there is.
    pub(crate) fn session(&self) -> Value {
        let listed = self.json(&["session", "list"]);
        let sessions = listed["sessions"].as_array().unwrap();
        assert_eq!(sessions.len(), 1, "{sessions:?}");
        sessions[0].clone()
    }

    /// The id of the only session there is.
    pub(crate) fn session_id(&self) -> String {
        self.session()["id"].as_str().unwrap().to_owned()
    }

    /// The folder that everything of this test is in.
    pub(crate) fn folder(&self) -> PathBuf {
        self.repository.path().parent().unwrap().to_owned()
    }
}

impl Ran {
    /// Standard error without what differs from run to run.
    pub(crate) fn said(&self) -> String {
        redacted(&self.stderr, &self.folder)
    }

    /// Standard output without what differs from run to run.
    pub(crate) fn printed(&self) -> String {
        redacted(&self.stdout, &self.folder)
    }
}

impl Running {
    pub(crate) fn send(&self, signal: Signal) {
        let process = Pid::from_child(&self.child);
        kill_process(process, signal).unwrap();
    }

    /// Waits until the program has said `text` on standard error, and gives what it has said up to then.
    pub(crate) fn until_said(mut self, text: &str) -> (String, Self) {
        let mut said = Vec::new();
        let errors = self.child.stderr.as_mut().unwrap();
        let mut byte = [0];
        while !said.ends_with(text.as_bytes()) {
            errors.read_exact(&mut byte).unwrap();
            said.extend(byte);
        }
        (String::from_utf8(said).unwrap(), self)
    }

    pub(crate) fn finish(self) -> Ran {
        let output = self.child.wait_with_output().unwrap();
        Ran {
            status: output.status,
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            folder: self.folder,
        }
    }
}

/// Waits until something is so.
pub(crate) fn until(what: &str, mut so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !so() {
        assert!(start.elapsed() < PATIENCE, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What a file of a head holds.
#[expect(
    clippy::disallowed_methods,
    reason = "the files of a test are looked at from outside"
)]
pub(crate) fn text(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// A line for a shell, in the repository's folder, with the settings that the program gets.
#[expect(clippy::disallowed_methods, reason = "what is printed is for a shell")]
pub(crate) fn shell(place: &Place, line: &str) -> Command {
    let program = place.program(&[]);
    let settings = program.get_envs();
    let mut command = Command::new("sh");
    command
        .args(["-c", line])
        .current_dir(place.repository.path())
        .env_clear()
        .envs(settings.filter_map(|(name, value)| Some((name, value?))))
        .stdin(Stdio::null());
    command
}
