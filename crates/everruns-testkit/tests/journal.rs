//! The suites pass on the example of a custom backend, which is written from the public traits alone.

#[path = "../../../tests/acceptance/tests/custom_backend/main.rs"]
mod custom_backend;
