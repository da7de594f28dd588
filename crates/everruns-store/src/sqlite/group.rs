//! Appends of many sessions share a flush of the disk: whoever writes takes along all that wait meanwhile.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use everruns_core::session::{AppendReceipt, StoreError};
use tokio::sync::oneshot;

use super::append::{self, OPERATION};
use super::database::Database;
use crate::rules::Batch;
use crate::task::to_its_end;

/// So many at once, so that the first of them does not wait long for the others' statements.
const LARGEST_GROUP: usize = 64;

type Answer = Result<AppendReceipt, StoreError>;

/// Appends that wait to be written.
#[derive(Debug, Default)]
pub(super) struct Appends {
    waiting: Mutex<VecDeque<(Arc<Batch>, oneshot::Sender<Answer>)>>,
    /// Held by the one who writes.
    turn: tokio::sync::Mutex<()>,
}

impl Appends {
    fn enter(&self, batch: Batch) -> oneshot::Receiver<Answer> {
        let (sender, answer) = oneshot::channel();
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push_back((Arc::new(batch), sender));
        answer
    }

    fn next_group(&self) -> Vec<(Arc<Batch>, oneshot::Sender<Answer>)> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let count = waiting.len().min(LARGEST_GROUP);
        waiting.drain(..count).collect()
    }
}

/// Appends a batch, with whatever others wait for.
pub(super) async fn append(database: &Arc<Database>, batch: Batch) -> Answer {
    let answer = database.appends.enter(batch);
    let database = Arc::clone(database);
    to_its_end(OPERATION, async move {
        let mut answer = answer;
        {
            let _turn = database.appends.turn.lock().await;
            // Whoever had the turn before may have written this one, too.
            if let Ok(answer) = answer.try_recv() {
                return answer;
            }
            // In order, so that this one's turn may come in a later group than the first.
            loop {
                let group = database.appends.next_group();
                if group.is_empty() {
                    break;
                }
                write(&database, group).await;
                if let Ok(answer) = answer.try_recv() {
                    return answer;
                }
            }
        }
        answer.await.unwrap_or_else(|_| {
            Err(StoreError::Unavailable {
                operation: OPERATION,
                source: "the task that was to write has gone".into(),
            })
        })
    })
    .await
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
