//! Finding paths and lines.
