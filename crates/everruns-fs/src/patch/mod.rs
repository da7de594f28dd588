//! Patches in the form that `git apply` takes, byte for byte, whichever backend the contents are of.

mod binary;
mod entry;
mod quote;

pub use entry::{PatchContent, PatchEntry, PatchPlace, PatchSide};
