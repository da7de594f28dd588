//! Names and texts that would draw on the terminal.

use everruns_acceptance::openai_server::ScriptedStep;
use serde_json::json;

use crate::support::{Place, Ran, Server};

const NAME: &str = "red\u{1b}[31m\u{202e}txt\u{200b}";

fn draws_nothing(ran: &Ran) {
    for text in [&ran.stdout, &ran.stderr] {
        let drawn: Vec<char> = text
            .chars()
            .filter(|c| {
                (c.is_control() && *c != '\n' && *c != '\t')
                    || matches!(c, '\u{200b}' | '\u{202a}'..='\u{202e}')
            })
            .collect();
        assert!(drawn.is_empty(), "{drawn:?} in {text:?}");
    }
}

/// Proves H41: listed exactly as JSON, shown escaped.
#[test]
fn h41_files_that_draw_are_shown_escaped_and_listed_exactly() {
    let place = Place::new();
    let (_, folder) = place.head("feature");
    let file = format!("{NAME}\nA evil");
    std::fs::write(folder.join(&file), "text \u{1b}]0;title\u{7}\u{202e}\n").unwrap();
    for arguments in [
        &["head", "status", "feature"][..],
        &["head", "diff", "feature"],
        &["head", "diff", "feature", "--stat"],
    ] {
        let ran = place.run(arguments);
        assert!(ran.status.success(), "{ran:?}");
        draws_nothing(&ran);
        assert!(ran.stdout.contains("\\u{202e}"), "{ran:?}");
    }
    let stat = place.ok(&["head", "diff", "feature", "--stat"]);
    assert_eq!(stat.lines().count(), 2, "a name begins no line: {stat}");
    let status = place.json(&["head", "status", "feature"]);
    assert_eq!(status["entries"][0]["path"], file.as_str());
}

/// Proves H41 for what the user and the model say.
#[test]
fn h41_models_and_titles_draw_nothing() {
    let evil = format!("said {NAME}\r\u{1b}[2J");
    let server = Server::start(vec![
        ScriptedStep::call("write_file", json!({"path": evil, "content": evil})),
        ScriptedStep::call(evil.clone(), json!({ NAME: evil })),
        ScriptedStep::say(evil.clone()),
    ]);
    let mut place = Place::new();
    place.asks(&server);
    let ran = place.run(&["run", &evil, "--head", "feature"]);
    draws_nothing(&ran);
    let id = place.session_id();
    for arguments in [
        &["session", "list"][..],
        &["session", "show", &id],
        &["head", "diff", "feature"],
        &["head", "list"],
    ] {
        let ran = place.run(arguments);
        assert!(ran.status.success(), "{ran:?}");
        draws_nothing(&ran);
    }
    assert_eq!(place.session()["title"], evil.as_str());
}

/// Proves H41 for errors.
#[test]
fn h41_errors_draw_nothing() {
    let server = Server::start(Vec::new());
    let mut place = Place::new();
    place.asks(&server);
    for arguments in [
        &["head", "status", NAME][..],
        &["head", "create", NAME],
        &["head", "create", "x", "--from", NAME],
        &["head", "list", "--repo", NAME],
        &["session", "show", NAME],
        &["resume", NAME],
        &["run", "x", "--repo", NAME],
        &["run", "x", "--head", NAME],
        &["run", "x", "--from", NAME],
        &["head", "list", "--state", NAME],
    ] {
        let ran = place.run(arguments);
        assert_eq!(ran.status.code(), Some(1), "{arguments:?}: {ran:?}");
        draws_nothing(&ran);
    }
}
