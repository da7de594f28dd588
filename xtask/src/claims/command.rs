//! `cargo xtask claims` and the step of the same name.

use clap::Args;

use super::{check, proofs, table};
use crate::context::Context;
use crate::files;
use crate::step::Outcome;

/// What to do with the table.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Bring the proof column of `docs/claims.md` up to date.
    #[arg(long)]
    write: bool,
}

/// Prints the claims with their proofs. True unless the table is wrong.
pub(crate) fn run(context: &Context, arguments: &Arguments) -> anyhow::Result<bool> {
    let path = context.root.join(table::PATH);
    let found = proofs::find(&files::tracked(context)?);
    if arguments.write {
        files::write(&path, &table::refreshed(&files::read(&path)?, &found)?)?;
    }
    let rows = table::rows(&files::read(&path)?)?;
    for row in &rows {
        let mut of_row = found
            .iter()
            .filter(|proof| proof.claim == row.id)
            .peekable();
        if of_row.peek().is_none() {
            println!("{}  MISSING  {}", row.id, row.claim);
        }
        for proof in of_row {
            println!(
                "{}  proved   {}  {}:{}",
                row.id, proof.test, proof.path, proof.line
            );
        }
    }
    let missing = check::missing(&rows, &found);
    println!("{} claims, {} without a proof", rows.len(), missing.len());
    let problems = check::problems(&rows, &found);
    for problem in &problems {
        println!("{problem}");
    }
    Ok(problems.is_empty())
}

/// Fails when the table and the code disagree; says which claims have no proof.
pub(crate) fn step(context: &Context) -> anyhow::Result<Outcome> {
    let found = proofs::find(&files::tracked(context)?);
    let rows = table::rows(&files::read(&context.root.join(table::PATH))?)?;
    let missing: Vec<String> = check::missing(&rows, &found)
        .iter()
        .map(ToString::to_string)
        .collect();
    let note = if missing.is_empty() {
        format!("{} claims, each proved", rows.len())
    } else {
        println!("  without a proof: {}", missing.join(", "));
        format!(
            "{} claims, {} MISSING a proof: {}",
            rows.len(),
            missing.len(),
            missing.join(", ")
        )
    };
    Ok(Outcome::of(&check::problems(&rows, &found), note))
}
