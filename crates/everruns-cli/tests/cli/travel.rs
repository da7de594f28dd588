//! Going back, and forking: files and conversation together, by the real program.

use std::path::PathBuf;

use everruns_acceptance::openai_server::ScriptedStep;
use serde_json::json;

use crate::support::{OnTerminal, Place, Server, redacted, text};

struct Scene {
    place: Place,
    server: Server,
    session: String,
}

impl Scene {
    /// A session that made a file in each of two turns.
    fn new() -> Self {
        let write = |path: &str| {
            let arguments = json!({"path": path, "content": "made\n"});
            ScriptedStep::call("write_file", arguments)
        };
        let server = Server::start(vec![
            write("one.txt"),
            ScriptedStep::say("One is made."),
            write("two.txt"),
            ScriptedStep::say("Two is made."),
            ScriptedStep::say("Gone on."),
        ]);
        let mut place = Place::new();
        place.asks(&server);
        place.ok(&["run", "Make one.", "--head", "mine"]);
        let session = place.session_id();
        place.ok(&["resume", &session, "Make two."]);
        Self {
            place,
            server,
            session,
        }
    }

    /// What follows needs no model, and no key.
    fn without_model(&mut self) {
        self.place.asks_nobody();
    }

    fn printed(&self, arguments: &[&str]) -> String {
        redacted(&self.place.ok(arguments), &self.place.folder())
    }

    fn folder(&self, head: &str) -> PathBuf {
        let heads = self.place.json(&["head", "list"]);
        let heads = heads["heads"].as_array().unwrap();
        let found = heads.iter().find(|found| found["name"] == head).unwrap();
        let (_, other) = self.place.head(&format!("beside {head}"));
        other.with_file_name(found["id"].as_str().unwrap())
    }

    /// The number of the event that ended a turn.
    fn end_of(&self, turn: u64) -> String {
        let shown = self.place.json(&["session", "show", &self.session]);
        let events = shown["events"].as_array().unwrap();
        let ended = |event: &&serde_json::Value| {
            event["payload"]["type"] == "turn_ended" && event["payload"]["turn"] == turn
        };
        events.iter().find(ended).unwrap()["sequence"].to_string()
    }
}

#[test]
fn a_session_goes_back_with_its_files() {
    let mut scene = Scene::new();
    let folder = scene.folder("mine");
    scene.without_model();
    let id = scene.session.clone();
    let end = scene.end_of(1);
    insta::assert_snapshot!("places", scene.printed(&["session", "rewind", &id]));
    insta::assert_snapshot!(
        "rewind_dry_run",
        scene.printed(&["session", "rewind", &id, &end, "--dry-run"])
    );
    insta::assert_snapshot!(
        "rewind_unconfirmed",
        scene.place.refused(&["session", "rewind", &id, &end])
    );
    assert!(folder.join("two.txt").exists(), "nothing was changed");
    insta::assert_snapshot!(
        "rewound",
        scene.printed(&["session", "rewind", &id, &end, "--yes"])
    );
    assert!(!folder.join("two.txt").exists());
    assert_eq!(text(folder.join("one.txt")), "made\n");
    insta::assert_snapshot!("shown_rewound", scene.printed(&["session", "show", &id]));

    let listed = scene.place.json(&["session", "rewind", &id]);
    let places = listed["places"].as_array().unwrap();
    assert!(
        places
            .iter()
            .any(|place| place["event"].as_u64() == end.parse().ok() && place["files"] == "kept"),
        "{listed}"
    );

    scene.place.asks(&scene.server);
    scene.place.ok(&["resume", &id, "Go on."]);
    let asked = scene.server.requests().pop().unwrap().body.to_string();
    assert!(asked.contains("Make one."), "{asked}");
    assert!(!asked.contains("Make two."), "{asked}");
}

#[test]
fn a_place_that_is_none_is_refused() {
    let scene = Scene::new();
    let id = scene.session.as_str();
    let before = scene.place.ok(&["session", "events", id]);
    insta::assert_snapshot!(
        "rewind_nowhere",
        scene
            .place
            .refused(&["session", "rewind", id, "3", "--yes"])
    );
    insta::assert_snapshot!(
        "fork_nowhere",
        scene.place.refused(&["session", "fork", id, "--at", "999"])
    );
    scene.place.refused(&["session", "fork", id, "--name", ""]);
    let heads = scene.place.json(&["head", "list"]);
    assert_eq!(heads["heads"].as_array().unwrap().len(), 1);
    assert_eq!(
        scene.place.ok(&["session", "events", id]),
        before,
        "nothing of it is in the record"
    );
}

/// A place whose checkpoint was pruned is refused, rather than gone back to with other files.
#[test]
fn a_place_whose_files_were_pruned_is_refused() {
    let scene = Scene::new();
    let id = scene.session.as_str();
    let folder = scene.folder("mine");
    insta::assert_snapshot!(
        "pruned",
        scene.printed(&["head", "prune", "mine", "--keep", "1"])
    );
    let said = scene
        .place
        .refused(&["session", "rewind", id, "1", "--yes"]);
    assert!(said.contains("is not kept in this workspace"), "{said}");
    assert!(said.contains("it was pruned"), "{said}");
    assert!(folder.join("one.txt").exists() && folder.join("two.txt").exists());
}

/// Without `--yes` it is asked for, where there is somebody to ask.
#[test]
fn going_back_is_asked_for_on_a_terminal() {
    let scene = Scene::new();
    let folder = scene.folder("mine");
    let end = scene.end_of(1);
    let arguments = ["session", "rewind", &scene.session, &end];
    let asked = OnTerminal::start(scene.place.program(&arguments));
    let (code, printed, shown) = asked.answer("n\n");
    assert_eq!((code, printed.as_str()), (Some(1), ""));
    insta::assert_snapshot!("rewind_asked", redacted(&shown, &scene.place.folder()));
    assert!(folder.join("two.txt").exists());

    let asked = OnTerminal::start(scene.place.program(&arguments));
    let (code, printed, shown) = asked.answer("y\n");
    assert_eq!(code, Some(0), "{shown}");
    assert!(printed.starts_with("went back to event"), "{printed}");
    assert!(!folder.join("two.txt").exists());
}

#[test]
fn a_fork_has_files_and_conversation_of_its_own() {
    let mut scene = Scene::new();
    let before = scene.place.repository.snapshot();
    scene.without_model();
    let id = scene.session.clone();
    insta::assert_snapshot!("forked", scene.printed(&["session", "fork", &id]));
    let end = scene.end_of(1);
    let fork = scene
        .place
        .json(&["session", "fork", &id, "--name", "again", "--at", &end]);
    let folder = PathBuf::from(fork["location"].as_str().unwrap());
    assert!(folder.join("one.txt").exists());
    assert!(!folder.join("two.txt").exists());
    insta::assert_snapshot!(
        "fork_taken",
        scene
            .place
            .refused(&["session", "fork", &id, "--name", "again"])
    );
    assert!(scene.folder("mine fork").join("two.txt").exists());
    insta::assert_snapshot!("forks_listed", scene.printed(&["session", "list"]));

    let forked = fork["session"].as_str().unwrap();
    scene.place.asks(&scene.server);
    let turn = scene.place.json(&["resume", forked, "Go on."]);
    assert_eq!(turn["turn"]["response"], "Gone on.");
    let asked = scene.server.requests().pop().unwrap().body.to_string();
    assert!(asked.contains("One is made.") && !asked.contains("Make two."));
    let changes = before.differences(&scene.place.repository.snapshot());
    assert!(changes.is_empty(), "{changes:?}");
}
