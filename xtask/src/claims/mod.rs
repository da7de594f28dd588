//! The claims of the product and the tests that prove them.
//!
//! `docs/claims.md` has the table; a test proves a claim when its name begins with the claim's id
//! (`c07_…`) or when a comment above it says `Proves C07`.

mod check;
mod command;
mod id;
mod proofs;
mod table;

pub(crate) use command::{Arguments, run, step};
