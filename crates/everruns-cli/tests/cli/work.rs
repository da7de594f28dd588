//! Committing, merging, updating, restoring and pruning, and `doctor`.

use std::path::Path;

use crate::support::{Place, text};

fn write(folder: &Path, name: &str, bytes: &str) {
    std::fs::write(folder.join(name), bytes).unwrap();
}

const AUTHOR: &str = "Ada <ada@example.org>";

#[test]
fn work_is_committed_in_a_given_name_and_merged_into_a_branch() {
    let place = Place::new();
    let (_, folder) = place.head("work");
    write(&folder, "made.txt", "made\n");
    let refused = place.refused(&[
        "head", "commit", "work", "-m", "Make it", "--author", "nobody",
    ]);
    assert!(refused.contains("`nobody` is no author"), "{refused}");
    let receipt = place.json(&[
        "head", "commit", "work", "-m", "Make it", "--author", AUTHOR,
    ]);
    assert_eq!(receipt["changed"][0], "made.txt");
    let branch = receipt["branch"].as_str().unwrap();
    let log = place
        .repository
        .git(&["log", "-1", "--format=%an <%ae> %s", branch])
        .text();
    assert_eq!(log.trim(), "Ada <ada@example.org> Make it");
    let refused = place.refused(&["head", "commit", "work", "-m", "Again", "--author", AUTHOR]);
    assert!(refused.contains("nothing to commit"), "{refused}");

    place.repository.git(&["branch", "target", "main"]);
    let said = place.ok(&["head", "merge", "work", "target", "--ff-only"]);
    assert!(said.contains("merged work into target"), "{said}");
    assert_eq!(
        place.repository.id_of("target"),
        receipt["revision"].as_str().unwrap()
    );
    assert!(
        place
            .ok(&["head", "merge", "work", "target"])
            .contains("has everything already")
    );
}

#[test]
fn a_merge_with_conflicts_changes_nothing_and_an_update_leaves_them_in_the_head() {
    let place = Place::new();
    let (_, folder) = place.head("clash");
    write(
        &folder,
        "src/lib.rs",
        "pub fn answer() -> u32 {\n    1\n}\n",
    );
    place.ok(&["head", "commit", "clash", "-m", "One", "--author", AUTHOR]);
    let (_, other) = place.head("rival");
    write(&other, "src/lib.rs", "pub fn answer() -> u32 {\n    2\n}\n");
    let rival = place.json(&["head", "commit", "rival", "-m", "Two", "--author", AUTHOR]);
    place
        .repository
        .git(&["branch", "target", rival["revision"].as_str().unwrap()]);

    let before = place.repository.id_of("target");
    let refused = place.run(&["head", "merge", "clash", "target"]);
    assert!(!refused.status.success());
    assert!(refused.stdout.contains("src/lib.rs"), "{}", refused.stdout);
    assert!(
        refused.stderr.contains("nothing was changed"),
        "{}",
        refused.stderr
    );
    assert_eq!(place.repository.id_of("target"), before);

    let refused = place.run(&["head", "update", "clash", "target"]);
    assert!(!refused.status.success());
    assert!(
        refused.stderr.contains("between markers"),
        "{}",
        refused.stderr
    );
    assert!(text(folder.join("src/lib.rs")).contains("<<<<<<<"));
    let status = place.json(&["head", "status", "clash"]);
    assert_eq!(status["conflicted"], true, "{status}");
}

#[test]
fn checkpoints_are_restored_and_pruned() {
    let place = Place::new();
    let (_, folder) = place.head("back");
    write(&folder, "draft.txt", "first\n");
    place.ok(&["head", "checkpoint", "back", "--label", "first"]);
    write(&folder, "draft.txt", "second\n");
    let planned = place.ok(&["head", "restore", "back", "1", "--dry-run"]);
    assert!(planned.contains("draft.txt"), "{planned}");
    assert_eq!(text(folder.join("draft.txt")), "second\n");
    let said = place.ok(&["head", "restore", "back", "1"]);
    assert!(said.contains("is as it was at checkpoint 1"), "{said}");
    assert!(
        said.contains("refs/everruns/heads/"),
        "the state before is named: {said}"
    );
    assert_eq!(text(folder.join("draft.txt")), "first\n");
    let refused = place.refused(&["head", "restore", "back", "9"]);
    assert!(refused.contains("has no checkpoint 9"), "{refused}");
    let receipt = place.json(&["head", "prune", "back", "--keep", "1"]);
    assert_eq!(receipt["kept"], 1, "{receipt}");
}

#[test]
fn a_head_is_forked_from_any_checkpoint() {
    let place = Place::new();
    let (_, folder) = place.head("source");
    write(&folder, "draft.txt", "first\n");
    let kept = place.json(&["head", "checkpoint", "source"]);
    write(&folder, "draft.txt", "second\n");
    let said = place.ok(&["head", "fork", "source", "then", "--checkpoint", "1"]);
    assert!(said.contains("with the state of checkpoint 1"), "{said}");
    let status = place.json(&["head", "status", "then"]);
    assert_eq!(status["entries"][0]["path"], "draft.txt", "{status}");
    assert_eq!(status["entries"][0]["unstaged"], "untracked", "{status}");
    let refused = place.refused(&["head", "fork", "source", "none", "--checkpoint", "9"]);
    assert!(refused.contains("has no checkpoint 9"), "{refused}");
    // The obvious way would take the draft for committed.
    let reference = kept["location"].as_str().unwrap();
    let refused = place.refused(&["head", "create", "wrong", "--from", reference]);
    assert!(refused.contains("fork from the checkpoint"), "{refused}");
    assert!(refused.contains("NAME --checkpoint N"), "{refused}");
}

#[test]
fn doctor_finds_nothing_where_all_is_well() {
    let place = Place::new();
    place.head("well");
    assert!(place.ok(&["doctor"]).contains("all is well"));
    assert_eq!(
        place.json(&["doctor", "--repair"])["findings"]
            .as_array()
            .unwrap()
            .len(),
        0
    );
}
