//! Models that answer with errors: the session and its head stay, and go on later.

use everruns_acceptance::openai_server::ScriptedStep;

use crate::support::{Place, Server};

fn fails_then_goes_on(steps: Vec<ScriptedStep>, snapshot: &str) {
    let failing = Server::start(steps);
    let mut place = Place::new();
    place.asks(&failing);

    let ran = place.run(&["run", "Make the file."]);

    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    insta::assert_snapshot!(snapshot.to_owned(), ran.said());
    let id = place.session_id();
    let head = place.session()["binding"]["head_id"].clone();

    let working = Server::start(vec![ScriptedStep::say("Now I can.")]);
    place.asks(&working);
    let resumed = place.json(&["resume", &id]);
    assert_eq!(resumed["turn"]["response"], "Now I can.");
    assert_eq!(resumed["head"]["id"], head);
    let sent = working.requests()[0].body.to_string();
    assert!(sent.contains("Make the file."), "the task is still known");
}

#[test]
fn a_refused_key_is_said_and_the_session_goes_on_with_a_right_one() {
    fails_then_goes_on(vec![ScriptedStep::refuse(401)], "model_401");
}

#[test]
fn a_broken_server_is_asked_again_and_then_said() {
    fails_then_goes_on(vec![ScriptedStep::refuse(500); 5], "model_500");
}

#[test]
fn a_server_that_cannot_be_reached_is_said() {
    let mut place = Place::new();
    let gone = Server::start(Vec::new());
    place.asks(&gone);
    drop(gone);
    let ran = place.run(&["run", "Make the file."]);
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    assert!(ran.stderr.contains("the turn failed"), "{ran:?}");
    assert!(ran.stderr.contains("could not be reached"), "{ran:?}");
    assert!(
        ran.stderr
            .contains(&format!("everruns resume {}", place.session_id())),
        "{ran:?}"
    );
}
