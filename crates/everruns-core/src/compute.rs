//! Commands on a head, and what their isolation really is.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::path::WorkspacePath;

/// What the kernel enforces for the commands of a compute. A field is `true` only where it is enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ComputeIsolation {
    /// Writes outside the head are denied.
    pub writes_confined: bool,
    /// Reads outside the head and the system's own programs are denied.
    pub reads_confined: bool,
    /// The network is denied.
    pub network_denied: bool,
}

/// A command to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandRequest {
    /// The program, looked up in the compute's own `PATH`.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The folder to run in. It never widens what may be written.
    pub working_folder: WorkspacePath,
    /// Variables on top of the compute's own, scrubbed environment.
    pub environment: BTreeMap<String, String>,
    /// What it reads from its standard input.
    pub input: Bytes,
    /// After so long it is killed with all its children.
    pub timeout: Duration,
    /// At most so many bytes are kept of each output.
    pub output_limit: usize,
}

impl CommandRequest {
    /// `program` with no arguments in the head's top folder, for at most two minutes and 256 KiB of output.
    pub fn new(program: impl Into<String>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            working_folder: WorkspacePath::root(),
            environment: BTreeMap::new(),
            input: Bytes::new(),
            timeout: Duration::from_mins(2),
            output_limit: 256 * 1024,
        }
    }
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CommandEnd {
    /// It exited with this code.
    Exited(i32),
    /// A signal ended it.
    Signalled(i32),
    /// It was killed at its time limit.
    TimedOut,
}

/// What a command did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandOutcome {
    /// How it ended.
    pub end: CommandEnd,
    /// Its standard output, cut to the limit.
    pub stdout: Bytes,
    /// Its standard error, cut to the limit.
    pub stderr: Bytes,
    /// Whether an output was cut.
    pub truncated: bool,
}

/// Why a command was not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ComputeError {
    /// The host cannot enforce what this compute promises. Nothing was run.
    #[error("this host cannot confine commands: {missing}; nothing was run")]
    IsolationUnavailable {
        /// What is missing.
        missing: String,
    },
    /// The program was not found.
    #[error("the program `{}` was not found", program.escape_debug())]
    ProgramNotFound {
        /// The program.
        program: String,
    },
    /// The working folder is not in the head, or is no folder.
    #[error("{path} is no folder to run in")]
    WorkingFolder {
        /// The folder.
        path: WorkspacePath,
    },
    /// The request sets a variable that it may not set. Nothing was run.
    #[error("the variable `{}` may not be set for a command", name.escape_debug())]
    VariableRefused {
        /// The variable's name.
        name: String,
    },
    /// The process could not be started or watched.
    #[error("could not {step}: {source}")]
    Io {
        /// Which step failed.
        step: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
}

/// Runs commands on one head.
///
/// A sandbox is a process boundary and apart from path policy: [`isolation`](Self::isolation) says what this
/// compute enforces, and nothing else may be assumed.
#[async_trait]
pub trait Compute: Send + Sync + Debug {
    /// The compute's name, such as `landlock`.
    fn name(&self) -> &str;

    /// What the kernel enforces for every command.
    fn isolation(&self) -> ComputeIsolation;

    /// Runs a command to its end. Dropping the future kills it with all its children.
    ///
    /// # Errors
    /// [`ComputeError`]; a command that fails is an outcome, not an error.
    async fn run(&self, request: CommandRequest) -> Result<CommandOutcome, ComputeError>;
}
