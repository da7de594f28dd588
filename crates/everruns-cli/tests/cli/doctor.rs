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

/// Proves H30 for the command: without `--repair` it lists what a crash left, and leaves it there.
#[test]
fn h30_a_look_changes_nothing() {
    let place = used();
    let git_dir = place.repository.path().join(".git");
    let locks = ["index.lock", "index.held-5-0.lock"].map(|name| git_dir.join(name));
    for lock in &locks {
        let dead = "everruns holder 1\npid 1\nstart 1\nboot another\nnamespace -\n";
        std::fs::write(lock, dead).unwrap();
    }
    let kinds = |examined: &Value| -> Vec<(String, bool)> {
        let findings = examined["findings"].as_array().unwrap().iter();
        let of = |found: &Value| {
            let kind = found["kind"].as_str().unwrap().to_owned();
            (kind, found["repaired"].as_bool().unwrap())
        };
        findings.map(of).collect()
    };
    let stale = |repaired| ("stale-index-lock".to_owned(), repaired);
    for _ in 0..2 {
        let ran = place.run(&["doctor", "--json"]);
        assert_eq!(ran.status.code(), Some(1), "{ran:?}");
        let examined = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(kinds(&examined), [stale(false), stale(false)]);
        assert!(locks.iter().all(|lock| lock.exists()));
    }
    let examined = place.json(&["doctor", "--repair"]);
    assert_eq!(kinds(&examined), [stale(true), stale(true)]);
    assert!(!locks.iter().any(|lock| lock.exists()));
    assert_eq!(kinds(&place.json(&["doctor"])), []);
}
