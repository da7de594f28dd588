use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::child::Seen;
use crate::failpoints::FAILPOINTS;

/// What the rounds came to.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// How many rounds there were.
    pub rounds: u64,
    /// Children killed at a named step, by step.
    pub at_steps: BTreeMap<&'static str, u64>,
    /// Children that were to be killed at a named step, by step.
    pub aimed: BTreeMap<&'static str, u64>,
    /// Children killed at a random moment.
    pub at_random: u64,
    /// Children that had finished before.
    pub finished: u64,
    /// Events that a child had seen acknowledged, all found again.
    pub acknowledged: u64,
    /// Sessions resumed after a kill, which then finished a turn.
    pub resumed: u64,
    /// Calls whose outcome was recorded as unknown.
    pub unknown: u64,
    /// Commits and merges that a child had seen acknowledged, all found again.
    pub commits: u64,
    /// Children with whose session another process had a turn when they had been killed, or had given it back.
    pub rivals: u64,
    /// Sessions that a child had seen deleted.
    pub deleted: u64,
    /// Sessions deleted whose fork a child had begun and not finished.
    pub sources: u64,
    /// Heads that a child had seen destroyed, their work kept.
    pub destroyed: u64,
    /// Branches that a child had seen brought into a head.
    pub updated: u64,
    /// Conflicts that a child had seen in its head, each with its two sides and the real Git's word.
    pub clashed: u64,
    /// Those that it had seen resolved, by a commit or by going back.
    pub resolved: u64,
    /// Checkpoints that a child had seen forgotten.
    pub pruned: u64,
    /// Heads that a child had seen archived.
    pub archived: u64,
    /// Children whose turns kept only what they had changed themselves.
    pub own_changes: u64,
    /// How long it took.
    pub took: Duration,
}

impl Report {
    /// Children killed at a named step.
    pub fn killed_at_steps(&self) -> u64 {
        self.at_steps.values().sum()
    }

    pub(crate) fn hit(&mut self, step: &'static str) {
        *self.at_steps.entry(step).or_default() += 1;
    }

    pub(crate) fn aim(&mut self, step: &'static str) {
        *self.aimed.entry(step).or_default() += 1;
    }

    pub(crate) fn hits(&self, step: &str) -> u64 {
        self.at_steps.get(step).copied().unwrap_or_default()
    }

    /// Children that were to be killed at this step and were not.
    pub(crate) fn misses(&self, step: &str) -> u64 {
        let aimed = self.aimed.get(step).copied().unwrap_or_default();
        aimed.saturating_sub(self.hits(step))
    }

    /// How much has been done for this step: a hit counts more than a failed attempt.
    pub(crate) fn weight(&self, step: &str) -> u64 {
        self.aimed.get(step).copied().unwrap_or_default() + 3 * self.hits(step)
    }

    pub(crate) fn count(&mut self, seen: &[Seen]) {
        for seen in seen {
            match seen {
                Seen::Event(_) => self.acknowledged += 1,
                Seen::Commit { .. } => self.commits += 1,
                Seen::Rival { .. } => self.rivals += 1,
                Seen::Deleted { .. } => self.deleted += 1,
                Seen::Destroyed(_) => self.destroyed += 1,
                Seen::Updated => self.updated += 1,
                Seen::Clashed => self.clashed += 1,
                Seen::Resolved => self.resolved += 1,
                Seen::Pruned { removed } => self.pruned += removed.len() as u64,
                Seen::Archived(_) => self.archived += 1,
                _ => {}
            }
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} rounds in {:.0} s, all as they should be: {} killed at {} of {} named steps, {} at a random moment, {} \
             finished before",
            self.rounds,
            self.took.as_secs_f64(),
            self.killed_at_steps(),
            self.at_steps.len(),
            FAILPOINTS.len(),
            self.at_random,
            self.finished
        )?;
        writeln!(
            f,
            "{} acknowledged events found again, {} sessions resumed and finished, {} calls of unknown outcome, {} \
             commits and merges found again, {} sessions deleted, {} more whose fork was not finished, {} heads destroyed",
            self.acknowledged,
            self.resumed,
            self.unknown,
            self.commits,
            self.deleted,
            self.sources,
            self.destroyed
        )?;
        writeln!(
            f,
            "{} turns of processes that had waited for the session of another, {} branches brought into heads, {} conflicts with heads, {} resolved, {} checkpoints forgotten, {} heads archived, {} children that looked at \
             their own changes alone",
            self.rivals,
            self.updated,
            self.clashed,
            self.resolved,
            self.pruned,
            self.archived,
            self.own_changes
        )?;
        writeln!(f, " kills   aimed step")?;
        for step in FAILPOINTS {
            let aimed = self.aimed.get(step).copied().unwrap_or_default();
            writeln!(f, "{:6}  {aimed:6} {step}", self.hits(step))?;
        }
        Ok(())
    }
}
