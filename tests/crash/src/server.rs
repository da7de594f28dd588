//! A PostgreSQL server of one run.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{bail, ensure};
use rustix::process::{Pid, Signal, kill_process};

/// `nobody` on every system that has one.
const NOBODY: u32 = 65_534;

/// A server in a temporary folder and on a port of its own; it ends when this is dropped.
#[derive(Debug)]
pub struct Server {
    process: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Server {
    /// Starts one; `None` when no PostgreSQL is installed here.
    ///
    /// # Errors
    /// Whatever keeps an installed one from running.
    pub fn start() -> anyhow::Result<Option<Self>> {
        let Some(programs) = programs() else {
            return Ok(None);
        };
        let folder = tempfile::tempdir()?;
        let made = command(&programs.join("initdb"), folder.path())?
            .args(["--username=everruns", "--auth=trust", "--encoding=UTF8"])
            .args(["--locale=C", "--no-sync", "--pgdata=data"])
            .output()?;
        ensure!(made.status.success(), "initdb: {made:?}");
        // Another program can take the port between the look and the start.
        for _ in 0..5 {
            let port = free_port()?;
            let mut process = command(&programs.join("postgres"), folder.path())?
                .args(["-D", "data", "-h", "127.0.0.1", "-p", &port.to_string()])
                .args(["-k", "", "-F", "-c", "max_connections=100"])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()?;
            if answers(&mut process, port)? {
                return Ok(Some(Self {
                    process,
                    port,
                    _folder: folder,
                }));
            }
        }
        bail!("the server does not start");
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("postgres://everruns@127.0.0.1:{}/postgres", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let pid = i32::try_from(self.process.id())
            .ok()
            .and_then(Pid::from_raw);
        if pid.is_none_or(|pid| kill_process(pid, Signal::QUIT).is_err()) {
            drop(self.process.kill());
        }
        drop(self.process.wait());
    }
}

fn programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let debian = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("bin")));
    std::env::split_paths(&path)
        .chain(debian)
        .find(|folder| folder.join("initdb").is_file() && folder.join("postgres").is_file())
}

fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    Ok(listener.local_addr()?.port())
}

/// The server refuses to run as root.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place where the harness starts a server"
)]
fn command(program: &Path, folder: &Path) -> anyhow::Result<Command> {
    let mut command = Command::new(program);
    command.current_dir(folder);
    // What a process makes belongs to its user.
    let own = tempfile::NamedTempFile::new()?;
    if own.path().metadata()?.uid() == 0 {
        chown(folder, Some(NOBODY), Some(NOBODY))?;
        command.uid(NOBODY).gid(NOBODY);
    }
    Ok(command)
}

/// Whether the server says yes or no to a question about encryption, as only one that runs does. `false` when the
/// process has ended.
fn answers(process: &mut Child, port: u16) -> anyhow::Result<bool> {
    for _ in 0..600 {
        if process.try_wait()?.is_some() {
            return Ok(false);
        }
        if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) {
            let mut answer = [0];
            let asked = stream.write_all(&[0, 0, 0, 8, 4, 210, 22, 47]);
            if asked.is_ok() && stream.read_exact(&mut answer).is_ok() && answer == *b"N" {
                return Ok(true);
            }
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    bail!("the server does not answer");
}
