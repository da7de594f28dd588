//! `everruns session show`

use everruns::Engine;
use serde_json::json;

use super::find::{events, find};
use super::names::HeadNames;
use super::text;
use crate::failure::Failure;
use crate::output::Output;
use crate::state::StateFolder;

pub(super) async fn show(
    state: &StateFolder,
    engine: &Engine,
    output: Output,
    wanted: &str,
) -> Result<(), Failure> {
    let record = find(engine, wanted).await?;
    let events = events(engine, &record).await?;
    let mut names = HeadNames::new(state);
    if !output.json {
        names.learn(std::slice::from_ref(&record)).await;
    }
    output.show(&json!({"session": record, "events": events}), || {
        let mut text = text::heading(&record, &names);
        for event in &events {
            text.push_str(&text::event(event));
        }
        text
    })
}
