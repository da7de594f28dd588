use sqlx::{Database, Encode, Type};

use crate::attempt::Fault;

/// A statement with its values, for any of the databases.
#[derive(Debug)]
pub(crate) struct Statement<'a> {
    pub(super) text: &'static str,
    values: Vec<Value<'a>>,
}

/// What a statement is given; `None` is null.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Text(Option<&'a str>),
    Integer(Option<i64>),
}

/// A database that takes [`Value`]s.
pub(crate) trait Arguments:
    Database<Arguments: sqlx::Arguments<Database = Self>> + Sized
{
    /// The values in the database's form.
    fn of(statement: &Statement<'_>) -> Result<Self::Arguments, Fault>;
}

impl<D> Arguments for D
where
    D: Database<Arguments: sqlx::Arguments<Database = D>>,
    for<'a> Option<&'a str>: Encode<'a, D> + Type<D>,
    for<'a> Option<i64>: Encode<'a, D> + Type<D>,
{
    fn of(statement: &Statement<'_>) -> Result<Self::Arguments, Fault> {
        use sqlx::Arguments as _;

        let mut arguments = D::Arguments::default();
        for value in &statement.values {
            let added = match value {
                Value::Text(text) => arguments.add(*text),
                Value::Integer(number) => arguments.add(*number),
            };
            added.map_err(sqlx::Error::Encode)?;
        }
        Ok(arguments)
    }
}

impl<'a> Statement<'a> {
    pub(crate) fn new(text: &'static str) -> Self {
        Self {
            text,
            values: Vec::new(),
        }
    }

    /// Adds the next value.
    pub(crate) fn bind(mut self, value: impl Into<Value<'a>>) -> Self {
        self.values.push(value.into());
        self
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Some(text))
    }
}

impl<'a> From<Option<&'a str>> for Value<'a> {
    fn from(text: Option<&'a str>) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Self::Integer(Some(number))
    }
}

impl From<Option<i64>> for Value<'_> {
    fn from(number: Option<i64>) -> Self {
        Self::Integer(number)
    }
}
