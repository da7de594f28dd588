//! Going on with a session in another process.
