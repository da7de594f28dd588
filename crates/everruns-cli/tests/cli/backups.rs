//! `backup` and `restore-backup`.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use everruns_acceptance::openai_server::ScriptedStep;
use rustix::process::Signal;
use serde_json::json;

use crate::support::{Place, Server, redacted, until};

fn printed(place: &Place, arguments: &[&str]) -> String {
    let text = redacted(&place.ok(arguments), &place.folder());
    // The size of a database, and the time in the name of one, differ.
    let text = replace_between(&text, " (", " KiB)", "<n>");
    replace_between(&text, "sessions.db.before-", "\n", "<time>")
}

fn replace_between(text: &str, start: &str, end: &str, by: &str) -> String {
    let Some((before, rest)) = text.split_once(start) else {
        return text.to_owned();
    };
    match rest.split_once(end) {
        Some((_, after)) => format!("{before}{start}{by}{end}{after}"),
        None => text.to_owned(),
    }
}

fn used(answers: usize) -> (Place, Server) {
    let say = |_| ScriptedStep::say("Done.");
    let server = Server::start((0..answers).map(say).collect());
    let mut place = Place::new();
    place.asks(&server);
    place.ok(&["run", "First."]);
    (place, server)
}

fn file(place: &Place, name: &str) -> String {
    place.repository.beside(name).to_str().unwrap().to_owned()
}

/// Proves H73: sessions and heads that came after the backup are told, and nothing of theirs is removed.
#[test]
fn h73_a_restored_older_backup_is_reconciled_with_the_heads() {
    let (place, _server) = used(4);
    let first = place.session_id();
    let backup = file(&place, "backup.db");
    insta::assert_snapshot!("backed_up", printed(&place, &["backup", &backup]));

    place.ok(&["run", "Second."]);
    place.ok(&["resume", &first, "Go on."]);
    insta::assert_snapshot!(
        "restore_refused",
        redacted(
            &place.refused(&["restore-backup", &backup]),
            &place.folder()
        )
    );
    insta::assert_snapshot!(
        "restored",
        printed(&place, &["restore-backup", &backup, "--replace"])
    );
    assert_eq!(place.session_id(), first);
    let heads = place.json(&["head", "list"]);
    assert_eq!(heads["heads"].as_array().unwrap().len(), 2);
    // The session goes on, on its head, and the other head can be had.
    place.ok(&["resume", &first, "Go on."]);
    place.ok(&["head", "fork", "Second.", "second again"]);
    // What was there before the restoration is kept.
    let kept = std::fs::read_dir(place.state()).unwrap().find_map(|entry| {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        name.starts_with("sessions.db.before-")
            .then(|| entry.path())
    });
    let back = [
        "restore-backup",
        kept.as_deref().and_then(Path::to_str).unwrap(),
        "--replace",
    ];
    place.ok(&back);
    let listed = place.json(&["session", "list"]);
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 2);
}

#[test]
fn h73_a_backup_in_an_empty_state_knows_that_its_heads_are_elsewhere() {
    let (place, _server) = used(1);
    let backup = file(&place, "backup.db");
    place.ok(&["backup", &backup]);
    let state = file(&place, "elsewhere");
    insta::assert_snapshot!(
        "restored_elsewhere",
        printed(&place, &["restore-backup", &backup, "--state", &state])
    );
}

#[test]
fn a_backup_replaces_nothing_unless_told() {
    let (place, _server) = used(1);
    let target = file(&place, "notes.txt");
    std::fs::write(&target, "notes").unwrap();
    insta::assert_snapshot!("backup_exists", place.refused(&["backup", &target]));
    assert_eq!(std::fs::read(&target).unwrap(), b"notes");
    place.ok(&["backup", &target, "--force"]);
    assert!(
        std::fs::read(&target)
            .unwrap()
            .starts_with(b"SQLite format 3\0")
    );
    let beside = std::fs::read_dir(place.folder()).unwrap();
    let left = beside.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().starts_with(".tmp")
    });
    assert_eq!(left.count(), 0, "nothing is left beside it");
    insta::assert_snapshot!(
        "backup_nowhere",
        place.refused(&["backup", "no/such/folder.db"])
    );
}

/// Proves H73 where the copy itself would be the loss: nothing takes the place of the sessions, under whatever name.
#[test]
fn h73_nothing_is_written_over_the_sessions_themselves() {
    let (place, _server) = used(1);
    let id = place.session_id();
    let database = place.state().join("sessions.db");
    let link = file(&place, "link.db");
    std::os::unix::fs::symlink(&database, &link).unwrap();
    let before = std::fs::metadata(&database).unwrap().ino();
    let own = |suffix: &str| format!("{}{suffix}", database.display());
    for target in [own(""), own("-wal"), own("-shm"), link] {
        for command in [vec!["backup"], vec!["session", "export", &id]] {
            let force = [&command[..], &[&target, "--force"]].concat();
            let said = place.refused(&force);
            assert!(said.contains("the sessions themselves"), "{said}");
        }
    }
    insta::assert_snapshot!(
        "backup_over_sessions",
        redacted(
            &place.refused(&["backup", &own(""), "--force"]),
            &place.folder()
        )
    );
    assert_eq!(std::fs::metadata(&database).unwrap().ino(), before);
    assert_eq!(place.session_id(), id);
}

#[test]
fn what_is_no_backup_is_refused_and_the_sessions_stay() {
    let (place, _server) = used(1);
    let id = place.session_id();
    let notes = file(&place, "notes.txt");
    std::fs::write(&notes, "these are notes, and no database. ".repeat(100)).unwrap();
    insta::assert_snapshot!(
        "restore_notes",
        place.refused(&["restore-backup", &notes, "--replace"])
    );
    insta::assert_snapshot!(
        "restore_missing",
        place.refused(&["restore-backup", "nothing.db", "--replace"])
    );
    assert_eq!(place.session_id(), id);
}

#[test]
fn where_nothing_is_recorded_there_is_nothing_to_back_up() {
    let place = Place::new();
    let target = file(&place, "backup.db");
    insta::assert_snapshot!("backup_nothing", place.refused(&["backup", &target]));
    assert!(!Path::new(&target).exists());
}

/// A running session goes on while it is copied, and its database is not moved from under it.
#[test]
fn a_running_session_is_backed_up_and_not_replaced() {
    let written = json!({"path": "made.txt", "content": "made\n"});
    let server = Server::start(vec![
        ScriptedStep::call("write_file", written),
        ScriptedStep::say("I will never say this").slow(Duration::from_mins(10)),
    ]);
    let mut place = Place::new();
    place.asks(&server);
    let running = place.start(&["run", "Make the file."]);
    until("the second request", || server.requests().len() == 2);
    let backup = file(&place, "backup.db");
    place.ok(&["backup", &backup]);
    insta::assert_snapshot!(
        "restore_while_open",
        place.refused(&["restore-backup", &backup, "--replace"])
    );
    running.send(Signal::INT);
    let ran = running.finish();
    assert!(ran.stderr.contains("the turn was cancelled"), "{ran:?}");
    place.ok(&["restore-backup", &backup, "--replace"]);
}

/// A database that cannot be used is the reason to have backups.
#[test]
fn h73_h72_a_backup_takes_the_place_of_a_damaged_database() {
    let (place, _server) = used(1);
    let id = place.session_id();
    let backup = file(&place, "backup.db");
    place.ok(&["backup", &backup]);
    let damaged = b"damaged".repeat(1000);
    std::fs::write(place.state().join("sessions.db"), &damaged).unwrap();
    place.refused(&["session", "list"]);
    let restored = place.json(&["restore-backup", &backup, "--replace"]);
    assert_eq!(place.session_id(), id);
    let before = restored["before"].as_str().unwrap();
    assert_eq!(
        std::fs::read(before).unwrap(),
        damaged,
        "it is kept as it was"
    );
}
