//! Policy, mounts, seeded files, files in memory and the two plain backends, alone and as one stack.

#![expect(
    clippy::unwrap_used,
    clippy::clone_on_ref_ptr,
    reason = "helpers of tests may panic, and a clone of a fixture is plain to see"
)]

#[path = "stack/audit.rs"]
mod audit;
#[path = "stack/conformance.rs"]
mod conformance;
#[path = "stack/directory.rs"]
mod directory;
#[path = "stack/forgetful.rs"]
mod forgetful;
#[path = "stack/limits.rs"]
mod limits;
#[path = "stack/memory.rs"]
mod memory;
#[path = "stack/memory_backend.rs"]
mod memory_backend;
#[path = "stack/memory_commits.rs"]
mod memory_commits;
#[path = "stack/memory_commits_property.rs"]
mod memory_commits_property;
#[path = "stack/memory_history.rs"]
mod memory_history;
#[path = "stack/memory_lineage.rs"]
mod memory_lineage;
#[path = "stack/memory_lineage_model.rs"]
mod memory_lineage_model;
#[path = "stack/memory_patch.rs"]
mod memory_patch;
#[path = "stack/model/mod.rs"]
mod model;
#[path = "stack/mounts.rs"]
mod mounts;
#[path = "stack/moves/mod.rs"]
mod moves;
#[path = "stack/one_entry.rs"]
mod one_entry;
#[path = "stack/overlaps.rs"]
mod overlaps;
#[path = "stack/overlaps_property.rs"]
mod overlaps_property;
#[path = "stack/policy.rs"]
mod policy;
#[path = "stack/policy_files.rs"]
mod policy_files;
#[path = "stack/policy_links.rs"]
mod policy_links;
#[path = "stack/policy_property.rs"]
mod policy_property;
#[path = "stack/seeded.rs"]
mod seeded;
#[path = "stack/support.rs"]
mod support;
#[path = "stack/whole.rs"]
mod whole;
