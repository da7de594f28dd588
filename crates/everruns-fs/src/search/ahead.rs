//! Files are looked into by two threads, ahead of the results, which come in order.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Scope};

use everruns_core::path::WorkspacePath;

use super::collector::{Budget, Collector};
use super::compile::CompiledSearch;
use super::look::{Looker, Outcome};
use super::source::SearchSource;

/// How many files are taken at once, so that taking costs little.
const BATCH: usize = 16;

/// How many batches may be under way. Each file in them can hold as many bytes of lines as the search may show.
const MAX_UNDER_WAY: u64 = 4;

/// One file that the walk came to.
#[derive(Debug)]
pub(super) enum Item<F> {
    /// To be looked into.
    File {
        folder: Arc<F>,
        name: String,
        path: WorkspacePath,
    },
    /// Not asked for.
    PassedOver { path: WorkspacePath },
}

#[derive(Debug)]
struct Batch<F> {
    number: u64,
    /// What might be shown when the batch was made; never less than what may be shown when it is told.
    budget: Budget,
    items: Vec<Item<F>>,
}

type Told = Vec<(WorkspacePath, Outcome)>;

#[derive(Debug)]
struct State<F> {
    waiting: VecDeque<Batch<F>>,
    done: BTreeMap<u64, Told>,
    /// No more is wanted.
    closed: bool,
    /// The helper is gone without an end.
    broken: bool,
}

/// What the two threads share.
#[derive(Debug)]
pub(super) struct Shared<F> {
    state: Mutex<State<F>>,
    changed: Condvar,
}

impl<F> Shared<F> {
    pub(super) fn new() -> Self {
        Self {
            state: Mutex::new(State {
                waiting: VecDeque::new(),
                done: BTreeMap::new(),
                closed: false,
                broken: false,
            }),
            changed: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State<F>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State<F>>) -> MutexGuard<'a, State<F>> {
        self.changed
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.waiting.clear();
        drop(state);
        self.changed.notify_all();
    }
}

/// Says that the helper is gone, however it went.
struct Leaving<'a, F>(&'a Shared<F>);

impl<F> Drop for Leaving<'_, F> {
    fn drop(&mut self) {
        self.0.state().broken = true;
        self.0.changed.notify_all();
    }
}

/// Takes files from the walk, and tells a collector what was found in them.
pub(super) struct Ahead<'scope, 'env, S: SearchSource> {
    scope: &'scope Scope<'scope, 'env>,
    shared: &'env Shared<S::Folder>,
    source: &'env S,
    search: &'env CompiledSearch,
    looker: Looker,
    next: Vec<Item<S::Folder>>,
    made: u64,
    told: u64,
}

impl<'scope, 'env, S: SearchSource> Ahead<'scope, 'env, S> {
    pub(super) fn new(
        scope: &'scope Scope<'scope, 'env>,
        shared: &'env Shared<S::Folder>,
        source: &'env S,
        search: &'env CompiledSearch,
        looker: Looker,
    ) -> Self {
        Self {
            scope,
            shared,
            source,
            search,
            looker,
            next: Vec::with_capacity(BATCH),
            made: 0,
            told: 0,
        }
    }

    /// Takes one file.
    pub(super) fn take(&mut self, item: Item<S::Folder>, collector: &mut Collector<'_>) {
        self.next.push(item);
        if self.next.len() < BATCH {
            return;
        }
        self.hand_over(collector);
        self.tell(collector);
        while self.made - self.told >= MAX_UNDER_WAY && self.help(collector) {}
    }

    /// Tells all that is left, unless the search is over; but something in any case, so that the next one advances.
    pub(super) fn finish(mut self, collector: &mut Collector<'_>) {
        if !self.next.is_empty() {
            self.hand_over(collector);
        }
        while self.told < self.made
            && (!collector.is_over() || (!collector.is_closed() && !collector.has_advanced()))
            && self.help(collector)
        {}
    }

    fn hand_over(&mut self, collector: &Collector<'_>) {
        let batch = Batch {
            number: self.made,
            budget: collector.budget(),
            items: std::mem::replace(&mut self.next, Vec::with_capacity(BATCH)),
        };
        self.made += 1;
        self.shared.state().waiting.push_back(batch);
        self.shared.changed.notify_one();
        // A small search is over before a second thread has begun.
        if self.made == 2 {
            self.start_helper();
        }
    }

    fn start_helper(&self) {
        let (shared, source, search) = (self.shared, self.source, self.search);
        let mut looker = self.looker.clone();
        let helper = move || {
            let leaving = Leaving(shared);
            let mut state = shared.state();
            while !state.closed {
                let Some(batch) = state.waiting.pop_front() else {
                    state = shared.wait(state);
                    continue;
                };
                drop(state);
                let (number, told) = look_into_all(source, search, shared, &mut looker, batch);
                state = shared.state();
                state.done.insert(number, told);
                shared.changed.notify_all();
            }
            drop(state);
            drop(leaving);
        };
        let started = Builder::new().spawn_scoped(self.scope, helper);
        if let Err(error) = started {
            tracing::debug!(%error, "a search goes on without a second thread");
        }
    }

    /// Looks into a waiting batch, or waits for the helper when there is none, and tells what comes next. `false` says
    /// that nothing more will come.
    fn help(&mut self, collector: &mut Collector<'_>) -> bool {
        let mut state = self.shared.state();
        if let Some(batch) = state.waiting.pop_front() {
            drop(state);
            let (number, told) = look_into_all(
                self.source,
                self.search,
                self.shared,
                &mut self.looker,
                batch,
            );
            self.shared.state().done.insert(number, told);
        } else if !state.done.contains_key(&self.told) {
            if state.broken {
                return false;
            }
            state = self.shared.wait(state);
            drop(state);
        } else {
            drop(state);
        }
        self.tell(collector);
        true
    }

    /// Tells the batches that are done, in order.
    fn tell(&mut self, collector: &mut Collector<'_>) {
        loop {
            let Some(told) = self.shared.state().done.remove(&self.told) else {
                return;
            };
            self.told += 1;
            for (path, outcome) in told {
                if collector.is_closed() {
                    return;
                }
                outcome.apply(&path, collector);
            }
        }
    }
}

impl<S: SearchSource> Drop for Ahead<'_, '_, S> {
    fn drop(&mut self) {
        self.shared.close();
    }
}

fn look_into_all<S: SearchSource>(
    source: &S,
    search: &CompiledSearch,
    shared: &Shared<S::Folder>,
    looker: &mut Looker,
    batch: Batch<S::Folder>,
) -> (u64, Told) {
    let mut told = Vec::with_capacity(batch.items.len());
    for item in batch.items {
        told.push(match item {
            Item::PassedOver { path } => (path, Outcome::PassedOver),
            Item::File { folder, name, path } => {
                let at = (folder.as_ref(), name.as_str());
                let outcome = looker.look_into(source, search, at, &path, batch.budget);
                (path, outcome)
            }
        });
        if shared.state().closed {
            break;
        }
    }
    (batch.number, told)
}
