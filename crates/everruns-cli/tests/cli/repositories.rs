//! Where `--repo` may point.

use crate::support::Place;

fn names(place: &Place, repo: &str) -> Vec<String> {
    let listed = place.json(&["head", "list", "--repo", repo]);
    let heads = listed["heads"].as_array().unwrap();
    heads
        .iter()
        .map(|head| head["name"].as_str().unwrap().to_owned())
        .collect()
}

/// Proves C02 for the command.
#[test]
fn any_folder_of_a_repository_means_it() {
    let place = Place::new();
    let (_, head) = place.head("feature");
    let linked = place.repository.beside("linked");
    place
        .repository
        .git(&["worktree", "add", "-q", linked.to_str().unwrap(), "other"]);
    let link = place.repository.beside("link");
    std::os::unix::fs::symlink(place.repository.path(), &link).unwrap();
    let subfolder = place.repository.path().join("src/deep");
    for folder in [&subfolder, &linked, &link, &head, &head.join("src")] {
        assert_eq!(
            names(&place, folder.to_str().unwrap()),
            ["feature"],
            "{}",
            folder.display()
        );
    }
    let mut program = place.program(&["head", "list"]);
    let ran = place.finish(program.current_dir(&head));
    assert!(ran.stdout.contains("feature"), "{ran:?}");
}

/// A head made from within a linked worktree starts at the HEAD of that worktree.
#[test]
fn a_head_is_made_from_within_another_head() {
    let place = Place::new();
    let (_, head) = place.head("feature");
    let made = place.json(&["head", "create", "second", "--repo", head.to_str().unwrap()]);
    assert_eq!(made["head"]["name"], "second");
    assert_eq!(
        names(&place, place.repository.path().to_str().unwrap()),
        ["feature", "second"]
    );
}

#[test]
fn two_repositories_in_one_state_folder_keep_apart() {
    let place = Place::new();
    place.head("feature");
    let second = place.repository.beside("second");
    let path = second.to_str().unwrap();
    place
        .repository
        .git_in(place.folder(), &["clone", "-q", "repository", path]);
    assert!(names(&place, path).is_empty());
    place.ok(&["head", "create", "feature", "--repo", path]);
    assert_eq!(names(&place, path), ["feature"]);
    let first = place.json(&["head", "list"]);
    let second = place.json(&["head", "list", "--repo", path]);
    assert_ne!(first["workspace"]["id"], second["workspace"]["id"]);
    assert_ne!(first["heads"][0]["id"], second["heads"][0]["id"]);

    // A head of one is none of the other's.
    let id = first["heads"][0]["id"].as_str().unwrap();
    let said = place.refused(&["head", "status", id, "--repo", path]);
    assert!(said.contains("has no head"), "{said}");
}

#[test]
fn what_is_no_repository_is_refused_with_the_reason() {
    let place = Place::new();
    let plain = place.repository.beside("plain");
    std::fs::create_dir(&plain).unwrap();
    std::fs::write(place.repository.beside("file"), "").unwrap();
    let empty = place.repository.beside("empty");
    place.repository.git_in(&plain, &["init", "-q", "../empty"]);
    for (folder, snapshot) in [
        ("missing", "repo_missing"),
        ("plain", "repo_plain"),
        ("file", "repo_file"),
    ] {
        let folder = place.repository.beside(folder);
        let said = place.refused(&["head", "create", "x", "--repo", folder.to_str().unwrap()]);
        insta::assert_snapshot!(snapshot, said);
    }
    // Without commits there is no revision, but there can be a head.
    let folder = empty.to_str().unwrap();
    let said = place.refused(&["head", "create", "x", "--repo", folder, "--from", "main"]);
    insta::assert_snapshot!("repo_empty", said);
    assert!(!empty.join(".git/refs/heads/everruns").exists());
    place.ok(&["head", "create", "x", "--repo", folder]);
    assert_eq!(names(&place, folder), ["x"]);
}

/// Proves H42 for the command: a path that is no text is refused, not guessed.
#[test]
fn h42_a_folder_whose_name_is_not_unicode_is_refused() {
    use std::os::unix::ffi::OsStrExt as _;
    let place = Place::new();
    let name = std::ffi::OsStr::from_bytes(b"not-\xff-unicode");
    let ran = place.finish(place.program(&["head", "list", "--repo"]).arg(name));
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    insta::assert_snapshot!("repo_not_unicode", ran.said());
}
