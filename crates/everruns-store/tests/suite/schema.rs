//! The persisted form: names that others rely on, and that migrating leads to what a fresh database has.

#[cfg(feature = "sqlite")]
mod sqlite {
    use std::path::Path;

    use everruns_core::session::SessionStore as _;
    use everruns_core::workspace::WorkspaceHeadAccess::Isolated;
    use everruns_store::SqliteSessionStore;
    use everruns_store::sqlite::SCHEMA_VERSION;
    use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
    use sqlx::{ConnectOptions as _, Connection as _, Row as _};

    use crate::support::samples::{append, binding, id, leased};

    const MIGRATIONS: [&str; 1] = [include_str!("../../migrations/sqlite/0001_sessions.sql")];
    const APPLICATION_ID: i64 = 0x4556_5253;

    async fn raw(file: &Path) -> SqliteConnection {
        SqliteConnectOptions::new()
            .filename(file)
            .create_if_missing(true)
            .connect()
            .await
            .unwrap()
    }

    async fn dump(file: &Path) -> Vec<String> {
        let mut connection = raw(file).await;
        let rows =
            sqlx::query("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name")
                .fetch_all(&mut connection)
                .await
                .unwrap();
        let mut dump: Vec<String> = rows
            .iter()
            .map(|row| {
                let text = |n: usize| row.get::<Option<String>, _>(n).unwrap_or_default();
                format!("{} {} {} {}", text(0), text(1), text(2), text(3))
            })
            .collect();
        let pragmas = ["PRAGMA user_version", "PRAGMA application_id"];
        for pragma in pragmas {
            let value: i64 = sqlx::query_scalar(pragma)
                .fetch_one(&mut connection)
                .await
                .unwrap();
            dump.push(format!("{pragma} {value}"));
        }
        connection.close().await.unwrap();
        dump
    }

    #[tokio::test]
    async fn a_migrated_database_equals_a_fresh_one() {
        let folder = tempfile::tempdir().unwrap();
        let fresh = folder.path().join("fresh.db");
        let store = SqliteSessionStore::open(&fresh).await.unwrap();
        store.close().await;
        let expected = dump(&fresh).await;
        assert!(expected.iter().any(|line| line.starts_with("table events")));
        assert_eq!(usize::try_from(SCHEMA_VERSION).unwrap(), MIGRATIONS.len());
        // From each version that there ever was.
        for version in 0..=MIGRATIONS.len() {
            let old = folder.path().join(format!("from-{version}.db"));
            let mut connection = raw(&old).await;
            for migration in &MIGRATIONS[..version] {
                sqlx::raw_sql(*migration)
                    .execute(&mut connection)
                    .await
                    .unwrap();
            }
            if version > 0 {
                let stamp = format!(
                    "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {version}"
                );
                sqlx::raw_sql(sqlx::AssertSqlSafe(stamp))
                    .execute(&mut connection)
                    .await
                    .unwrap();
            }
            connection.close().await.unwrap();
            SqliteSessionStore::open(&old).await.unwrap().close().await;
            assert_eq!(dump(&old).await, expected, "from version {version}");
        }
    }

    /// Proves C25 for the columns.
    #[tokio::test]
    async fn c25_bindings_keep_their_column_names() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sessions.db");
        let store = SqliteSessionStore::open(&file).await.unwrap();
        leased(&store, "s").await;
        store.bind(&id("s"), binding("h", Isolated)).await.unwrap();
        store.close().await;
        let mut connection = raw(&file).await;
        let row: (String, String, String, String, String) = sqlx::query_as(
            "SELECT provider_id, workspace_id, head_id, access, payload FROM workspace_bindings",
        )
        .fetch_one(&mut connection)
        .await
        .unwrap();
        let expected = ["memory", "w", "h", "isolated", "null"].map(str::to_owned);
        assert_eq!(<[String; 5]>::from(row), expected);
    }

    /// Also for whoever opens the file with another program.
    #[tokio::test]
    async fn events_are_append_only_in_the_database_itself() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sessions.db");
        let store = SqliteSessionStore::open(&file).await.unwrap();
        let token = leased(&store, "s").await;
        append(&store, "s", token, 0, "key").await.unwrap();
        let mut connection = raw(&file).await;
        for statement in [
            "UPDATE events SET payload = '{}'",
            "DELETE FROM events",
            "REPLACE INTO events (session_id, seq, at, payload) VALUES ('s', 1, 0, '{}')",
        ] {
            let refused = sqlx::query(statement).execute(&mut connection).await;
            assert!(refused.is_err(), "{statement}");
        }
        // A second isolated binding of one head is refused by the database too, whatever the program checks.
        leased(&store, "t").await;
        store.bind(&id("s"), binding("h", Isolated)).await.unwrap();
        let refused = sqlx::query(
            "INSERT INTO workspace_bindings VALUES ('t', 'memory', 'w', 'h', 'isolated', 'null')",
        )
        .execute(&mut connection)
        .await
        .unwrap_err();
        let refused = refused.as_database_error().unwrap();
        assert!(refused.is_unique_violation(), "{refused}");
    }
}

#[cfg(feature = "postgres")]
mod postgres {
    use everruns_core::session::SessionStore as _;
    use everruns_core::workspace::WorkspaceHeadAccess::Isolated;
    use everruns_store::PostgresSessionStore;
    use everruns_store::postgres::SCHEMA_VERSION;
    use sqlx::{Connection as _, PgConnection};

    use crate::support::samples::{append, binding, id, leased};
    use crate::support::server::Server;

    const MIGRATIONS: [&str; 1] = [include_str!("../../migrations/postgres/0001_sessions.sql")];

    async fn dump(url: &str) -> Vec<String> {
        let mut connection = PgConnection::connect(url).await.unwrap();
        let mut dump = Vec::new();
        for query in [
            "SELECT format('%s.%s %s %s %s %s', table_name, column_name, data_type, is_nullable, \
                           column_default, collation_name) \
             FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1",
            "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1",
            "SELECT format('%s %s', conrelid::regclass, pg_get_constraintdef(oid)) \
             FROM pg_constraint WHERE connamespace = 'public'::regnamespace ORDER BY 1",
            "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1",
            "SELECT format('version %s', version) FROM everruns_schema ORDER BY 1",
        ] {
            let lines: Vec<String> = sqlx::query_scalar(query)
                .fetch_all(&mut connection)
                .await
                .unwrap();
            assert!(!lines.is_empty(), "{query}");
            dump.extend(lines);
        }
        connection.close().await.unwrap();
        dump
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_migrated_database_equals_a_fresh_one() {
        let Some(server) = Server::start().await else {
            return;
        };
        let fresh = server.fresh_database().await;
        PostgresSessionStore::connect(&fresh)
            .await
            .unwrap()
            .close()
            .await;
        let expected = dump(&fresh).await;
        assert_eq!(usize::try_from(SCHEMA_VERSION).unwrap(), MIGRATIONS.len());
        // From each version that there ever was.
        for version in 0..=MIGRATIONS.len() {
            let old = server.fresh_database().await;
            let mut connection = PgConnection::connect(&old).await.unwrap();
            if version > 0 {
                sqlx::raw_sql("CREATE TABLE everruns_schema (version BIGINT NOT NULL PRIMARY KEY)")
                    .execute(&mut connection)
                    .await
                    .unwrap();
            }
            for (number, migration) in (1_i64..).zip(&MIGRATIONS[..version]) {
                sqlx::raw_sql(*migration)
                    .execute(&mut connection)
                    .await
                    .unwrap();
                sqlx::query("INSERT INTO everruns_schema VALUES ($1)")
                    .bind(number)
                    .execute(&mut connection)
                    .await
                    .unwrap();
            }
            connection.close().await.unwrap();
            PostgresSessionStore::connect(&old)
                .await
                .unwrap()
                .close()
                .await;
            assert_eq!(dump(&old).await, expected, "from version {version}");
        }
    }

    /// Proves C25 for the columns, and that the database itself refuses what the program would never do.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn c25_column_names_and_constraints() {
        let Some(server) = Server::start().await else {
            return;
        };
        let url = server.fresh_database().await;
        let store = PostgresSessionStore::connect(&url).await.unwrap();
        let token = leased(&store, "s").await;
        leased(&store, "t").await;
        append(&store, "s", token, 0, "key").await.unwrap();
        store.bind(&id("s"), binding("h", Isolated)).await.unwrap();
        let mut connection = PgConnection::connect(&url).await.unwrap();
        let row: (String, String, String, String, String) = sqlx::query_as(
            "SELECT provider_id, workspace_id, head_id, access, payload FROM workspace_bindings",
        )
        .fetch_one(&mut connection)
        .await
        .unwrap();
        let expected = ["memory", "w", "h", "isolated", "null"].map(str::to_owned);
        assert_eq!(<[String; 5]>::from(row), expected);
        for statement in [
            "UPDATE events SET payload = '{}'",
            "DELETE FROM events",
            "TRUNCATE events",
            "INSERT INTO workspace_bindings VALUES ('t', 'memory', 'w', 'h', 'isolated', 'null')",
        ] {
            let refused = sqlx::query(statement).execute(&mut connection).await;
            assert!(refused.is_err(), "{statement}");
        }
        // Removing the session removes them.
        store.delete(&id("s"), Some(token)).await.unwrap();
        let left: i64 = sqlx::query_scalar("SELECT count(*) FROM events")
            .fetch_one(&mut connection)
            .await
            .unwrap();
        assert_eq!(left, 0);
    }
}
