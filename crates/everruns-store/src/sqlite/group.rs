//! Appends of many sessions share a flush of the disk: whoever writes takes along all that wait meanwhile.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use everruns_core::session::{AppendReceipt, StoreError};
use tokio::sync::oneshot;

use super::append::{self, OPERATION};
use super::database::Database;
use crate::rules::Batch;

/// So many at once, so that the first of them does not wait long for the others' statements.
const LARGEST_GROUP: usize = 64;

type Answer = Result<AppendReceipt, StoreError>;
type Waiting = (Arc<Batch>, oneshot::Sender<Answer>);

/// Appends that wait to be written.
#[derive(Debug, Default)]
pub(super) struct Appends {
    queue: Mutex<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    /// Whether there is a [`Writer`].
    has_writer: bool,
}

impl Appends {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Appends a batch, with whatever others wait for; to its end even if the caller is gone.
pub(super) async fn append(database: &Arc<Database>, batch: Batch) -> Answer {
    let (sender, answer) = oneshot::channel();
    let is_first = {
        let mut queue = database.appends.queue();
        queue.waiting.push_back((Arc::new(batch), sender));
        !mem::replace(&mut queue.has_writer, true)
    };
    if is_first {
        let writer = Writer {
            database: Arc::clone(database),
            has_ended: false,
        };
        tokio::spawn(writer.run());
    }
    answer.await.unwrap_or_else(|_| {
        Err(StoreError::Unavailable {
            operation: OPERATION,
            source: "the task that was to write has gone".into(),
        })
    })
}

/// The one who writes, until nobody waits.
#[derive(Debug)]
struct Writer {
    database: Arc<Database>,
    has_ended: bool,
}

impl Writer {
    async fn run(mut self) {
        loop {
            // Those who have just got an answer may have more to append, which the same flush can carry.
            tokio::task::yield_now().await;
            let group = self.next_group();
            if group.is_empty() {
                break;
            }
            write(&self.database, group).await;
        }
    }

    /// Empty when nobody waits; whoever comes then is the first again.
    fn next_group(&mut self) -> Vec<Waiting> {
        let mut queue = self.database.appends.queue();
        let count = queue.waiting.len().min(LARGEST_GROUP);
        queue.has_writer = count > 0;
        self.has_ended = !queue.has_writer;
        queue.waiting.drain(..count).collect()
    }
}

impl Drop for Writer {
    /// When its runtime shuts down, whoever waits is told, and whoever comes is the first again.
    fn drop(&mut self) {
        if !self.has_ended {
            let mut queue = self.database.appends.queue();
            queue.has_writer = false;
            let waiting = mem::take(&mut queue.waiting);
            drop(queue);
            drop(waiting);
        }
    }
}

/// Writes a group; when that fails, each of its batches by itself, so that it gets an answer of its own.
async fn write(database: &Arc<Database>, group: Vec<(Arc<Batch>, oneshot::Sender<Answer>)>) {
    let batches: Arc<[Arc<Batch>]> = group.iter().map(|(batch, _)| Arc::clone(batch)).collect();
    match append::append(database, batches).await {
        Ok(outcomes) => {
            for ((_, sender), outcome) in group.into_iter().zip(outcomes) {
                // Nobody waits any more when the runtime shuts down.
                drop(sender.send(outcome));
            }
        }
        Err(error) => {
            let mut first_error = (group.len() == 1).then_some(error);
            for (batch, sender) in group {
                let outcome = match first_error.take() {
                    Some(error) => Err(error),
                    None => alone(database, batch).await,
                };
                drop(sender.send(outcome));
            }
        }
    }
}

async fn alone(database: &Arc<Database>, batch: Arc<Batch>) -> Answer {
    let mut outcomes = append::append(database, Arc::new([batch])).await?;
    outcomes.pop().unwrap_or_else(|| {
        Err(StoreError::Failed {
            operation: OPERATION,
            source: "it had no outcome".into(),
        })
    })
}
