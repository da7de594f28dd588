//! The turn loop: ask the model, record its answer, run its calls, record their results, and so on until it has
//! said all.

mod answer;
mod ask;
mod calls;
mod prompt;
mod retry;
mod run;

pub(crate) use run::run;
