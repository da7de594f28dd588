//! Random turns.

use std::fmt::Write as _;
use std::time::Duration;

use everruns::{Simulated, SimulatedStep};
use serde_json::{Value, json};

use crate::random::Random;

/// Files that all sessions use, so that calls meet what earlier ones left.
const PATHS: [&str; 6] = ["a.txt", "b.txt", "c/d.txt", "c/e.txt", "f.txt", "README.md"];

/// The answers of so many turns, each with up to three rounds of calls.
pub(crate) fn script(random: &mut Random, turns: u64) -> Simulated {
    let mut script = Simulated::new();
    for turn in 0..turns {
        for _ in 0..random.below(4) {
            let mut step = SimulatedStep::new().say("I work, and say so in some pieces. ");
            for _ in 0..=random.below(3) {
                for (tool, arguments) in calls(random) {
                    step = step.call(tool, arguments);
                }
            }
            script = script.then(paced(step, random));
        }
        let last = SimulatedStep::new().say(format!("Turn {turn} is done."));
        script = script.then(paced(last, random));
    }
    script
}

/// One turn that changes nothing.
pub(crate) fn short() -> Simulated {
    Simulated::new()
        .call("list_directory", json!({"path": "."}))
        .say("Short.")
}

/// With pauses before the first piece and between pieces.
fn paced(step: SimulatedStep, random: &mut Random) -> SimulatedStep {
    let step = step.delay(pause(random));
    step.pace(pause(random) / 4)
}

fn pause(random: &mut Random) -> Duration {
    Duration::from_millis(random.below(8))
}

fn calls(random: &mut Random) -> Vec<(&'static str, Value)> {
    let path = *random.pick(&PATHS);
    match random.below(12) {
        0 => vec![("list_directory", json!({"path": "."}))],
        1 => vec![("grep", json!({"pattern": "line"}))],
        2 => vec![("delete_file", json!({"path": path}))],
        // What was read is removed only if it is still that.
        3 => vec![
            ("read_file", json!({"path": path})),
            ("delete_file", json!({"path": path})),
        ],
        // With something in it in any case, so that there is a moment between two entries.
        4 => {
            let name = |random: &mut Random| format!("c/m{}.txt", random.below(1_000_000));
            let made = [name(random), name(random)];
            let made = made.map(|name| json!({"path": name, "content": text(random)}));
            let made = made.map(|file| ("write_file", file));
            let removed = json!({"path": "c", "recursive": true});
            made.into_iter().chain([("delete_file", removed)]).collect()
        }
        5 => {
            let name = format!("m{}.txt", random.below(1_000_000));
            let to = format!("n{}.txt", random.below(1_000_000));
            vec![
                ("write_file", json!({"path": name, "content": text(random)})),
                ("move_file", json!({"from": name, "to": to})),
                ("delete_file", json!({"path": to})),
            ]
        }
        6 => {
            let to = *random.pick(&PATHS);
            vec![("move_file", json!({"from": path, "to": to}))]
        }
        // A file that is there can only be replaced by one who has read it.
        _ => vec![
            ("read_file", json!({"path": path})),
            ("write_file", json!({"path": path, "content": text(random)})),
        ],
    }
}

fn text(random: &mut Random) -> String {
    let lines = 1 + random.below(20);
    let mut text = String::new();
    for _ in 0..lines {
        // Writing to a text cannot fail.
        let _infallible = writeln!(text, "line {}", random.below(1_000_000));
    }
    text
}
