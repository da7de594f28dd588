//! The contained disk file system, on a real disk, in both ways of resolving paths.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "the helpers of tests panic, and say why nothing was tested"
)]

mod cached;
mod conformance;
mod containment;
mod entries;
mod folding;
mod folding_disk;
mod full;
mod git_folder;
mod links;
mod many;
mod oracle;
mod races;
mod removal;
mod search;
mod special;
mod support;
mod versions;
mod writers;
