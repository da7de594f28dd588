//! `everruns session events`

use std::time::Duration;

use everruns::Engine;
use everruns::session::{EventQuery, Sequence, SessionEvent};

use super::find::find;
use super::line;
use crate::args::EventsArgs;
use crate::failure::Failure;
use crate::output::{Output, line_to_reader};

/// How many events are read at a time.
const PAGE: u32 = 500;
/// How soon news are looked for; twice as long each time there are none.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// How long news may wait at most.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Prints events, one a line, without taking the session up: whoever executes it is not disturbed.
pub(super) async fn run(engine: &Engine, output: Output, args: EventsArgs) -> Result<(), Failure> {
    let record = find(engine, &args.session).await?;
    let mut after = Sequence(args.from.saturating_sub(1));
    let mut pause = FIRST_PAUSE;
    loop {
        let query = EventQuery::after(after, PAGE);
        let page = engine.store().events(&record.id, query).await?;
        for event in &page.events {
            if !line_to_reader(&printed(output, event)?)? {
                return Ok(());
            }
            after = event.sequence;
        }
        if page.next.is_some() {
            continue;
        }
        if !args.follow {
            return Ok(());
        }
        if !page.events.is_empty() {
            pause = FIRST_PAUSE;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

fn printed(output: Output, event: &SessionEvent) -> Result<String, Failure> {
    if !output.json {
        return Ok(line::of(event));
    }
    serde_json::to_string(event)
        .map_err(|error| Failure::new(format!("the event cannot be shown as JSON: {error}")))
}
