//! Runs a search on a thread that may block and gives its results as a stream.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use everruns_core::file_system::{FileSystemError, SearchEvent, SearchStream};
use tokio::sync::mpsc;

use super::collector::Collector;
use super::compile::CompiledSearch;
use super::source::SearchSource;
use super::walk::walk;
use crate::disk::blocking;

/// How many results are passed on at once, so that passing on costs little.
const BATCH: usize = 64;

/// How many batches wait for a slow reader before the search pauses.
const BUFFERED_BATCHES: usize = 8;

/// How long a result waits for others to be passed on with.
const PATIENCE: Duration = Duration::from_millis(5);

type Found = Result<SearchEvent, FileSystemError>;

/// Gathers results and passes them on.
struct Output {
    to: mpsc::Sender<Vec<Found>>,
    batch: Vec<Found>,
    /// When the first result of the batch came.
    since: Instant,
}

impl Output {
    /// Takes one result; `false` says that nobody listens.
    fn take(&mut self, event: Found) -> bool {
        let is_last = matches!(event, Ok(SearchEvent::Summary(_)));
        if self.batch.is_empty() {
            self.since = Instant::now();
        }
        self.batch.push(event);
        if is_last || self.batch.len() >= BATCH {
            return self.pass_on();
        }
        true
    }

    fn is_abandoned(&mut self) -> bool {
        if !self.batch.is_empty() && self.since.elapsed() >= PATIENCE {
            return !self.pass_on();
        }
        self.to.is_closed()
    }

    fn pass_on(&mut self) -> bool {
        let batch = std::mem::take(&mut self.batch);
        self.to.blocking_send(batch).is_ok()
    }
}

/// Searches `source`. Dropping the stream stops the search, in a large file at its next part.
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
    let (to, received) = mpsc::channel(BUFFERED_BATCHES);
    let searching = blocking(move || {
        let listeners = to.clone();
        let output = RefCell::new(Output {
            to,
            batch: Vec::new(),
            since: Instant::now(),
        });
        let is_abandoned = || output.borrow_mut().is_abandoned();
        let mut take = |event| output.borrow_mut().take(event);
        let mut collector = Collector::new(search.query(), &mut take)
            .until(&is_abandoned)
            .until_within(Arc::new(move || listeners.is_closed()));
        walk(&source, &search, folder, &mut collector);
        collector.finish();
        Ok(())
    });
    let running = (Vec::new().into_iter(), received, Some(Box::pin(searching)));
    let stream = futures::stream::unfold(running, |(mut batch, mut received, mut searching)| {
        async move {
            loop {
                if let Some(event) = batch.next() {
                    return Some((event, (batch, received, searching)));
                }
                match received.recv().await {
                    Some(next) => batch = next.into_iter(),
                    None => break,
                }
            }
            // A search that ended without its summary was cut off, which must not look like an end.
            match searching.take()?.await {
                Ok(()) => None,
                Err(error) => Some((Err(error), (batch, received, None))),
            }
        }
    });
    Ok(Box::pin(stream))
}
