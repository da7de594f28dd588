use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use everruns_core::compute::{CommandEnd, CommandOutcome, CommandRequest, ComputeError};
use rustix::process::Pid;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;
use tokio::process::ChildStdin;

use super::output::{self, Output};
use super::spawn::{Plan, failed, group_of, spawn};
use super::{Programs, environment, reaper};
use crate::folder::HeadFolder;

/// How long the pipes of killed processes may take to close.
const CLOSING: Duration = Duration::from_secs(2);

/// A request that was found acceptable.
pub(crate) struct Job {
    request: CommandRequest,
    programs: Programs,
    mark: String,
}

impl Job {
    pub(crate) fn new(request: CommandRequest, programs: Programs) -> Result<Self, ComputeError> {
        environment::check(&request.environment)?;
        Ok(Self {
            request,
            programs,
            mark: mark()?,
        })
    }

    /// Runs it to its end. `confine` is called with the private folder on the thread that starts the process.
    pub(crate) async fn run(
        self,
        folder: HeadFolder,
        confine: impl FnOnce(&Path) -> Result<(), ComputeError> + Send + 'static,
    ) -> Result<CommandOutcome, ComputeError> {
        let Self {
            request,
            programs,
            mark,
        } = self;
        let home = blocking("make a private folder", private_folder).await?;
        let variables = environment::build(&programs, home.path(), &mark, request.environment);
        let plan = Plan {
            folder,
            working_folder: request.working_folder,
            programs,
            program: request.program,
            arguments: request.arguments,
            environment: variables,
            home: home.path().to_owned(),
            mark: mark.clone(),
        };
        let mut killer = Killer {
            group: None,
            mark,
            home: Some(home),
        };
        let mut child = spawn(plan, confine).await?;
        killer.group = group_of(&child);
        let outputs = (Mutex::default(), Mutex::default());
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let stdin = child.stdin.take();
        let limit = request.output_limit;
        let end = {
            let pumps = async {
                tokio::join!(
                    feed(stdin, request.input),
                    output::read(out, limit, &outputs.0),
                    output::read(err, limit, &outputs.1),
                )
            };
            tokio::pin!(pumps);
            let mut pumped = false;
            let deadline = tokio::time::sleep(request.timeout);
            tokio::pin!(deadline);
            let end = loop {
                tokio::select! {
                    ended = child.wait() => break outcome(ended)?,
                    () = &mut deadline => break CommandEnd::TimedOut,
                    _ = &mut pumps, if !pumped => pumped = true,
                }
            };
            killer.kill().await?;
            if end == CommandEnd::TimedOut {
                child
                    .wait()
                    .await
                    .map_err(|source| failed("wait for the command", source))?;
            }
            if !pumped {
                // What is in the pipes is still read; a process that escaped may hold them open for longer.
                let _late = tokio::time::timeout(CLOSING, pumps).await;
            }
            end
        };
        let [stdout, stderr] = [outputs.0, outputs.1].map(taken);
        Ok(CommandOutcome {
            end,
            truncated: stdout.truncated || stderr.truncated,
            stdout: Bytes::from(stdout.bytes),
            stderr: Bytes::from(stderr.bytes),
        })
    }
}

/// Kills what is left of a command and deletes its private folder, at its end or when its future is dropped.
struct Killer {
    group: Option<Pid>,
    mark: String,
    home: Option<TempDir>,
}

impl Killer {
    async fn kill(&mut self) -> Result<(), ComputeError> {
        let (group, mark, home) = (self.group.take(), self.mark.clone(), self.home.take());
        blocking("end the command", move || {
            reaper::kill_all(group, &mark);
            drop(home);
            Ok(())
        })
        .await
    }
}

impl Drop for Killer {
    fn drop(&mut self) {
        let Some(home) = self.home.take() else { return };
        let (group, mark) = (self.group.take(), std::mem::take(&mut self.mark));
        // A thread of its own, because nobody waits and reading `/proc` takes its time.
        let clean = move || {
            reaper::kill_all(group, &mark);
            drop(home);
        };
        if let Err(error) = std::thread::Builder::new()
            .name("everruns-reaper".into())
            .spawn(clean)
        {
            tracing::warn!(%error, "could not start a thread to end a command");
        }
    }
}

async fn feed(stdin: Option<ChildStdin>, input: Bytes) {
    let Some(mut stdin) = stdin else { return };
    // A command need not read its input.
    let _unread = stdin.write_all(&input).await;
}

fn outcome(ended: std::io::Result<std::process::ExitStatus>) -> Result<CommandEnd, ComputeError> {
    use std::os::unix::process::ExitStatusExt as _;
    let status = ended.map_err(|source| failed("wait for the command", source))?;
    Ok(match (status.code(), status.signal()) {
        (Some(code), _) => CommandEnd::Exited(code),
        (None, signal) => CommandEnd::Signalled(signal.unwrap_or_default()),
    })
}

fn taken(output: Mutex<Output>) -> Output {
    output.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn private_folder() -> std::io::Result<TempDir> {
    tempfile::Builder::new()
        .prefix("everruns-command-")
        .tempdir()
}

fn mark() -> Result<String, ComputeError> {
    let mut random = [0_u8; 16];
    getrandom::fill(&mut random)
        .map_err(|error| failed("make a random mark", std::io::Error::other(error)))?;
    let mut mark = String::with_capacity(32);
    for byte in random {
        // Writing to a text can't fail.
        let _written = write!(mark, "{byte:02x}");
    }
    Ok(mark)
}

/// The one way to blocking work here, apart from the threads that start and end commands.
async fn blocking<T: Send + 'static>(
    step: &'static str,
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T, ComputeError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(|source| failed(step, source)),
        Err(error) => Err(failed(step, std::io::Error::other(error))),
    }
}
