//! The README's first example, to the letter: included, so that no formatter touches it.
#![expect(clippy::print_stdout, reason = "an example says what it did")]

include!("readme_example.in");
