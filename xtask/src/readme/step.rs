//! The step that reads the README.

use super::{commands, rust_blocks};
use crate::command::Command;
use crate::context::Context;
use crate::step::Outcome;
use crate::{files, markdown};

/// Compiles each Rust block in a project of its own, and runs the commands that need no key.
pub(crate) fn step(context: &Context) -> anyhow::Result<Outcome> {
    let readme = files::read(&context.root.join("README.md"))?;
    let fences = markdown::fences(&readme);
    let mut problems = Vec::new();

    let blocks = rust_blocks::find(&fences);
    if blocks.is_empty() {
        problems.push("README.md has no Rust block to compile".to_owned());
    }
    for block in &blocks {
        if let Err(error) = rust_blocks::compile(context, block) {
            problems.push(format!("README.md:{}: {error:#}", block.line));
        }
    }

    let commands = commands::find(&fences);
    problems.extend(commands.problems);
    if commands.to_run.is_empty() {
        problems.push("README.md has no command that can be run without a key".to_owned());
    }
    for command in &commands.to_run {
        let shell = Command::new("bash", &context.root)
            .args(["-euo", "pipefail", "-c", &command.text])
            .quiet_env("CARGO_TARGET_DIR", &context.target);
        if let Err(error) = shell.run() {
            problems.push(format!("README.md:{}: {error:#}", command.line));
        }
    }
    let note = format!(
        "{} Rust blocks, {} commands",
        blocks.len(),
        commands.to_run.len()
    );
    Ok(Outcome::of(&problems, note))
}
