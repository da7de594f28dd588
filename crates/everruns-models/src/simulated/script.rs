use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use everruns_core::model::{ModelErrorKind, ModelRequest};
use serde_json::Value;

use super::SimulatedStep;

/// A model that plays a script. Each request takes the next step.
///
/// [`say`](Self::say), [`call`](Self::call), [`calls`](Self::calls), [`fail`](Self::fail),
/// [`respond_with`](Self::respond_with) and [`then`](Self::then) each add *one* step, the answer to one request;
/// [`delay`](Self::delay) and [`truncate`](Self::truncate) change the step added last. A step that says something and
/// calls tools as well is made with [`SimulatedStep`] and added by `then`.
///
/// Clones share the script, the place in it and the recorded requests. Requests beyond the script fail with
/// [`ModelErrorKind::InvalidRequest`].
///
/// ```
/// use everruns_models::{Simulated, SimulatedStep};
/// use serde_json::json;
///
/// let model = Simulated::new()
///     .then(SimulatedStep::new().say("I look first.").call("read_file", json!({ "path": "a.txt" })))
///     .call("write_file", json!({ "path": "b.txt", "content": "b" }))
///     .say("Done.");
/// assert_eq!(model.remaining(), 3);
/// ```
#[derive(Clone, Default)]
pub struct Simulated {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) steps: Vec<Step>,
    pub(super) next: usize,
    pub(super) calls_made: u64,
    pub(super) requests: Vec<ModelRequest>,
    pub(super) repeat: bool,
}

type Answer = Arc<dyn Fn(&ModelRequest) -> SimulatedStep + Send + Sync>;

#[derive(Clone)]
pub(super) enum Step {
    Fixed(SimulatedStep),
    Computed(Answer),
}

impl Simulated {
    /// A model with an empty script.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a step in which the model says `text` and ends its turn.
    #[must_use]
    pub fn say(self, text: impl AsRef<str>) -> Self {
        self.then(SimulatedStep::new().say(text))
    }

    /// Adds a step in which the model calls one tool.
    #[must_use]
    pub fn call(self, tool: impl Into<String>, arguments: Value) -> Self {
        self.then(SimulatedStep::new().call(tool, arguments))
    }

    /// Adds a step in which the model calls several tools at once.
    #[must_use]
    pub fn calls<T: Into<String>>(self, calls: impl IntoIterator<Item = (T, Value)>) -> Self {
        self.then(SimulatedStep::new().calls(calls))
    }

    /// Adds a step that fails before the first byte.
    #[must_use]
    pub fn fail(self, kind: ModelErrorKind) -> Self {
        self.then(SimulatedStep::new().fail(kind))
    }

    /// Adds a step that is made from the request. `answer` is called outside any lock and must not panic.
    #[must_use]
    pub fn respond_with(
        self,
        answer: impl Fn(&ModelRequest) -> SimulatedStep + Send + Sync + 'static,
    ) -> Self {
        self.lock().steps.push(Step::Computed(Arc::new(answer)));
        self
    }

    /// Adds a step.
    #[must_use]
    pub fn then(self, step: SimulatedStep) -> Self {
        self.lock().steps.push(Step::Fixed(step));
        self
    }

    /// Lets the step added last wait before its answer begins.
    #[must_use]
    pub fn delay(self, wait: Duration) -> Self {
        self.change_last(move |step| step.delay(wait))
    }

    /// Lets the stream of the step added last stop without its end.
    #[must_use]
    pub fn truncate(self) -> Self {
        self.change_last(SimulatedStep::truncate)
    }

    /// Starts the script over when it is used up.
    #[must_use]
    pub fn repeat(self) -> Self {
        self.lock().repeat = true;
        self
    }

    /// The requests so far, oldest first, refused ones included.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.lock().requests.clone()
    }

    /// How many steps of the script are left.
    pub fn remaining(&self) -> usize {
        let state = self.lock();
        state.steps.len().saturating_sub(state.next)
    }

    /// Changes the last step, a new empty one when there is none yet.
    fn change_last(
        self,
        change: impl Fn(SimulatedStep) -> SimulatedStep + Send + Sync + 'static,
    ) -> Self {
        let mut state = self.lock();
        let changed = match state.steps.pop() {
            None => Step::Fixed(change(SimulatedStep::new())),
            Some(Step::Fixed(step)) => Step::Fixed(change(step)),
            Some(Step::Computed(answer)) => {
                Step::Computed(Arc::new(move |request| change(answer(request))))
            }
        };
        state.steps.push(changed);
        drop(state);
        self
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // Every change is one assignment or push, so the state is whole even behind a panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Simulated {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        formatter
            .debug_struct("Simulated")
            .field("steps", &state.steps.len())
            .field("next", &state.next)
            .field("requests", &state.requests.len())
            .finish_non_exhaustive()
    }
}
