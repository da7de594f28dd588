//! Starting a session and what it executes on.
