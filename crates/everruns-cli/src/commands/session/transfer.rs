//! `everruns session export` and `import`

use std::path::{Path, PathBuf};
use std::pin::pin;

use everruns::transfer::ImportError;
use everruns::{Engine, SessionId};
use futures::StreamExt as _;
use serde_json::json;

use super::find::find;
use super::lines::lines_of;
use crate::args::ExportArgs;
use crate::blocking::blocking;
use crate::failure::Failure;
use crate::files::{Draft, check_target};
use crate::output::{Output, line_to_reader, shown};
use crate::state::StateFolder;

/// Standard input or output in the place of a file.
pub(super) const STANDARD: &str = "-";

pub(super) async fn export(
    state: &StateFolder,
    engine: &Engine,
    output: Output,
    args: ExportArgs,
) -> Result<(), Failure> {
    let record = find(engine, &args.session).await?;
    let mut lines = engine.export(&record.id);
    if args.file == Path::new(STANDARD) {
        while let Some(text) = lines.next().await {
            if !line_to_reader(&text?)? {
                break;
            }
        }
        return Ok(());
    }
    check_target(state, &args.file, args.force).await?;
    let target = args.file.clone();
    let mut draft = blocking(move || Draft::new(&target)).await?;
    let mut events: u64 = 0;
    while let Some(text) = lines.next().await {
        let text = text?;
        draft = blocking(move || draft.line(&text).map(|()| draft)).await?;
        events += 1;
    }
    // The first line is the session itself.
    events = events.saturating_sub(1);
    blocking(move || draft.finish(args.force)).await?;
    let result = json!({"session": record.id, "events": events, "file": args.file});
    output.show(&result, || {
        let file = shown(&args.file.display().to_string());
        format!(
            "exported session {} with {events} events to {file}",
            record.id
        )
    })
}

pub(super) async fn import(
    state: &StateFolder,
    engine: &Engine,
    output: Output,
    file: PathBuf,
) -> Result<(), Failure> {
    let (lines, reader) = lines_of(file);
    let id = imported(reader, engine.import_stream(lines)).await?;
    let events = engine.store().session(&id).await?.last_sequence;
    output.show(&json!({"session": id, "events": events}), || {
        let show = state.command(&["session", "show", id.as_str()], None);
        format!("imported as session {id} with {events} events\n  see it    {show}")
    })
}

/// What comes of an import and of the reading for it. A line that is refused is told of at once: whoever writes the lines
/// may send the next one much later, or never.
async fn imported(
    reader: impl Future<Output = Result<(), Failure>>,
    import: impl Future<Output = Result<SessionId, ImportError>>,
) -> Result<SessionId, Failure> {
    let (mut reader, mut import) = (pin!(reader), pin!(import));
    let imported = tokio::select! {
        biased;
        imported = &mut import => imported,
        read = &mut reader => {
            let imported = import.await;
            // What cannot be read is what the import broke off for.
            read?;
            return Ok(imported?);
        }
    };
    if matches!(imported, Ok(_) | Err(ImportError::Unreadable(_))) {
        // It has told the end, or why there is none.
        reader.await?;
    }
    Ok(imported?)
}
