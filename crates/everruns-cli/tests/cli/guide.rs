//! The guide to the command: what it prints can be typed, and there is no command that it leaves out.

use std::collections::BTreeSet;
use std::path::Path;

use everruns_acceptance::openai_server::ScriptedStep;
use serde_json::json;

use crate::support::{Place, Server, shell};

const GUIDE: &str = include_str!("../../../../docs/guides/command-line.md");

/// The lines of the guide's shell blocks, without the comments.
fn lines() -> Vec<&'static str> {
    let blocks = GUIDE.split("```sh\n").skip(1);
    blocks
        .filter_map(|block| block.split_once("```"))
        .flat_map(|(block, _)| block.lines())
        .map(|line| line.split_once("  #").map_or(line, |(command, _)| command))
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect()
}

#[test]
fn what_the_guide_says_can_be_typed() {
    let write = |path: &str| {
        let arguments = json!({"path": path, "content": "made\n"});
        ScriptedStep::call("write_file", arguments)
    };
    let server = Server::start(vec![
        write("one.txt"),
        ScriptedStep::say("One."),
        write("two.txt"),
        ScriptedStep::say("Two."),
    ]);
    let mut place = Place::new();
    place.asks(&server);
    place.ok(&["run", "Make one.", "--head", "mine"]);
    let session = place.session_id();
    place.ok(&["resume", &session, "Make two."]);
    let places = place.json(&["session", "rewind", &session]);
    let event = places["places"][1]["event"].to_string();
    let head = place.session()["binding"]["head_id"].clone();
    let kept = format!(
        "refs/everruns/heads/{}/checkpoints/1",
        head.as_str().unwrap()
    );
    let folder = Path::new(env!("CARGO_BIN_EXE_everruns")).parent().unwrap();
    let lines = lines();
    assert!(lines.len() >= 10, "{lines:?}");
    for line in lines {
        let mut command = line
            .replace("SESSION", &session)
            .replace("EVENT", &event)
            .replace("REF", &kept);
        // Here is no terminal to ask on.
        if line == "everruns session rewind SESSION EVENT" {
            command.push_str(" --yes");
        }
        let typed = format!("PATH={}:$PATH; {command}", folder.display());
        let ran = place.finish(&mut shell(&place, &typed));
        assert!(ran.status.success(), "{command}: {ran:?}");
    }
}

/// The commands in the guide's first table, such as `head list`.
fn told() -> BTreeSet<String> {
    let rows = GUIDE.lines().filter(|line| line.starts_with("| `everruns"));
    let mut told = BTreeSet::new();
    for row in rows {
        let cell = row.split(" | ").next().unwrap();
        let mut group = "";
        for span in cell.split('`').skip(1).step_by(2) {
            let words: Vec<&str> = span
                .split_whitespace()
                .filter(|word| *word != "everruns")
                .take_while(|word| word.chars().all(|c| c.is_ascii_lowercase() || c == '-'))
                .collect();
            match words.as_slice() {
                [first, second] => {
                    group = first;
                    told.insert(format!("{first} {second}"));
                }
                [only] if group.is_empty() || span.starts_with("everruns") => {
                    told.insert((*only).to_owned());
                }
                [only] if matches!(group, "session" | "head") => {
                    told.insert(format!("{group} {only}"));
                }
                other => panic!("{other:?} in {row}"),
            }
        }
    }
    told
}

/// The commands that the program lists in its own help.
fn listed(place: &Place, of: &[&str]) -> Vec<String> {
    let help = place.ok(&[of, &["--help"]].concat());
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let (commands, _) = commands.split_once("\n\n").unwrap();
    commands
        .lines()
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(|name| [of, &[name]].concat().join(" "))
        .collect()
}

#[test]
fn the_guide_tells_of_every_command() {
    let place = Place::new();
    let mut all: BTreeSet<String> = listed(&place, &[]).into_iter().collect();
    for group in ["session", "head"] {
        all.remove(group);
        all.extend(listed(&place, &[group]));
    }
    assert_eq!(told(), all);
}
