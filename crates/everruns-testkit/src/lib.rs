//! Conformance suites, fault injection and repository fixtures for everruns. For tests only.
//!
//! | module | what it gives |
//! |---|---|
//! | [`conformance`] | the written contracts as checks that any implementation or wrapper can run |
//! | [`check`] | how checks are run and reported |
//! | [`disks`] | disks of a test's own: full ones, and of other file systems |
//! | [`doubles`] | file systems that refuse or fail, a clock and randomness that a test controls |
//! | [`failpoints`] | armed steps, and tests that die in the middle and are looked at afterwards |
//! | [`ordinary`] | programs that run as an ordinary user |
//! | [`postgres`] | a PostgreSQL server of a test's own |
//! | [`git`] | repositories made with the real `git`, and proofs that nothing of them changed |
//!
//! A suite runs each of its checks on a fresh subject, names the ones that failed, and goes on after a
//! failure, a panic or a hang, so that one run tells all.

#[macro_use]
pub mod check;
pub mod conformance;
pub mod disks;
pub mod doubles;
pub mod failpoints;
pub mod git;
pub mod ordinary;
pub mod postgres;
