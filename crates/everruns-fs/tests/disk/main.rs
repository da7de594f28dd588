//! The contained disk file system, on a real disk, in both ways of resolving paths.

#![expect(clippy::unwrap_used, reason = "the helpers of tests panic, too")]

mod conformance;
mod containment;
mod entries;
mod git_folder;
mod links;
mod oracle;
mod races;
mod removal;
mod search;
mod special;
mod support;
mod versions;
mod writers;
