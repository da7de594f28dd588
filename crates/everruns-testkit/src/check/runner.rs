use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use futures::future::BoxFuture;

use super::{CheckResult, FailedCheck, Report};

/// A check that has not ended after this long counts as hanging.
const PATIENCE: Duration = Duration::from_mins(1);

/// One named check of a subject.
pub(crate) struct Check<S> {
    pub(crate) name: &'static str,
    pub(crate) run: fn(S) -> BoxFuture<'static, CheckResult>,
}

/// Which checks of a suite to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    only: Option<String>,
    without: Vec<&'static str>,
}

impl Selection {
    /// All checks.
    pub fn all() -> Self {
        Self::default()
    }

    /// Only checks whose name contains `text`; to look at one failure.
    #[must_use]
    pub fn only(mut self, text: impl Into<String>) -> Self {
        self.only = Some(text.into());
        self
    }

    /// Leaves out the check `name`, which the implementation deliberately does not satisfy.
    #[must_use]
    pub fn without(mut self, name: &'static str) -> Self {
        self.without.push(name);
        self
    }

    fn takes(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|text| name.contains(text)) && !self.without.contains(&name)
    }
}

/// Runs the selected checks one after the other, each on a subject of its own.
pub(crate) async fn run<S, Fut>(
    suite: &'static str,
    checks: &[Check<S>],
    selection: &Selection,
    mut subject: impl FnMut() -> Fut + Send,
) -> Report
where
    S: Send + 'static,
    Fut: Future<Output = S> + Send,
{
    let mut report = Report::new(suite);
    for check in checks.iter().filter(|check| selection.takes(check.name)) {
        let body = (check.run)(subject().await);
        // A task of its own turns a panic into a failure of this check alone.
        let task = tokio::spawn(tokio::time::timeout(PATIENCE, body));
        let message = match task.await {
            Ok(Ok(Ok(()))) => None,
            Ok(Ok(Err(failure))) => Some(failure.to_string()),
            Ok(Err(_)) => Some(format!("did not end within {} s", PATIENCE.as_secs())),
            Err(error) => Some(format!("panicked: {error}")),
        };
        match message {
            None => report.passed.push(check.name),
            Some(message) => report.failed.push(FailedCheck {
                name: check.name,
                message,
            }),
        }
    }
    report
}

/// Polls `future` at most `times` times, then drops it. `None` when it had not ended.
pub(crate) async fn poll_times<F: Future>(future: F, times: usize) -> Option<F::Output> {
    let mut future = pin!(future);
    for _ in 0..times {
        let polled = poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await;
        if let Poll::Ready(output) = polled {
            return Some(output);
        }
        tokio::task::yield_now().await;
    }
    None
}

/// Waits until work that a dropped future had handed to another thread has surely ended.
pub(crate) async fn settle() {
    tokio::time::sleep(Duration::from_millis(100)).await;
}
