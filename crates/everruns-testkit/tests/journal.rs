//! The suites pass on the example of a custom backend, which is written from the public traits alone.

#[cfg(test)]
#[path = "../../../tests/acceptance/tests/custom_backend/conformance.rs"]
mod conformance;
#[path = "../../../tests/acceptance/tests/custom_backend/journal/mod.rs"]
mod journal;
