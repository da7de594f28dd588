//! Runs a search on a thread that may block and gives its results as a stream.

use everruns_core::file_system::{FileSystemError, SearchStream};
use tokio::sync::mpsc;

use super::collector::Collector;
use super::compile::CompiledSearch;
use super::source::SearchSource;
use super::walk::walk;
use crate::disk::blocking;

/// How many results wait for a slow reader before the search pauses.
const BUFFERED_EVENTS: usize = 256;

/// Searches `source`. Dropping the stream stops the search at its next file.
///
/// # Errors
/// When the searched folder cannot be opened. Later errors come in the stream, and the search goes on.
pub async fn run<S: SearchSource>(
    source: S,
    search: CompiledSearch,
) -> Result<SearchStream, FileSystemError> {
    let folder_path = search.query().folder.clone();
    let opened = blocking(move || {
        let folder = source.open(&folder_path)?;
        Ok::<_, FileSystemError>((source, folder))
    });
    let (source, folder) = opened.await?;
    let (events, received) = mpsc::channel(BUFFERED_EVENTS);
    let searching = blocking(move || {
        let is_abandoned = || events.is_closed();
        let mut output = |event| events.blocking_send(event).is_ok();
        let mut collector = Collector::new(search.query(), &mut output).until(&is_abandoned);
        walk(&source, &search, &folder, &mut collector);
        collector.finish();
        Ok(())
    });
    let running = (received, Some(Box::pin(searching)));
    let stream = futures::stream::unfold(running, |(mut received, mut searching)| async move {
        if let Some(event) = received.recv().await {
            return Some((event, (received, searching)));
        }
        // A search that ended without its summary was cut off, which must not look like an end.
        match searching.take()?.await {
            Ok(()) => None,
            Err(error) => Some((Err(error), (received, None))),
        }
    });
    Ok(Box::pin(stream))
}
