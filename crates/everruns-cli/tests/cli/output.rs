//! Readers that stop reading, and outputs that cannot be written.

use std::process::Stdio;

use everruns_acceptance::openai_server::ScriptedStep;

use crate::support::{Place, Server};

/// Runs the program with a standard output that nobody reads.
fn unread(place: &Place, arguments: &[&str]) -> (Option<i32>, String) {
    let mut child = place
        .program(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let server = Server::start(vec![ScriptedStep::say("Done.")]);
    let mut place = Place::new();
    place.asks(&server);
    place.head("feature");
    for arguments in [
        &["head", "list"][..],
        &["head", "list", "--json"],
        &["head", "status", "feature"],
        &["session", "list"],
        &["--help"],
        &["demo"],
    ] {
        let (code, said) = unread(&place, arguments);
        assert_eq!((code, said.as_str()), (Some(0), ""), "{arguments:?}");
    }
    let (code, said) = unread(&place, &["run", "Go."]);
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn progress_that_nobody_reads_does_not_stop_the_work() {
    let server = Server::start(vec![ScriptedStep::say("Done.")]);
    let mut place = Place::new();
    place.asks(&server);
    let mut child = place
        .program(&["run", "Go."])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stderr.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains("everruns resume"), "{printed}");
}

#[test]
fn a_full_disk_is_said() {
    let place = Place::new();
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let ran = place.finish_into(&["head", "list"], full.into());
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    insta::assert_snapshot!("output_full", ran.said());
}

#[test]
fn nothing_is_coloured_when_it_is_not_a_terminal() {
    let place = Place::new();
    for arguments in [&["--help"][..], &["nothing"], &["head", "list"]] {
        let ran = place.run(arguments);
        assert!(!ran.stdout.contains('\u{1b}'), "{ran:?}");
        assert!(!ran.stderr.contains('\u{1b}'), "{ran:?}");
    }
}
