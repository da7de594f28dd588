//! Real commands in real folders, confined and not.
#![expect(clippy::print_stderr, reason = "says what the host could not test")]
#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod every_compute;
#[cfg(target_os = "linux")]
mod landlock;
mod support;
