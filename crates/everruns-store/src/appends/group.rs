//! Appends of many sessions share a flush of the disk: whoever writes takes along all that wait meanwhile.

use std::collections::{HashMap, VecDeque};
use std::error::Error;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use everruns_core::session::StoreError;
use futures::{StreamExt as _, stream};
use tokio::sync::oneshot;

use super::{Answer, OPERATION};
use crate::rules::Batch;

/// So many at once, so that the first of them does not wait long for the others' statements.
const LARGEST_GROUP: usize = 64;

/// What to do about sessions that others have locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Locks {
    /// Leave them out.
    Skip,
    /// Wait for the locks. For batches of one session, so that those who wait do not wait for each other.
    Await,
}

/// What a database does with a group.
pub(crate) trait WritesGroups: Send + Sync + 'static {
    /// Those that wait for this database.
    fn appends(&self) -> &Appends;

    /// Appends all batches with one commit. A batch that the rules refuse changes nothing and does not stop the others;
    /// anything else that fails fails all of them.
    ///
    /// No answer for a batch whose session somebody else keeps locked, unless `locks` says to wait for it.
    fn append_all(
        self: &Arc<Self>,
        batches: Arc<[Arc<Batch>]>,
        locks: Locks,
    ) -> impl Future<Output = Result<Vec<Option<Answer>>, StoreError>> + Send;
}

/// So many locked sessions are waited for at once, so that those few connections are left for others.
const MOST_LOCKED: usize = 4;

type Waiting = (Arc<Batch>, oneshot::Sender<Answer>);

/// Appends that wait to be written.
#[derive(Debug, Default)]
pub(crate) struct Appends {
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
pub(crate) async fn append<D: WritesGroups>(database: &Arc<D>, batch: Batch) -> Answer {
    let (sender, answer) = oneshot::channel();
    let is_first = {
        let mut queue = database.appends().queue();
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
struct Writer<D: WritesGroups> {
    database: Arc<D>,
    has_ended: bool,
}

impl<D: WritesGroups> Writer<D> {
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
        let mut queue = self.database.appends().queue();
        let count = queue.waiting.len().min(LARGEST_GROUP);
        queue.has_writer = count > 0;
        self.has_ended = !queue.has_writer;
        queue.waiting.drain(..count).collect()
    }
}

impl<D: WritesGroups> Drop for Writer<D> {
    /// When its runtime shuts down, whoever waits is told, and whoever comes is the first again.
    fn drop(&mut self) {
        if !self.has_ended {
            let mut queue = self.database.appends().queue();
            queue.has_writer = false;
            let waiting = mem::take(&mut queue.waiting);
            drop(queue);
            drop(waiting);
        }
    }
}

/// Writes a group; when that fails because of one of its batches, each by itself, so that it gets an answer of its own.
async fn write<D: WritesGroups>(database: &Arc<D>, group: Vec<Waiting>) {
    let batches: Arc<[Arc<Batch>]> = group.iter().map(|(batch, _)| Arc::clone(batch)).collect();
    let answers = match database.append_all(batches, Locks::Skip).await {
        Ok(answers) => answers,
        Err(error) => match error_for_each(error, group.len()) {
            Ok(errors) => errors.into_iter().map(|error| Some(Err(error))).collect(),
            Err(error) if group.len() == 1 => vec![Some(Err(error))],
            Err(_) => {
                for waiting in group {
                    alone(database, waiting).await;
                }
                return;
            }
        },
    };
    let mut left = Vec::new();
    for (waiting, answer) in group.into_iter().zip(answers) {
        match answer {
            // Nobody waits any more when the runtime shuts down.
            Some(answer) => drop(waiting.1.send(answer)),
            None => left.push(waiting),
        }
    }
    if !left.is_empty() {
        // Others need not wait until those locks are free.
        tokio::spawn(write_left(Arc::clone(database), left));
    }
}

/// Writes batches whose sessions others have locked, a few sessions at a time, the batches of each in their order.
async fn write_left<D: WritesGroups>(database: Arc<D>, left: Vec<Waiting>) {
    let mut sessions: Vec<Vec<Waiting>> = Vec::new();
    let mut places = HashMap::new();
    for waiting in left {
        let place = *places
            .entry(waiting.0.request.session.clone())
            .or_insert(sessions.len());
        match sessions.get_mut(place) {
            Some(session) => session.push(waiting),
            None => sessions.push(vec![waiting]),
        }
    }
    let each = |session: Vec<Waiting>| async {
        for waiting in session {
            alone(&database, waiting).await;
        }
    };
    stream::iter(sessions)
        .for_each_concurrent(MOST_LOCKED, each)
        .await;
}

/// An error for each of so many batches, if it is none of theirs: the database is away, or others keep it busy.
fn error_for_each(error: StoreError, count: usize) -> Result<Vec<StoreError>, StoreError> {
    let each: Box<dyn Fn() -> StoreError + Send> = match error {
        StoreError::Busy {
            operation,
            attempts,
        } => Box::new(move || StoreError::Busy {
            operation,
            attempts,
        }),
        StoreError::Unavailable { operation, source } => {
            let source: Arc<dyn Error + Send + Sync> = source.into();
            Box::new(move || StoreError::Unavailable {
                operation,
                source: Box::new(Shared(Arc::clone(&source))),
            })
        }
        other => return Err(other),
    };
    Ok((0..count).map(|_| each()).collect())
}

/// What failed for several at once.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct Shared(Arc<dyn Error + Send + Sync>);

async fn alone<D: WritesGroups>(database: &Arc<D>, (batch, sender): Waiting) {
    let answer = match database.append_all(Arc::new([batch]), Locks::Await).await {
        Ok(mut answers) => answers.pop().flatten().unwrap_or_else(|| {
            Err(StoreError::Failed {
                operation: OPERATION,
                source: "it had no outcome".into(),
            })
        }),
        Err(error) => Err(error),
    };
    drop(sender.send(answer));
}
