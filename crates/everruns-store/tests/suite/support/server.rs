use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use everruns_testkit::postgres;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

/// A PostgreSQL server of one test, with databases of its own. Ends with the last clone.
#[derive(Clone)]
pub(crate) struct Server(Arc<Running>);

struct Running {
    server: postgres::Server,
    databases: AtomicU32,
}

impl Server {
    /// `None` when no server is installed here; a failure in CI.
    #[expect(
        clippy::unused_async,
        reason = "whoever asks for a server waits for it"
    )]
    pub(crate) async fn start() -> Option<Self> {
        let Some(server) = postgres::Server::start().unwrap() else {
            let message =
                "NOT RUN: no PostgreSQL (initdb, postgres) in PATH or /usr/lib/postgresql";
            let in_ci = std::env::var("CI").is_ok_and(|value| value == "true" || value == "1");
            assert!(!in_ci, "{message}");
            eprintln!("\n{0}\n{message}\n{0}", "!".repeat(78));
            return None;
        };
        Some(Self(Arc::new(Running {
            server,
            databases: AtomicU32::new(0),
        })))
    }

    pub(crate) fn port(&self) -> u16 {
        self.0.server.port()
    }

    /// A new and empty database.
    pub(crate) async fn fresh_database(&self) -> String {
        let server = &self.0.server;
        let name = format!("test_{}", self.0.databases.fetch_add(1, Ordering::Relaxed));
        let mut connection = PgConnection::connect(&server.database("postgres"))
            .await
            .unwrap();
        sqlx::raw_sql(AssertSqlSafe(format!("CREATE DATABASE {name}")))
            .execute(&mut connection)
            .await
            .unwrap();
        connection.close().await.unwrap();
        server.database(&name)
    }
}
