//! How `run` names the heads that it makes.

use everruns_acceptance::openai_server::ScriptedStep;

use crate::support::{Place, Server};

fn names(place: &Place) -> Vec<String> {
    let listed = place.json(&["head", "list"]);
    let heads = listed["heads"].as_array().unwrap();
    heads
        .iter()
        .map(|head| head["name"].as_str().unwrap().to_owned())
        .collect()
}

fn place(turns: usize) -> (Server, Place) {
    let server = Server::start(vec![ScriptedStep::say("Done."); turns]);
    let mut place = Place::new();
    place.asks(&server);
    (server, place)
}

#[test]
fn the_first_words_of_the_task_are_the_name_and_a_taken_one_is_counted_up() {
    let (_server, place) = place(3);
    for _ in 0..3 {
        place.ok(&["run", "Fix the failing test."]);
    }
    let mut found = names(&place);
    found.sort();
    assert_eq!(
        found,
        [
            "Fix the failing test.",
            "Fix the failing test. 2",
            "Fix the failing test. 3"
        ]
    );
}

#[test]
fn processes_that_start_at_once_all_get_a_head() {
    let (_server, place) = place(6);
    let running: Vec<_> = (0..6).map(|_| place.start(&["run", "Go."])).collect();
    for ran in running {
        let ran = ran.finish();
        assert!(ran.status.success(), "{ran:?}");
    }
    let mut found = names(&place);
    found.sort();
    assert_eq!(found, ["Go.", "Go. 2", "Go. 3", "Go. 4", "Go. 5", "Go. 6"]);
    let listed = place.json(&["session", "list"]);
    assert_eq!(listed["sessions"].as_array().map(Vec::len), Some(6));
}

#[test]
fn long_tasks_and_tasks_that_draw_give_names_too() {
    let (_server, place) = place(2);
    place.ok(&["run", &"word ".repeat(100)]);
    place.ok(&["run", "../..\u{1b}[31m/x"]);
    let mut found = names(&place);
    found.sort();
    assert_eq!(found, ["../..-[31m/x", "word word word word word word"]);
}

#[test]
fn a_name_and_a_revision_can_be_chosen() {
    let (_server, place) = place(1);
    place.ok(&["run", "Go.", "--head", "mine", "--from", "other"]);
    assert_eq!(names(&place), ["mine"]);
    let listed = place.json(&["head", "list"]);
    assert_eq!(
        listed["heads"][0]["base"],
        place.repository.id_of("other").as_str()
    );
}

#[test]
fn a_chosen_name_that_is_taken_is_refused_and_starts_nothing() {
    let (server, place) = place(1);
    place.head("mine");
    insta::assert_snapshot!(
        "name_taken_by_run",
        place.refused(&["run", "Go.", "--head", "mine"])
    );
    insta::assert_snapshot!(
        "unknown_revision",
        place.refused(&["run", "Go.", "--from", "nowhere"])
    );
    insta::assert_snapshot!(
        "impossible_name",
        place.refused(&["run", "Go.", "--head", ""])
    );
    assert_eq!(names(&place), ["mine"]);
    assert_eq!(
        place.json(&["session", "list"])["sessions"],
        serde_json::json!([])
    );
    assert!(server.requests().is_empty());
}
