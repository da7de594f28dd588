use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::time::Duration;

use everruns_core::session::StoreError;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPoolOptions};
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
    let millis = |time: Duration| time.as_millis().max(1).to_string();
    let options = options.application_name("everruns").options([
        ("lock_timeout", millis(policy.lock_wait)),
        (
            "idle_in_transaction_session_timeout",
            millis(policy.silence),
        ),
    ]);
    try_once(&options, &location, policy).await?;
    let pool = PgPoolOptions::new()
        .max_connections(CONNECTIONS)
        .acquire_timeout(CONNECTION_WAIT)
        .idle_timeout(IDLE)
        // Our own look at a connection, which does not wait for ever where nobody answers.
        .test_before_acquire(false)
        .before_acquire(move |connection, _| still_there(connection, policy.silence))
        .after_release(move |connection, _| still_there(connection, policy.silence))
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

/// Whether somebody answers; otherwise the pool drops the connection without a word to the other end.
fn still_there(
    connection: &mut PgConnection,
    silence: Duration,
) -> BoxFuture<'_, Result<bool, sqlx::Error>> {
    let silence = silence.min(CONNECTION_WAIT / 4);
    async move {
        let answer = tokio::time::timeout(silence, connection.ping()).await;
        answer.map_err(|_| sqlx::Error::PoolTimedOut)??;
        Ok(true)
    }
    .boxed()
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
