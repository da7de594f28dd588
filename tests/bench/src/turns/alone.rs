//! What idle handles keep in memory, each kind in a process of its own: what others have freed there would hide it.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;
use clap::ValueEnum;

use super::{length, on_git};

/// Handles that are idle.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Idle {
    /// On heads of a Git repository, after turns that read files.
    GitHeads,
    /// After a turn of a long conversation.
    LongConversations,
}

/// What one of them keeps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    pub(super) kib: u64,
    pub(super) open_files: u64,
}

/// Measures in a process of its own, which has one heap: with one for each thread, what is measured depends on which thread
/// frees what.
#[expect(
    clippy::disallowed_methods,
    reason = "a benchmark starts itself; what is ours starts processes elsewhere"
)]
pub(super) fn kept(idle: Idle, scratch: &Path) -> anyhow::Result<Kept> {
    let name = idle.to_possible_value().context("every kind has a name")?;
    let output = Command::new(std::env::current_exe()?)
        .args(["--idle", name.get_name(), "--folder"])
        .arg(scratch)
        .env("MALLOC_ARENA_MAX", "1")
        .output()?;
    let told = String::from_utf8_lossy(&output.stdout);
    let mut words = told.split_whitespace().map(str::parse);
    match (words.next(), words.next()) {
        (Some(Ok(kib)), Some(Ok(open_files))) if output.status.success() => {
            Ok(Kept { kib, open_files })
        }
        _ => anyhow::bail!("the measure of idle handles failed: {output:?}"),
    }
}

/// What such a process does: prints KiB and open files.
pub(crate) async fn tell(idle: Idle, scratch: &Path) -> anyhow::Result<()> {
    let kept = match idle {
        Idle::GitHeads => on_git::kept(scratch).await?,
        Idle::LongConversations => length::kept(scratch).await?,
    };
    writeln!(io::stdout(), "{} {}", kept.kib, kept.open_files)?;
    Ok(())
}
