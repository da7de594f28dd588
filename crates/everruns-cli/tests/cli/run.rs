use everruns_acceptance::openai_server::ScriptedStep;
use serde_json::json;

use crate::support::{Place, Server, shell, text};

fn makes_a_file() -> Vec<ScriptedStep> {
    let mut step = ScriptedStep::call(
        "write_file",
        json!({"path": "made.txt", "content": "made\n"}),
    );
    "I will make it.".clone_into(&mut step.text);
    vec![step, ScriptedStep::say("It is made.")]
}

/// Proves H30 for the command: the agent's changes are in its head and nowhere else.
#[test]
fn a_task_changes_its_head_and_nothing_else() {
    let server = Server::start(makes_a_file());
    let mut place = Place::new();
    place.asks(&server);
    let before = place.repository.snapshot();

    let ran = place.run(&["run", "Make the file."]);

    assert!(ran.status.success(), "{ran:?}");
    insta::assert_snapshot!("run_progress", ran.said());
    insta::assert_snapshot!("run_result", ran.printed());
    let listed = place.json(&["head", "list"]);
    assert_eq!(listed["heads"][0]["name"], "Make the file.");
    let (_, folder) = place.head("only to know where heads are");
    let id = listed["heads"][0]["id"].as_str().unwrap();
    assert_eq!(text(folder.with_file_name(id).join("made.txt")), "made\n");
    let changes = before.differences(&place.repository.snapshot());
    assert!(changes.is_empty(), "{changes:?}");
    let first = &server.requests()[0];
    assert_eq!(first.authorization.as_deref(), Some("Bearer test-key"));
    assert_eq!(first.body["model"], "scripted");
}

#[test]
fn what_it_prints_at_the_end_can_be_typed() {
    let server = Server::start(
        makes_a_file()
            .into_iter()
            .chain([ScriptedStep::say("Gone on.")])
            .collect(),
    );
    let mut place = Place::new();
    place.asks(&server);
    let elsewhere = place.repository.beside("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let state = place.repository.beside("another state");
    let repository = place.repository.path();

    let ran = place.finish(place.program(&[]).current_dir(&elsewhere).args([
        "run",
        "Say: what's \"this\"?",
        "--repo",
        repository.to_str().unwrap(),
        "--state",
        state.to_str().unwrap(),
    ]));

    assert!(ran.status.success(), "{ran:?}");
    insta::assert_snapshot!("run_from_elsewhere", ran.printed());
    let mut typed = Vec::new();
    for beginning in ["see it", "go on"] {
        let command = ran
            .stdout
            .lines()
            .find_map(|line| line.strip_prefix(beginning))
            .unwrap()
            .replace('…', "Go on.");
        let binary = env!("CARGO_BIN_EXE_everruns");
        let command = command.trim().replacen("everruns", binary, 1);
        let again = place.finish(
            shell(&place, &command)
                .current_dir(&elsewhere)
                .env_remove("EVERRUNS_STATE"),
        );
        assert!(again.status.success(), "{command}: {again:?}");
        typed.push(again);
    }
    assert!(typed[0].stdout.contains("+made"), "{typed:?}");
    assert!(typed[1].stderr.contains("Gone on."), "{typed:?}");
}

#[test]
fn a_script_gets_one_json_object_and_nothing_else() {
    let server = Server::start(makes_a_file());
    let mut place = Place::new();
    place.asks(&server);
    let ran = place.run(&["run", "Make the file.", "--json"]);
    assert!(ran.status.success(), "{ran:?}");
    assert_eq!(ran.stderr, "");
    let result: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(result["session"], place.session_id().as_str());
    assert_eq!(result["head"]["name"], "Make the file.");
    assert_eq!(result["turn"]["success"], true);
    assert_eq!(result["turn"]["outcome"], json!("completed"));
    assert_eq!(result["turn"]["response"], "It is made.");
    assert_eq!(result["turn"]["tool_calls"], 1);
    assert_eq!(result["diff"]["files"][0]["path"], "made.txt");
}

#[test]
fn the_title_is_the_first_line_of_the_task() {
    let server = Server::start(vec![ScriptedStep::say("Done.")]);
    let mut place = Place::new();
    place.asks(&server);
    place.ok(&["run", "Look around\nand say nothing"]);
    let session = place.session();
    assert_eq!(session["title"], "Look around");
    let sent = &server.requests()[0].body;
    assert!(sent.to_string().contains("and say nothing"), "{sent}");
}

#[test]
fn an_empty_task_starts_nothing() {
    let server = Server::start(Vec::new());
    let mut place = Place::new();
    place.asks(&server);
    for task in ["", "  \n "] {
        insta::assert_snapshot!("run_empty_task", place.refused(&["run", task]));
    }
    for message in ["", "  \n "] {
        let said = place.refused(&["resume", "abcd", message]);
        insta::assert_snapshot!("resume_empty_message", said);
    }
    assert!(!place.state().exists(), "state was made for nothing");
}

#[test]
fn an_address_that_is_none_is_refused() {
    let place = Place::new();
    let mut program = place.program(&["run", "Make the file.", "--model", "some"]);
    program
        .env("OPENAI_API_KEY", "a-key")
        .env("OPENAI_BASE_URL", "localhost");
    let ran = place.finish(&mut program);
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    insta::assert_snapshot!("no_address", ran.said());
}

#[test]
fn without_a_model_nothing_is_made() {
    let place = Place::new();
    let task = ["run", "Make the file."];
    insta::assert_snapshot!("no_model_no_key", place.refused(&task));
    let named = ["run", "Make the file.", "--model", "some"];
    insta::assert_snapshot!("no_key", place.refused(&named));
    let provider = [&named[..], &["--provider", "anthropic"]].concat();
    insta::assert_snapshot!("no_anthropic_key", place.refused(&provider));
    let keyed = place.finish(place.program(&task).env("OPENAI_API_KEY", "key"));
    assert_eq!(keyed.status.code(), Some(1));
    insta::assert_snapshot!("no_model", keyed.said());
    let empty = place.finish(
        place
            .program(&task)
            .env("OPENAI_API_KEY", "")
            .env("EVERRUNS_MODEL", ""),
    );
    assert_eq!(
        empty.said(),
        place.refused(&task),
        "empty is as good as unset"
    );

    assert!(!place.state().exists(), "state was made");
    let branches = place.repository.git(&["branch", "--list", "everruns/*"]);
    assert_eq!(branches.text(), "");
}

#[test]
fn json_errors_are_json() {
    let place = Place::new();
    let ran = place.run(&["run", "Make the file.", "--json"]);
    assert_eq!(ran.status.code(), Some(1));
    assert_eq!(ran.stdout, "");
    let error: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
    assert!(error["error"].as_str().unwrap().contains("no model"));
    assert!(error["hints"].as_array().unwrap().len() >= 2);
}
