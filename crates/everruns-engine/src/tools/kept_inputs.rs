//! The inputs that fuzzing keeps, replayed: what `fuzz/` checks of edits holds of each.

#![expect(unreachable_pub, reason = "the checks are shared with the fuzz target")]

#[path = "../../../../fuzz/src/edit.rs"]
mod checks;
#[path = "../../../../fuzz/src/edited.rs"]
mod edited;

use proptest::prelude::*;

use super::{edit, text};

fn check(input: &[u8]) {
    checks::check(input, edited::edited);
}

#[test]
fn kept_inputs_for_edits_hold() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/edit");
    let mut replayed = 0;
    for entry in std::fs::read_dir(folder).expect("the corpus is in the repository") {
        check(&std::fs::read(entry.expect("an entry").path()).expect("an input"));
        replayed += 1;
    }
    assert!(replayed >= 10, "only {replayed} inputs");
}

proptest! {
    #[test]
    fn random_texts_hold_for_edits(
        file in "[ab\\r\\n\u{feff}\u{e9}]{0,40}",
        edits in prop::collection::vec("[ab\\r\\n\u{e9}]{0,3}", 0..8),
    ) {
        let mut input = file.into_bytes();
        for text in edits {
            input.push(0xff);
            input.extend_from_slice(text.as_bytes());
        }
        check(&input);
    }
}
