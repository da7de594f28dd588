//! A PostgreSQL server of a test's own.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;
use std::{fs, io};

use rustix::process::{Pid, Signal, kill_process};

use crate::ordinary;

/// A server in a temporary folder and on a port of its own; it ends when this is dropped.
///
/// It refuses to run as root, so it never does.
#[derive(Debug)]
pub struct Server {
    process: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Server {
    /// Starts one, which may take seconds; `None` when no PostgreSQL is installed here.
    ///
    /// # Errors
    ///
    /// Whatever keeps an installed one from running.
    pub fn start() -> io::Result<Option<Self>> {
        let Some(programs) = programs() else {
            return Ok(None);
        };
        let folder = tempfile::tempdir()?;
        let made = ordinary::command(&programs.join("initdb"), folder.path())?
            .args(["--username=everruns", "--auth=trust", "--encoding=UTF8"])
            .args(["--locale=C", "--no-sync", "--pgdata=data"])
            .output()?;
        if !made.status.success() {
            return Err(io::Error::other(format!("initdb: {made:?}")));
        }
        // Another program can take the port between the look and the start.
        for _ in 0..5 {
            let port = free_port()?;
            let mut process = ordinary::command(&programs.join("postgres"), folder.path())?
                .args(["-D", "data", "-h", "127.0.0.1", "-p", &port.to_string()])
                .args(["-k", "", "-F", "-c", "max_connections=100"])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()?;
            if is_ready(&mut process, folder.path())? {
                return Ok(Some(Self {
                    process,
                    port,
                    _folder: folder,
                }));
            }
        }
        Err(io::Error::other("the server does not start"))
    }

    /// The port that it listens at, of 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where its database `name` is; `postgres` is there from the beginning.
    #[must_use]
    pub fn database(&self, name: &str) -> String {
        format!("postgres://everruns@127.0.0.1:{}/{name}", self.port)
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
    let debian = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("bin")));
    std::env::split_paths(&path)
        .chain(debian)
        .find(|folder| folder.join("initdb").is_file() && folder.join("postgres").is_file())
}

fn free_port() -> io::Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    Ok(listener.local_addr()?.port())
}

/// Whether the server is ready, as it writes down itself: another one may answer at its port. `false` when the process has
/// ended.
fn is_ready(process: &mut Child, folder: &Path) -> io::Result<bool> {
    let pid = process.id().to_string();
    for _ in 0..600 {
        if process.try_wait()?.is_some() {
            return Ok(false);
        }
        let written = fs::read(folder.join("data/postmaster.pid")).unwrap_or_default();
        let written = String::from_utf8_lossy(&written);
        let mut lines = written.lines();
        if lines.next() == Some(&pid) && lines.last().is_some_and(|line| line.trim() == "ready") {
            return Ok(true);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Err(io::Error::other("the server does not get ready"))
}
