//! The commands that the README prints.

use clap::CommandFactory as _;

use crate::markdown::Fence;

/// What runs without a key, without a network and without changing anything.
const RUNNABLE: &[&str] = &[
    "cargo run -p everruns-cli -- demo",
    "cargo run -p everruns-cli -- --",
];

/// The comment above a block all of whose commands are run.
const CHECKED: &str = "<!-- checked -->";

/// A command and its line in the README.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Printed {
    pub(super) text: String,
    pub(super) line: usize,
}

/// What to run, and what is wrong without running it.
#[derive(Debug, Default)]
pub(super) struct Commands {
    pub(super) to_run: Vec<Printed>,
    pub(super) problems: Vec<String>,
}

/// Reads the shell blocks.
pub(super) fn find(fences: &[Fence]) -> Commands {
    let mut commands = Commands::default();
    for fence in fences
        .iter()
        .filter(|fence| matches!(fence.info.as_str(), "console" | "sh"))
    {
        for printed in printed(fence) {
            if fence.above == CHECKED
                || RUNNABLE.iter().any(|start| printed.text.starts_with(start))
            {
                commands.to_run.push(printed);
            } else if let Some(task) = printed.text.strip_prefix("cargo xtask ") {
                commands.problems.extend(unknown_task(task, printed.line));
            }
        }
    }
    commands
}

/// The commands of a block: in a `console` block those behind `$ `, in a `sh` block every line.
fn printed(fence: &Fence) -> Vec<Printed> {
    let session = fence.info == "console";
    fence
        .text
        .lines()
        .enumerate()
        .filter_map(|(index, line)| {
            let command = if session {
                line.trim().strip_prefix("$ ")?
            } else {
                line.trim()
            };
            let text = command.split(" # ").next().unwrap_or(command).trim();
            let is_command = !text.is_empty() && !text.starts_with('#');
            is_command.then(|| Printed {
                text: text.to_owned(),
                line: fence.line + 1 + index,
            })
        })
        .collect()
}

/// This tool's own commands are parsed, not run: one of them is running right now.
fn unknown_task(task: &str, line: usize) -> Option<String> {
    let arguments = std::iter::once("cargo xtask").chain(task.split_whitespace());
    let error = crate::Cli::command()
        .try_get_matches_from(arguments)
        .err()?;
    Some(format!(
        "README.md:{line}: `cargo xtask {task}`: {}",
        error.kind()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown;

    fn found(document: &str) -> (Vec<String>, usize) {
        let commands = find(&markdown::fences(document));
        let texts = commands
            .to_run
            .into_iter()
            .map(|printed| printed.text)
            .collect();
        (texts, commands.problems.len())
    }

    #[test]
    fn the_demo_runs_and_its_output_does_not() {
        let document = "```console\n$ cargo run -p everruns-cli -- demo   # no key\nhead a\n```\n";
        let (commands, problems) = found(document);
        assert_eq!(commands, ["cargo run -p everruns-cli -- demo"]);
        assert_eq!(problems, 0);
    }

    #[test]
    fn other_commands_run_only_in_blocks_that_say_so() {
        assert_eq!(found("```sh\neverruns run x\n```\n").0, [] as [&str; 0]);
        assert_eq!(found("<!-- checked -->\n```sh\ntrue\n```\n").0, ["true"]);
    }

    #[test]
    fn commands_of_this_tool_must_exist() {
        assert_eq!(found("```sh\ncargo xtask ci --only fmt\n```\n").1, 0);
        assert_eq!(found("```sh\ncargo xtask no-such-task\n```\n").1, 1);
    }
}
