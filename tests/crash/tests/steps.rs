//! The list of steps at which children are killed is the list of steps that there are.
#![expect(clippy::unwrap_used, reason = "the helpers of tests panic, too")]
#![expect(
    clippy::disallowed_methods,
    reason = "the sources are read as they are"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use everruns_crash::{ELSEWHERE, FAILPOINTS};

/// The first words of all steps' names.
const FAMILIES: [&str; 5] = ["engine.", "store.", "fs.", "git.", "model."];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The texts in `code` with what is before each, given that no name of a step has a quotation mark.
fn texts(code: &str) -> Vec<(&str, &str)> {
    let pieces: Vec<&str> = code.split('"').collect();
    let pairs = pieces.windows(2);
    pairs.map(|pair| (pair[0], pair[1])).collect()
}

/// `family.operation.step`, in small letters.
fn is_name(text: &str) -> bool {
    let family = FAMILIES.iter().any(|family| text.starts_with(family));
    let parts = text.split('.').collect::<Vec<_>>();
    let small = |part: &&str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte == b'-' || byte.is_ascii_lowercase())
    };
    family && parts.len() == 3 && parts.iter().all(small) && parts[2].contains('-')
}

/// The steps that the product's sources and the harness's model name.
fn named() -> BTreeSet<String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = vec![here.join("src/model.rs")];
    for entry in std::fs::read_dir(here.join("../../crates")).unwrap() {
        sources(&entry.unwrap().path().join("src"), &mut files);
    }
    let mut named = BTreeSet::new();
    for path in files {
        let code = std::fs::read_to_string(&path).unwrap();
        for (before, text) in texts(&code) {
            let is_hit = before.trim_end().ends_with("hit(");
            assert!(
                !is_hit || is_name(text),
                "`{text}` in {} is no name of a step",
                path.display()
            );
            // Where a function of its own passes the names on, they are texts like others.
            if is_name(text) {
                named.insert(text.to_owned());
            }
        }
    }
    named
}

/// Every step in the sources is killed at here or, for a reason, elsewhere; and no other step is listed.
#[test]
fn every_step_of_the_sources_is_listed_and_no_other() {
    let named = named();
    assert!(named.len() > 100, "{named:?}");
    let here: BTreeSet<String> = FAILPOINTS.iter().map(|step| (*step).to_owned()).collect();
    let elsewhere: BTreeSet<String> = ELSEWHERE
        .iter()
        .map(|(step, _)| (*step).to_owned())
        .collect();
    assert_eq!(here.len(), FAILPOINTS.len(), "a step is listed twice");
    assert!(here.is_disjoint(&elsewhere));
    let listed: BTreeSet<String> = here.union(&elsewhere).cloned().collect();
    let unlisted: Vec<_> = named.difference(&listed).collect();
    assert!(unlisted.is_empty(), "in the sources alone: {unlisted:?}");
    let gone: Vec<_> = listed.difference(&named).collect();
    assert!(gone.is_empty(), "listed alone: {gone:?}");
}

/// Those that are not killed at here are in the tests that the reason tells of.
#[test]
fn a_step_that_is_left_to_other_tests_is_in_them() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for entry in std::fs::read_dir(here.join("../../crates")).unwrap() {
        let tests = entry.unwrap().path().join("tests");
        if tests.is_dir() {
            sources(&tests, &mut files);
        }
    }
    for (step, reason) in ELSEWHERE {
        let quoted = format!("\"{step}\"");
        let file = reason.split('`').nth(1).unwrap();
        let found = files.iter().any(|path| {
            path.ends_with(file) && std::fs::read_to_string(path).unwrap().contains(&quoted)
        });
        assert!(found, "{step}: {reason}");
    }
}
