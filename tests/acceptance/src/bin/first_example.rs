//! The README's first example, to the letter: included, so that no formatter touches it.

include!("readme_example.in");
