//! The inputs that fuzzing keeps, replayed: what `fuzz/` checks of paths and policies holds of each.

#![expect(
    unreachable_pub,
    reason = "the checks are shared with the fuzz targets"
)]

#[path = "../../../../fuzz/src/path.rs"]
mod path;
#[path = "../../../../fuzz/src/policy.rs"]
mod policy;

use proptest::prelude::*;

/// Calls `check` with every kept input of `target`.
fn replay(target: &str, check: impl Fn(&[u8])) {
    let folder = format!("{}/../../fuzz/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
    let mut replayed = 0;
    for entry in std::fs::read_dir(folder).expect("the corpus is in the repository") {
        let bytes = std::fs::read(entry.expect("an entry").path()).expect("an input");
        check(&bytes);
        replayed += 1;
    }
    assert!(replayed >= 10, "only {replayed} inputs for {target}");
}

#[test]
fn kept_inputs_for_paths_hold() {
    replay("path", path::check);
}

#[test]
fn kept_inputs_for_policies_hold() {
    replay("policy", policy::check);
}

proptest! {
    #[test]
    fn random_texts_hold_for_paths(text in "[a-c./\\\\:~\u{200d}\\x00 gitGIT]{0,40}|/(workspace|roots)/.{0,20}") {
        path::check(text.as_bytes());
    }

    #[test]
    fn random_lines_hold_for_policies(lines in prop::collection::vec("[rwRW](\\*\\*|[ab*?{},\\[\\]./]{1,8})|[hsbd]|[ab./]{1,8}|\\.env", 1..15)) {
        policy::check(lines.join("\n").as_bytes());
    }
}
