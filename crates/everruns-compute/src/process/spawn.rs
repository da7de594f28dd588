use std::ffi::OsString;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use everruns_core::compute::ComputeError;
use rustix::process::Pid;
use tokio::process::{Child, Command};

use super::reaper;
use crate::folder::HeadFolder;

/// All that a process is started with.
pub(super) struct Plan {
    pub(super) folder: HeadFolder,
    pub(super) working_folder: everruns_core::path::WorkspacePath,
    pub(super) programs: super::Programs,
    pub(super) program: String,
    pub(super) arguments: Vec<String>,
    pub(super) environment: Vec<(OsString, OsString)>,
    pub(super) home: PathBuf,
    pub(super) mark: String,
}

/// Starts a process from a thread of its own, on which `confine` may restrict itself: restrictions of a thread hold
/// for the processes that it starts, and end with it. When `confine` fails nothing is started.
pub(super) async fn spawn(
    plan: Plan,
    confine: impl FnOnce(&Path) -> Result<(), ComputeError> + Send + 'static,
) -> Result<Child, ComputeError> {
    let runtime = tokio::runtime::Handle::current();
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let thread = std::thread::Builder::new().name("everruns-command".into());
    let started = thread.spawn(move || {
        let _context = runtime.enter();
        let mark = plan.mark.clone();
        if let Err(Ok(child)) = sender.send(start(plan, confine)) {
            // Nobody waits any more.
            reaper::kill_all(group_of(&child), &mark);
        }
    });
    started.map_err(|source| failed("start a thread", source))?;
    let lost = |_| failed("start the command", io::Error::other("its thread ended"));
    receiver.await.map_err(lost)?
}

fn start(
    plan: Plan,
    confine: impl FnOnce(&Path) -> Result<(), ComputeError>,
) -> Result<Child, ComputeError> {
    let folder = plan.folder.open_below(&plan.working_folder)?;
    let here = descriptor_path(&folder);
    let Some(program) = plan.programs.find(&plan.program, &here) else {
        return Err(ComputeError::ProgramNotFound {
            program: plan.program,
        });
    };
    let mut command = Command::new(program);
    command
        .args(plan.arguments)
        .env_clear()
        .envs(plan.environment)
        .current_dir(&here)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    confine(&plan.home)?;
    command
        .spawn()
        .map_err(|source| failed("start the command", source))
}

/// A path to exactly the folder that was opened, whatever has been renamed since.
fn descriptor_path(folder: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()))
}

/// The group that a command was started in, which has the number of its first process.
pub(super) fn group_of(child: &Child) -> Option<Pid> {
    let id = i32::try_from(child.id()?).ok()?;
    Pid::from_raw(id)
}

pub(super) fn failed(step: &'static str, source: io::Error) -> ComputeError {
    ComputeError::Io { step, source }
}
