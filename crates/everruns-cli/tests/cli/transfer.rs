//! Exporting, importing and deleting sessions, and choosing among many.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use everruns_acceptance::openai_server::ScriptedStep;
use serde_json::{Value, json};

use crate::support::{OnTerminal, Place, Server, redacted, shell, text};

fn with_sessions(tasks: &[&str]) -> Place {
    let say = |_: &&str| ScriptedStep::say("Done.");
    let server = Server::start(tasks.iter().map(say).collect());
    let mut place = Place::new();
    place.asks(&server);
    for task in tasks {
        place.ok(&["run", task]);
    }
    place.asks_nobody();
    place
}

fn printed(place: &Place, arguments: &[&str]) -> String {
    redacted(&place.ok(arguments), &place.folder())
}

#[test]
fn a_session_is_exported_and_imported_to_be_looked_at() {
    let place = with_sessions(&["Look."]);
    let id = place.session_id();
    let file = place.repository.beside("session.jsonl");
    let file = file.to_str().unwrap();
    insta::assert_snapshot!(
        "exported",
        printed(&place, &["session", "export", &id, file])
    );
    let lines = place.ok(&["session", "export", &id]);
    assert_eq!(lines, text(file), "the same on standard output");
    for line in lines.lines() {
        serde_json::from_str::<Value>(line).unwrap();
    }
    insta::assert_snapshot!(
        "export_exists",
        place.refused(&["session", "export", &id, file])
    );
    place.ok(&["session", "export", &id, file, "--force"]);

    insta::assert_snapshot!("imported", printed(&place, &["session", "import", file]));
    // It was changed when the original was, so that either may come first.
    let listed = place.ok(&["session", "list"]);
    assert_eq!(listed.matches("(none: imported)").count(), 1, "{listed}");
    let listed = place.json(&["session", "list"]);
    let imported = &listed["sessions"].as_array().unwrap().iter();
    let imported = imported.clone().find(|found| found["id"] != id).unwrap();
    let copy = imported["id"].as_str().unwrap();
    let conversation = |id: &str| place.json(&["session", "show", id])["events"].clone();
    assert_eq!(conversation(copy), conversation(&id));
    for refused in [
        &["resume", copy][..],
        &["session", "fork", copy],
        &["session", "rewind", copy],
    ] {
        insta::assert_snapshot!("imported_refused", place.refused(refused));
    }

    let line = format!(
        "PATH={}:$PATH; everruns session export {id} | everruns session import -",
        std::path::Path::new(env!("CARGO_BIN_EXE_everruns"))
            .parent()
            .unwrap()
            .display()
    );
    let piped = place.finish(&mut shell(&place, &line));
    assert!(piped.status.success(), "{piped:?}");
}

#[test]
fn what_is_no_export_is_refused() {
    let place = with_sessions(&[]);
    let file = place.repository.beside("notes.txt");
    let path = file.to_str().unwrap();
    std::fs::write(&file, "notes\n").unwrap();
    insta::assert_snapshot!("import_notes", place.refused(&["session", "import", path]));
    std::fs::write(&file, [0xff, 0xfe, 0x00]).unwrap();
    insta::assert_snapshot!("import_bytes", place.refused(&["session", "import", path]));
    insta::assert_snapshot!(
        "import_missing",
        place.refused(&["session", "import", "nothing.jsonl"])
    );
    assert_eq!(place.json(&["session", "list"])["sessions"], json!([]));
}

/// Whoever writes the lines may have nothing more to say for long.
#[test]
fn a_line_that_is_refused_is_told_before_the_next_one_comes() {
    let place = with_sessions(&[]);
    let mut import = place.program(&["session", "import", "-"]);
    let mut import = import
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = import.stdin.take().unwrap();
    lines.write_all(b"notes\n").unwrap();
    let mut said = String::new();
    let mut told = BufReader::new(import.stderr.take().unwrap());
    told.read_line(&mut said).unwrap();
    assert!(said.contains("no exported session"), "{said}");
    // And it ends, although its input does not.
    let ended = import.wait().unwrap();
    assert_eq!(ended.code(), Some(1));
    drop(lines);
}

#[test]
fn an_export_into_no_folder_leaves_nothing() {
    let place = with_sessions(&["Look."]);
    let id = place.session_id();
    insta::assert_snapshot!(
        "export_nowhere",
        place.refused(&["session", "export", &id, "no/such/folder.jsonl"])
    );
}

#[test]
fn a_deleted_session_leaves_its_head() {
    let place = with_sessions(&["First.", "Second."]);
    let listed = place.json(&["session", "list"]);
    let id = |at: usize| listed["sessions"][at]["id"].as_str().unwrap().to_owned();
    insta::assert_snapshot!(
        "delete_unconfirmed",
        place.refused(&["session", "delete", &id(0)])
    );
    insta::assert_snapshot!(
        "deleted",
        printed(&place, &["session", "delete", &id(0), "--yes"])
    );
    let deleted = place.json(&["session", "delete", &id(1), "--yes"]);
    assert_eq!(deleted["head"]["name"], "First.");
    assert_eq!(place.json(&["session", "list"])["sessions"], json!([]));
    let heads = place.json(&["head", "list"]);
    assert_eq!(heads["heads"].as_array().unwrap().len(), 2);
    place.refused(&["session", "show", &id(0)]);
}

#[test]
fn deleting_is_asked_for_on_a_terminal() {
    let place = with_sessions(&["Look."]);
    let id = place.session_id();
    let asked = OnTerminal::start(place.program(&["session", "delete", &id]));
    let (code, printed, shown) = asked.answer("\n");
    assert_eq!((code, printed.as_str()), (Some(1), ""));
    insta::assert_snapshot!("delete_asked", redacted(&shown, &place.folder()));
    assert_eq!(place.session_id(), id);
    let asked = OnTerminal::start(place.program(&["session", "delete", &id]));
    assert_eq!(asked.answer("yes\n").0, Some(0));
    assert_eq!(place.json(&["session", "list"])["sessions"], json!([]));
}

#[test]
fn sessions_are_chosen_and_paged() {
    let place = with_sessions(&["Fix the parser.", "Look.", "Fix the PARSER again."]);
    let titles = |arguments: &[&str]| -> Vec<String> {
        let all = [&["session", "list"], arguments].concat();
        let listed = place.json(&all);
        let sessions = listed["sessions"].as_array().unwrap().iter();
        sessions
            .map(|found| found["title"].as_str().unwrap().to_owned())
            .collect()
    };
    let (parser, again) = ("Fix the parser.", "Fix the PARSER again.");
    assert_eq!(titles(&["--title", "parser"]), [again, parser]);
    assert_eq!(titles(&["--title", "parser", "--limit", "1"]), [again]);
    let first = place.json(&["session", "list", "--title", "parser", "--limit", "1"]);
    let next = first["next"].as_str().unwrap();
    assert_eq!(titles(&["--title", "parser", "--after", next]), [parser]);
    let page = place.json(&["session", "list", "--limit", "2"]);
    let next = page["next"].as_str().unwrap();
    assert_eq!(titles(&["--after", next]), [parser]);
    // A session's id, or its beginning, means the place where it is now.
    let last = page["sessions"][1]["id"].as_str().unwrap();
    assert_eq!(titles(&["--after", last]), [parser]);
    assert_eq!(
        titles(&["--after", last.trim_start_matches("ses_")]),
        [parser]
    );
    let refused = place.refused(&["session", "list", "--after", "a b@5"]);
    assert!(refused.contains("names no session"), "{refused}");
    assert_eq!(titles(&["--repo", "."]).len(), 3);

    let other = everruns_testkit::git::GitFixture::sample();
    let elsewhere = other.path();
    let elsewhere = elsewhere.to_str().unwrap();
    assert!(titles(&["--repo", elsewhere]).is_empty());
    insta::assert_snapshot!(
        "sessions_none_such",
        printed(&place, &["session", "list", "--title", "nothing like it"])
    );
    insta::assert_snapshot!(
        "sessions_more",
        printed(&place, &["session", "list", "--limit", "1"])
    );
}
