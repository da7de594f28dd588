//! A backend written from the public traits alone passes the public conformance suites, and serves an engine.

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod engine;
mod journal;
