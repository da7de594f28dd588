//! The store in one PostgreSQL database.
