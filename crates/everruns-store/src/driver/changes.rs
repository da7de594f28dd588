use sqlx::{FromRow, Transaction};

use super::{Arguments, Statement};
use crate::attempt::Fault;

/// What is read from a row of any of the databases that this crate is built for.
pub(crate) trait Record: FromSqlite + FromPostgres + Send + Unpin {}

impl<R: FromSqlite + FromPostgres + Send + Unpin> Record for R {}

/// A transaction.
pub(crate) trait Changes: Send {
    /// Executes the statement; gives the number of rows that it changed.
    fn run(&mut self, statement: Statement<'_>) -> impl Future<Output = Result<u64, Fault>> + Send;

    /// The first of the rows.
    fn first<R: Record>(
        &mut self,
        statement: Statement<'_>,
    ) -> impl Future<Output = Result<Option<R>, Fault>> + Send;

    /// Makes the changes last.
    fn commit(self) -> impl Future<Output = Result<(), Fault>> + Send;
}

/// Reads rows through a connection or pool.
pub(crate) async fn all<'e, D, R>(
    through: impl sqlx::Executor<'e, Database = D>,
    statement: &Statement<'_>,
) -> Result<Vec<R>, Fault>
where
    D: Arguments,
    D::Arguments: sqlx::IntoArguments<D>,
    R: for<'r> FromRow<'r, D::Row> + Send + Unpin,
{
    let query = sqlx::query_as_with(statement.text, D::of(statement)?);
    Ok(query.fetch_all(through).await?)
}

/// The same for each database, which cannot be said once for any: what is read from a row is only known to be read from a
/// certain database's.
macro_rules! database {
    ($feature:literal, $database:ty, $row:ty, $trait:ident) => {
        #[cfg(feature = $feature)]
        pub(crate) trait $trait: for<'r> FromRow<'r, $row> {}

        #[cfg(feature = $feature)]
        impl<R: for<'r> FromRow<'r, $row>> $trait for R {}

        #[cfg(not(feature = $feature))]
        pub(crate) trait $trait {}

        #[cfg(not(feature = $feature))]
        impl<R> $trait for R {}

        #[cfg(feature = $feature)]
        impl Changes for Transaction<'static, $database> {
            async fn run(&mut self, statement: Statement<'_>) -> Result<u64, Fault> {
                let arguments = <$database>::of(&statement)?;
                let query = sqlx::query_with(statement.text, arguments);
                Ok(query.execute(&mut **self).await?.rows_affected())
            }

            async fn first<R: Record>(
                &mut self,
                statement: Statement<'_>,
            ) -> Result<Option<R>, Fault> {
                let arguments = <$database>::of(&statement)?;
                let query = sqlx::query_as_with(statement.text, arguments);
                Ok(query.fetch_optional(&mut **self).await?)
            }

            async fn commit(self) -> Result<(), Fault> {
                Ok(Transaction::commit(self).await?)
            }
        }
    };
}

database!("sqlite", sqlx::Sqlite, sqlx::sqlite::SqliteRow, FromSqlite);
database!(
    "postgres",
    sqlx::Postgres,
    sqlx::postgres::PgRow,
    FromPostgres
);
