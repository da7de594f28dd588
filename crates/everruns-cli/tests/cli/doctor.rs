//! `doctor`: what needs a hand is said and makes the program fail.

use everruns_acceptance::openai_server::ScriptedStep;
use serde_json::{Value, json};

use crate::support::{Place, Server, redacted};

fn used() -> Place {
    let server = Server::start(vec![ScriptedStep::say("Done.")]);
    let mut place = Place::new();
    place.asks(&server);
    place.ok(&["run", "Look.", "--head", "mine"]);
    place
}

#[test]
fn all_may_be_well() {
    let place = Place::new();
    insta::assert_snapshot!("doctor_nothing", place.ok(&["doctor"]));
    let place = used();
    insta::assert_snapshot!("doctor_well", place.ok(&["doctor"]));
    let examined = place.json(&["doctor"]);
    assert_eq!(
        examined,
        json!({"database": {"state": "sound"}, "findings": []})
    );
}

/// Proves H72 for the command: damage that opening does not notice is found, and told to scripts.
#[test]
fn h72_a_damaged_database_is_found() {
    let place = used();
    let database = place.state().join("sessions.db");
    let mut bytes = std::fs::read(&database).unwrap();
    let end = bytes.len();
    bytes[end - 8_192..].fill(0xa5);
    std::fs::write(&database, &bytes).unwrap();
    let ran = place.run(&["doctor"]);
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    assert!(
        ran.stdout
            .starts_with("the database of the sessions needs a hand: "),
        "{ran:?}"
    );
    assert!(ran.stdout.contains("restore-backup"), "{ran:?}");
    insta::assert_snapshot!("doctor_damaged_said", ran.said());
    let ran = place.run(&["doctor", "--json"]);
    let examined: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(examined["database"]["state"], "unusable", "{examined}");
    assert_eq!(
        std::fs::read(&database).unwrap(),
        bytes,
        "it is left as it is"
    );
}

#[test]
fn a_head_without_its_folder_is_found() {
    let place = used();
    let head = place.session()["binding"]["head_id"].clone();
    let (_, other) = place.head("other");
    std::fs::remove_dir_all(other.with_file_name(head.as_str().unwrap())).unwrap();
    let ran = place.run(&["doctor"]);
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    insta::assert_snapshot!("doctor_folder_gone", redacted(&ran.stdout, &place.folder()));
    insta::assert_snapshot!("doctor_folder_gone_said", ran.said());
}

/// The process that destroys a head stays until its files are gone.
#[test]
fn a_destroyed_head_leaves_no_bytes() {
    let place = Place::new();
    let (_, folder) = place.head("big");
    for number in 0..3_000 {
        std::fs::write(folder.join(format!("{number}.bin")), "x").unwrap();
    }
    place.ok(&["head", "destroy", "big"]);
    let trash = place.state().join("workspace-provider").join("trash");
    let left = std::fs::read_dir(&trash).unwrap().count();
    assert_eq!(left, 0, "{}", trash.display());
}
