use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use everruns::SessionId;
use everruns::session::{EventPayload, EventQuery, Sequence, SessionEvent, SessionStore};

use super::Ledger;
use crate::child::Seen;

impl Ledger {
    /// What was known before, and what the child saw acknowledged, is there once and in its place.
    pub(super) fn check_events(
        &self,
        id: &SessionId,
        recorded: &[SessionEvent],
        seen: &[Seen],
    ) -> anyhow::Result<()> {
        let known = self.events.get(id).map_or(&[][..], Vec::as_slice);
        ensure!(recorded.starts_with(known), "events of {id} have changed");
        for (place, event) in (1..).zip(recorded) {
            ensure!(
                event.sequence == Sequence(place),
                "a gap before {}",
                event.sequence
            );
        }
        let mut said = BTreeMap::new();
        for event in recorded {
            if let EventPayload::UserMessage { text } = &event.payload {
                *said.entry(text.as_str()).or_insert(0) += 1;
            }
        }
        ensure!(
            said.values().all(|times| *times == 1),
            "a message is there twice: {said:?}"
        );
        for seen in seen {
            match seen {
                Seen::Event(event) => {
                    let index = usize::try_from(event.sequence.0)? - 1;
                    ensure!(
                        recorded.get(index) == Some(event.as_ref()),
                        "acknowledged {event:?}, but recorded is {:?}",
                        recorded.get(index)
                    );
                }
                Seen::Sent { text } => {
                    ensure!(
                        said.contains_key(text.as_str()),
                        "`{text}` was taken and is lost"
                    );
                }
                Seen::Turn { number, .. } | Seen::Rival { number } => {
                    let ended = recorded.iter().any(|event| {
                        matches!(&event.payload, EventPayload::TurnEnded { turn, .. } if turn == number)
                    });
                    ensure!(ended, "the end of turn {number} was told and is lost");
                }
                Seen::Active { session } => ensure!(session == id, "{session} is not {id}"),
                Seen::Forked { session } => {
                    ensure!(
                        self.bindings.contains_key(session),
                        "the fork {session} is lost"
                    );
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// What a fork was made of begins its record.
    pub(super) async fn check_forks(
        &self,
        store: &dyn SessionStore,
        id: &SessionId,
        recorded: &[SessionEvent],
    ) -> anyhow::Result<()> {
        let known = self.events.get(id).map_or(0, Vec::len);
        for event in &recorded[known..] {
            let EventPayload::ForkEnded {
                session: fork,
                made: true,
            } = &event.payload
            else {
                continue;
            };
            let place = begun(recorded, fork).with_context(|| format!("{fork} was not begun"))?;
            let taken = usize::try_from(place.0)?;
            ensure!(
                read(store, fork).await?.starts_with(&recorded[..taken]),
                "the fork {fork} has other events than its source"
            );
        }
        Ok(())
    }
}

/// The last event of the source that this fork takes over.
pub(super) fn begun(events: &[SessionEvent], fork: &SessionId) -> Option<Sequence> {
    events.iter().find_map(|event| match &event.payload {
        EventPayload::ForkBegun {
            session, through, ..
        } if session == fork => Some(*through),
        _ => None,
    })
}

pub(super) async fn read(
    store: &dyn SessionStore,
    id: &SessionId,
) -> anyhow::Result<Vec<SessionEvent>> {
    let mut events = Vec::new();
    loop {
        let last = events
            .last()
            .map_or(Sequence::START, |event: &SessionEvent| event.sequence);
        let page = store.events(id, EventQuery::after(last, 1_000)).await?;
        events.extend(page.events);
        if page.next.is_none() {
            return Ok(events);
        }
    }
}
