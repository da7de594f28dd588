//! The places of a session's record to which it can go back.

use std::collections::HashMap;
use std::fmt::Write as _;

use everruns::session::{EventPayload, Sequence, SessionEvent, SessionRecord, TurnOutcome};
use everruns::{Engine, PlaceFiles, SessionError, SessionId, SessionPlace};
use serde_json::{Value, json};

use super::find::events;
use super::line::short;
use crate::failure::Failure;
use crate::output::Output;
use crate::state::StateFolder;
use crate::table::{WHOLE, table};
use crate::times;

/// The most that is shown of what a turn was asked, in characters.
const ASKED: usize = 50;

/// A place, and what a person knows of it.
pub(super) struct Known {
    pub(super) place: SessionPlace,
    event: SessionEvent,
    /// What was there before, in a few words.
    pub(super) after: String,
}

/// The places of a session and what was before each.
pub(super) struct Places {
    pub(super) known: Vec<Known>,
    /// The turns of the conversation as it is now, by the place where each began.
    turns: Vec<Sequence>,
}

impl Places {
    pub(super) async fn read(engine: &Engine, record: &SessionRecord) -> Result<Self, Failure> {
        let places = engine.places(&record.id).await?;
        let events = events(engine, record).await?;
        let mut turns: Vec<Sequence> = Vec::new();
        let mut asked = String::new();
        let mut told = HashMap::new();
        for event in events {
            match &event.payload {
                EventPayload::TurnStarted { .. } => turns.push(event.sequence),
                EventPayload::Rewound { to, .. } => turns.retain(|turn| turn <= to),
                EventPayload::UserMessage { text } => asked.clone_from(text),
                _ => {}
            }
            if let Some(after) = after(&event.payload, &asked) {
                told.insert(event.sequence, (event, after));
            }
        }
        let known = places.into_iter().filter_map(|place| {
            let (event, after) = told.remove(&place.event)?;
            Some(Known {
                place,
                event,
                after,
            })
        });
        Ok(Self {
            known: known.collect(),
            turns,
        })
    }

    pub(super) fn at(&self, event: Sequence) -> Option<&Known> {
        self.known.iter().find(|known| known.place.event == event)
    }

    /// How many turns come after a place.
    pub(super) fn turns_after(&self, event: Sequence) -> usize {
        self.turns.iter().filter(|turn| **turn > event).count()
    }
}

/// What is before a place, when the event is one that a place may be after.
fn after(payload: &EventPayload, asked: &str) -> Option<String> {
    Some(match payload {
        EventPayload::SessionStarted { .. } => "the beginning".to_owned(),
        EventPayload::SessionResumed { .. } => "being resumed".to_owned(),
        EventPayload::TurnEnded { turn, outcome } => {
            format!(
                "turn {turn}{}: {}",
                unfinished(outcome),
                short(asked, ASKED)
            )
        }
        EventPayload::Rewound { to, .. } => format!("going back to event {to}"),
        EventPayload::Forked { from } => format!("being forked from {from}"),
        _ => return None,
    })
}

/// How a turn ended that did not come to its end, in a word.
fn unfinished(outcome: &TurnOutcome) -> &'static str {
    match outcome {
        TurnOutcome::Completed => "",
        TurnOutcome::LimitReached => " (limit reached)",
        TurnOutcome::Cancelled => " (cancelled)",
        TurnOutcome::Failed { .. } => " (failed)",
        _ => " (interrupted)",
    }
}

/// Shows the places of a session.
pub(super) fn list(
    state: &StateFolder,
    output: Output,
    record: &SessionRecord,
    places: &Places,
) -> Result<(), Failure> {
    let all: Vec<Value> = places.known.iter().map(to_json).collect();
    output.show(&json!({"session": record.id, "places": all}), || {
        // Nothing happens by being resumed: the place before it is the same.
        let rows: Vec<_> = places
            .known
            .iter()
            .filter(|known| !matches!(known.event.payload, EventPayload::SessionResumed { .. }))
            .map(row)
            .collect();
        if rows.is_empty() {
            return "there is no place to go back to yet".to_owned();
        }
        let mut text = table(
            [
                ("EVENT", WHOLE),
                ("MADE", WHOLE),
                ("FILES", WHOLE),
                ("AFTER", WHOLE),
            ],
            &rows,
        );
        let words = ["session", "rewind", record.id.as_str()];
        let _ = writeln!(text, "go back with `{} EVENT`", state.command(&words, None));
        text
    })
}

fn row(known: &Known) -> [String; 4] {
    [
        known.place.event.to_string(),
        times::shown(known.event.at),
        files(&known.place.files).to_owned(),
        known.after.clone(),
    ]
}

fn files(files: &PlaceFiles) -> &'static str {
    match files {
        PlaceFiles::Unchanged => "unchanged",
        PlaceFiles::Kept(_) => "kept",
        _ => "not kept",
    }
}

fn to_json(known: &Known) -> Value {
    let checkpoint = match &known.place.files {
        PlaceFiles::Kept(checkpoint) => Some(checkpoint),
        _ => None,
    };
    json!({
        "event": known.place.event,
        "at": known.event.at,
        "after": known.after,
        "files": files(&known.place.files).replace(' ', "_"),
        "checkpoint": checkpoint,
    })
}

/// The place after `event`, when it is one whose files are known.
pub(super) fn possible<'a>(
    state: &StateFolder,
    record: &SessionRecord,
    places: &'a Places,
    event: Sequence,
) -> Result<&'a Known, Failure> {
    let session = record.id.clone();
    let error = match places.at(event) {
        None => SessionError::NotBetweenTurns { session, event },
        Some(known) if known.place.files == PlaceFiles::Missed => {
            SessionError::NoCheckpoint { session, event }
        }
        Some(known) => return Ok(known),
    };
    Err(Failure::from(error).hint(list_hint(state, &record.id)))
}

/// How to see the places.
fn list_hint(state: &StateFolder, session: &SessionId) -> String {
    let words = ["session", "rewind", session.as_str()];
    format!(
        "`{}` lists the places there are",
        state.command(&words, None)
    )
}
