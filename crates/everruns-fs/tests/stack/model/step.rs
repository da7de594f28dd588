use bytes::Bytes;
use everruns_core::file_system::FileMode;
use everruns_core::path::WorkspacePath;
use proptest::prelude::*;

use crate::support::path;

/// One operation.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Write(WorkspacePath, Bytes, FileMode, Wish),
    Remove(WorkspacePath, bool, Wish),
    Rename(WorkspacePath, WorkspacePath, Wish),
    CreateDir(WorkspacePath),
    Read(WorkspacePath, u64, Option<u64>),
    Stat(WorkspacePath),
    Resolve(WorkspacePath),
    List(WorkspacePath, usize, Option<String>),
}

/// What a change expects of the file that is there.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wish {
    Any,
    Absent,
    /// The version that is there.
    Current,
    /// A version that never was there.
    Stale,
}

/// Few names, so that operations meet each other.
const NAMES: [&str; 4] = ["a", "b", "c", "secret"];

/// The trees in which `mounts` start, such as `/workspace`.
pub(super) fn any_steps(
    mounts: &'static [&'static str],
    most: usize,
) -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(any_step(mounts), 1..most)
}

fn any_path(mounts: &'static [&'static str]) -> impl Strategy<Value = WorkspacePath> {
    let part = prop_oneof![6 => prop::sample::select(&NAMES[..3]), 1 => Just(NAMES[3])];
    let parts = prop_oneof![
        20 => prop::collection::vec(part, 1..4),
        1 => Just(Vec::new()),
    ];
    (prop::sample::select(mounts), parts)
        .prop_map(|(mount, parts)| path(&format!("{mount}/{}", parts.join("/"))))
}

fn any_wish() -> impl Strategy<Value = Wish> {
    prop_oneof![
        3 => Just(Wish::Any),
        1 => Just(Wish::Absent),
        2 => Just(Wish::Current),
        1 => Just(Wish::Stale),
    ]
}

fn any_mode() -> impl Strategy<Value = FileMode> {
    prop_oneof![
        3 => Just(FileMode::Kept),
        1 => Just(FileMode::Plain),
        2 => Just(FileMode::Executable),
    ]
}

fn any_bytes() -> impl Strategy<Value = Bytes> {
    (any::<u8>(), 0_usize..12).prop_map(|(byte, length)| Bytes::from(vec![byte; length]))
}

fn any_step(mounts: &'static [&'static str]) -> impl Strategy<Value = Step> {
    let at = || any_path(mounts);
    let name = prop::option::of(prop::sample::select(&NAMES[..]).prop_map(str::to_owned));
    prop_oneof![
        8 => (at(), any_bytes(), any_mode(), any_wish())
            .prop_map(|(path, bytes, mode, wish)| Step::Write(path, bytes, mode, wish)),
        3 => (at(), any::<bool>(), any_wish()).prop_map(|(path, all, wish)| Step::Remove(path, all, wish)),
        5 => (at(), at(), any_wish()).prop_map(|(from, to, wish)| Step::Rename(from, to, wish)),
        2 => at().prop_map(Step::CreateDir),
        3 => (at(), 0_u64..14, prop::option::of(0_u64..14))
            .prop_map(|(path, offset, length)| Step::Read(path, offset, length)),
        2 => at().prop_map(Step::Stat),
        1 => at().prop_map(Step::Resolve),
        3 => (at(), 0_usize..5, name).prop_map(|(path, limit, after)| Step::List(path, limit, after)),
    ]
}
