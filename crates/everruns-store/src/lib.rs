//! Session stores of everruns: SQLite and PostgreSQL.
