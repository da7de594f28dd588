//! What the program says of itself.

use crate::support::Place;

#[test]
fn every_command_has_help() {
    let place = Place::new();
    let commands = [
        "",
        "demo",
        "run",
        "resume",
        "session",
        "session list",
        "session show",
        "session events",
        "session fork",
        "session rewind",
        "session export",
        "session import",
        "session delete",
        "head",
        "head list",
        "head create",
        "head fork",
        "head status",
        "head diff",
        "head checkpoint",
        "head commit",
        "head merge",
        "head update",
        "head restore",
        "head prune",
        "head archive",
        "head destroy",
        "head reopen",
        "backup",
        "restore-backup",
        "doctor",
    ];
    for command in commands {
        let mut arguments: Vec<&str> = command.split_whitespace().collect();
        arguments.push("--help");
        // The variables' values would be in the text.
        let mut program = place.program(&arguments);
        let ran = place.finish(program.env_remove("EVERRUNS_STATE"));
        assert!(ran.status.success(), "{command}: {ran:?}");
        assert_eq!(ran.stderr, "");
        let name = format!("help_{}", command.replace(' ', "_"));
        insta::assert_snapshot!(name.trim_end_matches('_'), ran.stdout);
    }
}

#[test]
fn what_is_not_understood_is_said_and_ends_with_2() {
    let place = Place::new();
    for (arguments, snapshot) in [
        (&[][..], "usage_nothing"),
        (&["runn"][..], "usage_unknown_command"),
        (&["run"][..], "usage_no_task"),
        (&["head", "status"][..], "usage_no_head"),
        (
            &["head", "checkpoint", "x", "--list", "--label", "y"][..],
            "usage_conflict",
        ),
        (
            &["run", "x", "--provider", "nobody"][..],
            "usage_unknown_provider",
        ),
        (&["session", "list", "--limit", "many"][..], "usage_limit"),
        (&["head", "list", "--repo", ""][..], "usage_empty_repo"),
    ] {
        let mut program = place.program(arguments);
        let ran = place.finish(program.env_remove("EVERRUNS_STATE"));
        assert_eq!(ran.status.code(), Some(2), "{arguments:?}: {ran:?}");
        assert_eq!(ran.stdout, "");
        insta::assert_snapshot!(snapshot, ran.stderr);
    }
    assert!(!place.state().exists());
}

#[test]
fn the_version_is_told() {
    let place = Place::new();
    let expected = format!("everruns {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(place.ok(&["--version"]), expected);
}
