//! Portable read and write authorisation.
