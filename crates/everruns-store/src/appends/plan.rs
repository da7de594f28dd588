//! What becomes of a group of appends, decided before anything is written.

use std::collections::HashMap;

use super::{Answer, OPERATION};
use crate::rows::{AppendRow, to_stored};
use crate::rules::{self, Append, Batch};

/// A row of `events`.
#[derive(Debug)]
pub(crate) struct NewEvent<'a> {
    pub(crate) batch: &'a Batch,
    pub(crate) seq: i64,
    pub(crate) payload: &'a str,
    /// The place of the batch's last event, with its first one.
    pub(crate) batch_last: Option<i64>,
}

/// How a row of `sessions` changes.
#[derive(Debug)]
pub(crate) struct Note<'a> {
    pub(crate) session: &'a str,
    pub(crate) last_seq: i64,
    pub(crate) at: i64,
    pub(crate) agent: Option<&'a str>,
}

/// What to write, and what to answer once it is written.
#[derive(Debug, Default)]
pub(crate) struct Plan<'a> {
    pub(crate) outcomes: Vec<Answer>,
    pub(crate) events: Vec<NewEvent<'a>>,
    /// One for each session that changes.
    pub(crate) notes: Vec<Note<'a>>,
}

impl<'a> Plan<'a> {
    /// Decides on batches in their order, given what is stored about the session and the key of each: every one finds
    /// what those before it do.
    pub(crate) fn new(batches: impl IntoIterator<Item = (&'a Batch, Option<AppendRow>)>) -> Self {
        let mut plan = Self::default();
        let mut changed = Changed::default();
        for (batch, mut row) in batches {
            if let Some(row) = &mut row {
                changed.show(batch, row, &plan.notes);
            }
            let outcome = rules::append(batch, row).and_then(|decision| match decision {
                Append::Answer(receipt) => Ok(receipt),
                Append::Apply(receipt) => {
                    let first = to_stored(OPERATION, receipt.first.0)?;
                    let last = to_stored(OPERATION, receipt.last.0)?;
                    changed.apply(batch, first, last, &mut plan);
                    Ok(receipt)
                }
            });
            plan.outcomes.push(outcome);
        }
        plan
    }
}

/// What the batches so far change.
#[derive(Debug, Default)]
struct Changed<'a> {
    /// Where a session's note is.
    notes: HashMap<&'a str, usize>,
    /// The first and last place of what was appended with a key.
    keys: HashMap<(&'a str, &'a str), (i64, i64)>,
}

impl<'a> Changed<'a> {
    /// Makes `row` what would be read if the batches so far had been written.
    fn show(&self, batch: &'a Batch, row: &mut AppendRow, notes: &[Note<'a>]) {
        let session = batch.request.session.as_str();
        if let Some(note) = self.notes.get(session) {
            row.last_seq = notes[*note].last_seq;
        }
        let key = (session, batch.request.idempotency_key.as_str());
        if let Some((first, last)) = self.keys.get(&key) {
            row.applied_first = Some(*first);
            row.applied_last = Some(*last);
        }
    }

    fn apply(&mut self, batch: &'a Batch, first: i64, last: i64, plan: &mut Plan<'a>) {
        let request = &batch.request;
        let session = request.session.as_str();
        let places = (first..=last).zip(&batch.payloads);
        plan.events.extend(places.map(|(seq, payload)| NewEvent {
            batch,
            seq,
            payload,
            batch_last: (seq == first).then_some(last),
        }));
        self.keys
            .insert((session, &request.idempotency_key), (first, last));
        let note = *self.notes.entry(session).or_insert_with(|| {
            plan.notes.push(Note {
                session,
                last_seq: last,
                at: request.at.as_millis(),
                agent: None,
            });
            plan.notes.len() - 1
        });
        let note = &mut plan.notes[note];
        note.last_seq = last;
        note.at = note.at.max(request.at.as_millis());
        note.agent = batch.agent.as_deref().or(note.agent);
    }
}
