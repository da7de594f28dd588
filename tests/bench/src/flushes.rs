//! What bringing objects to the disk takes, as the Git backend tells it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tracing::Event;
use tracing::field::{Field, Visit};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

/// Who tells it.
const TARGET: &str = "everruns_git::flush";

/// The times told since they were last taken.
static TOLD: Mutex<Vec<Duration>> = Mutex::new(Vec::new());

/// Listens from now on.
pub(crate) fn listen() -> anyhow::Result<()> {
    // Everything else is as without anyone listening.
    let only = filter_fn(|metadata| metadata.target() == TARGET);
    let listening = tracing_subscriber::registry().with(only).with(Listener);
    Ok(tracing::subscriber::set_global_default(listening)?)
}

/// What was told since the last time, together.
pub(crate) fn take() -> Duration {
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    told.drain(..).sum()
}

struct Listener;

impl<S: tracing::Subscriber> Layer<S> for Listener {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        event.record(&mut Micros);
    }
}

struct Micros;

impl Visit for Micros {
    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "micros" {
            let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
            told.push(Duration::from_micros(value));
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}
