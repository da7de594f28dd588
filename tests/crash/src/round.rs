//! The parent: starts children, kills them, and has what is left checked.

use std::io::Write as _;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, ensure};

use crate::failpoints::{FAILPOINTS, Way};
use crate::place::Kind;
use crate::report::Report;
use crate::world::World;

/// A run of so many rounds must have hit every step.
const LONG: u64 = 1_000;

/// So often a kill may miss a step to which a child's orders lead, whatever its script draws.
const MISSES: u64 = 3;

/// After so many rounds the harness says how far it is.
const PROGRESS: u64 = 250;

/// What to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program that has the child's role.
    pub program: PathBuf,
    /// How many children are killed.
    pub rounds: u64,
    /// Where the random choices begin.
    pub seed: u64,
    /// The kinds of heads, in turns.
    pub kinds: Vec<Kind>,
    /// The database, unless it is SQLite.
    pub postgres: Option<String>,
    /// Which of the named steps to aim at.
    pub share: Share,
    /// After the rounds, so many more at most are run until every step was hit; if one was not then, that is an error.
    pub until_all: u64,
}

/// Some of the named steps, so that several runs beside each other hit all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Which one, from 0 on.
    pub part: usize,
    /// Of how many.
    pub of: usize,
}

impl Share {
    /// Every step.
    pub const ALL: Self = Self { part: 0, of: 1 };

    /// The steps, in their order.
    pub(crate) fn steps(self) -> impl Iterator<Item = &'static str> {
        let steps = FAILPOINTS.iter().copied().skip(self.part);
        steps.step_by(self.of.max(1))
    }
}

/// Runs all rounds.
///
/// # Errors
/// The first thing that is not as it should be, with the seed of its round; steps that kills mostly missed; and, after a
/// long run, steps that were never hit.
pub async fn run(options: &Options) -> anyhow::Result<Report> {
    let began = Instant::now();
    let mut report = Report::default();
    let mut worlds = Vec::new();
    for &kind in &options.kinds {
        worlds.push(World::new(kind, options)?);
    }
    ensure!(!worlds.is_empty(), "no kind of head is chosen");
    let mut rounds = 0;
    loop {
        let more = rounds >= options.rounds;
        let most = options.rounds + options.until_all;
        if more && (rounds >= most || missed(options, &report).is_empty()) {
            break;
        }
        let round = rounds;
        rounds += 1;
        let seed = options.seed.wrapping_mul(1_000_003).wrapping_add(round);
        let index = usize::try_from(round).unwrap_or_default() % worlds.len();
        let world = &mut worlds[index];
        let kind = world.place.kind;
        let ran = world.round(seed, more, &mut report).await;
        ran.with_context(|| {
            let locks = world.locks();
            format!(
                "round {round} (round seed {seed}, {kind} heads; run again with --seed {} --rounds {}); lock files \
                 that are left: {locks:?}",
                options.seed,
                rounds
            )
        })?;
        if rounds % PROGRESS == 0 {
            let seconds = began.elapsed().as_secs();
            writeln!(std::io::stderr(), "{rounds} rounds in {seconds} s")?;
        }
    }
    report.rounds = rounds;
    report.took = began.elapsed();
    let astray = astray(&report);
    ensure!(
        astray.is_empty(),
        "mostly missed in {} rounds: {astray:?}\n{report}",
        options.rounds
    );
    let missed = missed(options, &report);
    ensure!(
        (options.rounds < LONG && options.until_all == 0) || missed.is_empty(),
        "never hit in {rounds} rounds: {missed:?}\n{report}"
    );
    Ok(report)
}

/// The steps that could be hit and never were.
fn missed(options: &Options, report: &Report) -> Vec<&'static str> {
    let open = |step: &&str| {
        let kinds = &mut options.kinds.iter();
        Way::to(step).is_some_and(|way| kinds.any(|kind| way.is_open(*kind)))
    };
    let steps = options.share.steps().filter(open);
    steps.filter(|step| report.hits(step) == 0).collect()
}

/// The steps that were aimed at and mostly missed, though the way to them does not depend on what a script draws: their
/// name or the way to them is wrong.
fn astray(report: &Report) -> Vec<&'static str> {
    let wrong = |step: &&str| {
        let drawn = matches!(
            Way::to(step),
            Some(Way::Turn | Way::TurnOnDisk | Way::TurnOnGit)
        );
        let misses = report.misses(step);
        !drawn && misses > MISSES && misses > report.hits(step)
    };
    FAILPOINTS.iter().copied().filter(wrong).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_is_missed_again_and_again_is_told() {
        let mut report = Report::default();
        for _ in 0..=MISSES {
            for step in [
                "engine.delete.after-release",
                "git.merge.after-commit",
                "fs.rename.after-rename",
            ] {
                report.aim(step);
            }
        }
        report.hit("git.merge.after-commit");
        assert_eq!(astray(&report), ["engine.delete.after-release"]);
        for _ in 0..9 {
            report.aim("git.merge.after-commit");
        }
        assert_eq!(astray(&report).len(), 2);
    }
}
