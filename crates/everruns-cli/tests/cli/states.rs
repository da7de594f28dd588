//! State folders: where they may be, and what is said of those that cannot be used.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use everruns_acceptance::openai_server::ScriptedStep;

use crate::support::{Place, Server, redacted};

/// A place with one session whose conversation is in the database.
fn used() -> Place {
    let server = Server::start(vec![ScriptedStep::say("Done.")]);
    let mut place = Place::new();
    place.asks(&server);
    place.ok(&["run", "Go."]);
    place
}

fn database(place: &Place) -> std::path::PathBuf {
    let found: Vec<_> = std::fs::read_dir(place.state())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            std::fs::read(path).is_ok_and(|bytes| bytes.starts_with(b"SQLite format 3\0"))
        })
        .collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].clone()
}

/// Refuses to use the database, and leaves it byte for byte.
fn refuses_and_leaves(place: &Place, database: &Path, snapshot: &str) {
    let before = std::fs::read(database).unwrap();
    for arguments in [
        &["session", "list"][..],
        &["run", "Go on."],
        &["resume", "abcd"],
    ] {
        let said = place.refused(arguments);
        insta::assert_snapshot!(snapshot, said);
    }
    assert!(
        before == std::fs::read(database).unwrap(),
        "the file was changed"
    );
    let heads = place.json(&["head", "list"]);
    assert_eq!(
        heads["heads"].as_array().unwrap().len(),
        1,
        "no head came or went"
    );
}

/// Proves H72.
#[test]
fn h72_a_garbage_database_is_refused_and_left() {
    let place = used();
    let database = database(&place);
    std::fs::write(
        &database,
        "this is no database, and never was one. ".repeat(200),
    )
    .unwrap();
    refuses_and_leaves(&place, &database, "database_garbage");
}

/// Proves H72: the schema's version is in the database's header, bytes 60 to 64.
#[test]
fn h72_a_newer_database_is_refused_and_left() {
    let place = used();
    let database = database(&place);
    let mut bytes = std::fs::read(&database).unwrap();
    assert!(bytes.len() > 4096, "the database was written back");
    bytes[60..64].copy_from_slice(&9_999_u32.to_be_bytes());
    std::fs::write(&database, bytes).unwrap();
    refuses_and_leaves(&place, &database, "database_newer");
}

/// Proves H72.
#[test]
fn h72_a_corrupt_database_is_refused_and_left() {
    let place = used();
    let database = database(&place);
    let mut bytes = std::fs::read(&database).unwrap();
    assert!(bytes.len() > 4096, "the database was written back");
    for byte in bytes.iter_mut().skip(100).take(8000) {
        *byte = 0xa5;
    }
    std::fs::write(&database, bytes).unwrap();
    refuses_and_leaves(&place, &database, "database_corrupt");
}

/// Proves H29b.
#[test]
fn h29b_a_state_folder_inside_a_repository_is_refused() {
    let place = Place::new();
    let inside = place.repository.path().join("state");
    let inside = inside.to_str().unwrap();
    insta::assert_snapshot!(
        "state_inside",
        place.refused(&["head", "create", "x", "--state", inside])
    );
    insta::assert_snapshot!(
        "state_inside_relative",
        place.refused(&["head", "create", "x", "--state", "state"])
    );
    let (_, head) = place.head("feature");
    let in_head = head.join("state");
    insta::assert_snapshot!(
        "state_inside_head",
        place.refused(&["head", "create", "x", "--state", in_head.to_str().unwrap()])
    );
    assert!(!in_head.exists());
    let status = place.repository.git(&["status", "--porcelain"]).text();
    assert_eq!(status, " M README.md", "the repository holds no state");
}

/// Proves H29b for a run: nothing is started, and no database is left in the repository.
#[test]
fn h29b_a_run_with_its_state_inside_the_repository_is_refused() {
    let server = Server::start(Vec::new());
    let mut place = Place::new();
    place.asks(&server);
    let said = place.refused(&["run", "Go.", "--state", ".everruns"]);
    assert!(said.contains("cannot be used as a state folder"), "{said}");
    for arguments in [&["session", "list"][..], &["resume", "abcd"]] {
        let inside = [arguments, &["--state", ".everruns"]].concat();
        let said = place.refused(&inside);
        assert!(said.contains("cannot be used as a state folder"), "{said}");
    }
    assert!(!place.repository.path().join(".everruns").exists());
    assert!(server.requests().is_empty());
}

#[test]
fn a_state_folder_that_is_a_file_is_refused() {
    let place = Place::new();
    std::fs::write(place.state(), "a file").unwrap();
    insta::assert_snapshot!("state_is_file_head", place.refused(&["head", "list"]));
    insta::assert_snapshot!("state_is_file_session", place.refused(&["session", "list"]));
}

/// A root user may write anywhere; then there is nothing to refuse, and the test only checks that.
#[test]
fn a_state_folder_that_cannot_be_written_is_refused() {
    let place = Place::new();
    let locked = place.repository.beside("locked");
    std::fs::create_dir(&locked).unwrap();
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o555)).unwrap();
    let state = locked.join("state");
    let may_write = std::fs::create_dir(locked.join("probe")).is_ok();
    let state = state.to_str().unwrap();
    for (arguments, snapshot) in [
        (["head", "list", "--state", state], "state_unwritable_head"),
        (
            ["session", "list", "--state", state],
            "state_unwritable_session",
        ),
    ] {
        let ran = place.run(&arguments);
        if may_write {
            assert!(ran.status.success(), "{ran:?}");
        } else {
            assert_eq!(ran.status.code(), Some(1), "{ran:?}");
            insta::assert_snapshot!(snapshot, ran.said());
        }
    }
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Nobody may write below `/proc`, root neither.
#[test]
fn a_state_folder_that_cannot_be_made_is_refused() {
    let place = Place::new();
    let state = "/proc/everruns/state";
    insta::assert_snapshot!(
        "state_impossible_head",
        place.refused(&["head", "list", "--state", state])
    );
    insta::assert_snapshot!(
        "state_impossible_session",
        place.refused(&["session", "list", "--state", state])
    );
}

#[test]
fn the_state_folder_is_found_without_being_named() {
    let place = Place::new();
    let home = place.repository.beside("home");
    let mut program = place.program(&["head", "create", "x"]);
    let made = place.finish(program.env_remove("EVERRUNS_STATE"));
    assert!(made.status.success(), "{made:?}");
    let printed = redacted(&made.stdout, &place.folder());
    assert!(
        printed.contains("<dir>/home/.local/state/everruns/"),
        "{printed}"
    );
    let mut program = place.program(&["head", "create", "y"]);
    program
        .env_remove("EVERRUNS_STATE")
        .env("XDG_STATE_HOME", home.join("xdg"));
    let made = place.finish(&mut program);
    let printed = redacted(&made.stdout, &place.folder());
    assert!(printed.contains("<dir>/home/xdg/everruns/"), "{printed}");
}
