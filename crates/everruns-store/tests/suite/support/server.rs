use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use super::ordinary;

/// A PostgreSQL server of one test, in a temporary folder and on a port of its own. Ends with the last clone.
#[derive(Clone)]
pub(crate) struct Server(Arc<Running>);

struct Running {
    process: Child,
    port: u16,
    databases: AtomicU32,
    _folder: tempfile::TempDir,
}

impl Server {
    /// `None` when no server is installed here; a failure in CI.
    pub(crate) async fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            let message =
                "NOT RUN: no PostgreSQL (initdb, postgres) in PATH or /usr/lib/postgresql";
            let in_ci = std::env::var("CI").is_ok_and(|value| value == "true" || value == "1");
            assert!(!in_ci, "{message}");
            eprintln!("\n{0}\n{message}\n{0}", "!".repeat(78));
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let made = ordinary::command(&programs.join("initdb"), folder.path())
            .args(["--username=everruns", "--auth=trust", "--encoding=UTF8"])
            .args(["--locale=C", "--no-sync", "--pgdata=data"])
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
        // Another program can take the port between the look and the start.
        for _ in 0..5 {
            let port = free_port();
            let mut process = launch(&programs, folder.path(), port);
            if answers(&mut process, port).await {
                return Some(Self(Arc::new(Running {
                    process,
                    port,
                    databases: AtomicU32::new(0),
                    _folder: folder,
                })));
            }
        }
        panic!("the server does not start");
    }

    pub(crate) fn port(&self) -> u16 {
        self.0.port
    }

    /// A new and empty database.
    pub(crate) async fn fresh_database(&self) -> String {
        let name = format!("test_{}", self.0.databases.fetch_add(1, Ordering::Relaxed));
        let mut connection = PgConnection::connect(&url(self.0.port, "postgres"))
            .await
            .unwrap();
        sqlx::raw_sql(AssertSqlSafe(format!("CREATE DATABASE {name}")))
            .execute(&mut connection)
            .await
            .unwrap();
        connection.close().await.unwrap();
        url(self.0.port, &name)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // An immediate but orderly end, in which the server also frees what the kernel keeps for it.
        let pid = i32::try_from(self.process.id())
            .ok()
            .and_then(Pid::from_raw);
        if pid.is_none_or(|pid| kill_process(pid, Signal::QUIT).is_err()) {
            drop(self.process.kill());
        }
        drop(self.process.wait());
    }
}

fn url(port: u16, database: &str) -> String {
    format!("postgres://everruns@127.0.0.1:{port}/{database}")
}

fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.local_addr().unwrap().port()
}

/// Where `initdb` and `postgres` are: in `PATH`, or where Debian puts them.
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

fn launch(programs: &Path, folder: &Path, port: u16) -> Child {
    ordinary::command(&programs.join("postgres"), folder)
        .args(["-D", "data", "-h", "127.0.0.1", "-p", &port.to_string()])
        // No socket files; the tests kill clients, not the machine, so nothing needs to be flushed.
        .args(["-k", "", "-F", "-c", "max_connections=100"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// `false` when the process has ended.
async fn answers(process: &mut Child, port: u16) -> bool {
    for _ in 0..600 {
        if process.try_wait().unwrap().is_some() {
            return false;
        }
        if let Ok(connection) = PgConnection::connect(&url(port, "postgres")).await {
            connection.close().await.unwrap();
            return true;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the server does not answer");
}
