//! The README's section on one's own repository, command by command.

use std::path::Path;

use everruns_acceptance::openai_server::ScriptedStep;
use serde_json::json;

use crate::support::{Place, Server, shell};

const README: &str = include_str!("../../../../README.md");

/// The commands of this program in the section, without the comments.
fn commands() -> Vec<&'static str> {
    let (_, section) = README
        .split_once("## Use it on your own repository")
        .unwrap();
    let (_, block) = section.split_once("```sh").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    block
        .lines()
        .filter(|line| line.starts_with("everruns "))
        .map(|line| {
            line.split_once("  #")
                .map_or(line, |(command, _)| command)
                .trim()
        })
        .collect()
}

#[test]
fn what_the_readme_says_can_be_typed() {
    let written = json!({"path": "fixed.txt", "content": "fixed\n"});
    let server = Server::start(vec![
        ScriptedStep::call("write_file", written),
        ScriptedStep::say("It is fixed."),
        ScriptedStep::say("I went on."),
    ]);
    let mut place = Place::new();
    place.asks(&server);
    let before = place.repository.snapshot();
    let folder = Path::new(env!("CARGO_BIN_EXE_everruns")).parent().unwrap();
    let mut results = Vec::new();
    for command in commands() {
        let command = if command.contains("resume 7h2k") {
            let id = place.session_id();
            let rest = id.strip_prefix("ses_").unwrap();
            command.replace("7h2k", rest.get(..4).unwrap())
        } else {
            command.to_owned()
        };
        let line = format!("PATH={}:$PATH; {command}", folder.display());
        // The model is the one that the command names.
        let ran = place.finish(shell(&place, &line).env_remove("EVERRUNS_MODEL"));
        assert!(ran.status.success(), "{command}: {ran:?}");
        results.push(ran.stdout);
    }
    assert_eq!(results.len(), 4, "run, diff, resume, list");
    assert!(results[0].contains("A fixed.txt +1 -0"), "{}", results[0]);
    assert!(results[1].contains("+fixed"), "{}", results[1]);
    assert!(results[2].contains("A fixed.txt +1 -0"), "{}", results[2]);
    assert!(
        results[3].contains("Fix the failing test."),
        "{}",
        results[3]
    );
    let resumed = server.requests()[2].body.clone();
    assert_eq!(resumed["model"], "gpt-5.6-terra");
    assert!(
        resumed.to_string().contains("\"Go on.\""),
        "nothing was interrupted: {resumed}"
    );
    let changes = before.differences(&place.repository.snapshot());
    assert!(changes.is_empty(), "{changes:?}");
}
