use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::time::Duration;

use everruns_core::session::StoreError;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions as _, Connection as _};

use super::database::Database;
use super::judge::judge;
use super::migrate;
use crate::RetryPolicy;
use crate::appends::Appends;
use crate::attempt::{self, Repeat};

pub(super) const OPERATION: &str = "connect to the database";

const CONNECTIONS: u32 = 8;

/// How long an operation waits for a connection while others use them all or the server does not answer.
const CONNECTION_WAIT: Duration = Duration::from_secs(10);

const IDLE: Duration = Duration::from_mins(5);

pub(super) async fn connect(url: &str, policy: RetryPolicy) -> Result<Database, StoreError> {
    let options = PgConnectOptions::from_str(url).map_err(|error| StoreError::Failed {
        operation: OPERATION,
        source: error.into(),
    })?;
    let location = location(&options);
    let lock_wait = policy.lock_wait.as_millis().max(1).to_string();
    let options = options
        .application_name("everruns")
        .options([("lock_timeout", lock_wait.as_str())]);
    try_once(&options, &location, policy).await?;
    let pool = PgPoolOptions::new()
        .max_connections(CONNECTIONS)
        .acquire_timeout(CONNECTION_WAIT)
        .idle_timeout(IDLE)
        .connect_lazy_with(options);
    let database = Database {
        location,
        pool,
        policy,
        appends: Appends::default(),
    };
    match migrate::migrate(&database).await {
        Ok(()) => Ok(database),
        Err(error) => {
            database.pool.close().await;
            Err(error)
        }
    }
}

/// Connects without the pool, which would try again until its time is up and then not say why it failed.
async fn try_once(
    options: &PgConnectOptions,
    location: &Path,
    policy: RetryPolicy,
) -> Result<(), StoreError> {
    let judge = |error| judge(error, OPERATION, location);
    attempt::run(policy, OPERATION, Repeat::Safe, judge, || async {
        let connected = tokio::time::timeout(CONNECTION_WAIT, options.connect()).await;
        connected
            .map_err(|_| sqlx::Error::PoolTimedOut)??
            .close()
            .await?;
        Ok(())
    })
    .await
}

fn location(options: &PgConnectOptions) -> PathBuf {
    PathBuf::from(format!(
        "postgres://{}:{}/{}",
        options.get_host(),
        options.get_port(),
        options.get_database().unwrap_or_default()
    ))
}
