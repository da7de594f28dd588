//! Who holds a lease, written so that another process of the same host can tell whether the holder still lives.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use everruns_core::entropy::Entropy;
use everruns_core::session::LeaseOwner;

/// The handles of this process that may hold a lease. A lease of this process whose handle is not here was left
/// by a handle that is gone.
static LIVE: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Whether the holder of a lease still lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// It does.
    Alive,
    /// It provably does not: its process has ended, or its handle in this process is gone.
    Dead,
    /// It runs elsewhere, or this host does not tell.
    Unknown,
}

/// One handle as the holder of a lease; registered while it lives.
#[derive(Debug)]
pub(crate) struct Holder {
    owner: LeaseOwner,
}

impl Holder {
    pub(crate) fn new(entropy: &dyn Entropy) -> Self {
        let mut bytes = [0_u8; 8];
        entropy.fill(&mut bytes);
        let nonce = u64::from_le_bytes(bytes);
        let process = Process::this(Path::new("/proc"));
        let owner = LeaseOwner(format!("{} handle {nonce:016x}", process.text()));
        lock().insert(owner.0.clone());
        Self { owner }
    }

    pub(crate) fn owner(&self) -> &LeaseOwner {
        &self.owner
    }

    /// Whether `other` still lives.
    pub(crate) fn judge(other: &LeaseOwner) -> Life {
        judge_in(Path::new("/proc"), other)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        lock().remove(&self.owner.0);
    }
}

fn lock() -> std::sync::MutexGuard<'static, BTreeSet<String>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn judge_in(proc: &Path, other: &LeaseOwner) -> Life {
    let Some(holder) = Process::parse(&other.0) else {
        return Life::Unknown;
    };
    let here = Process::this(proc);
    if holder.host.is_empty() || holder.host != here.host {
        return Life::Unknown;
    }
    if holder == here {
        return if lock().contains(&other.0) {
            Life::Alive
        } else {
            Life::Dead
        };
    }
    match start_time(proc, holder.pid) {
        Some(start) if start == holder.start => Life::Alive,
        _ => Life::Dead,
    }
}

/// A process, told apart from a later one with the same number, from one before the last boot, and from one of
/// another process namespace.
#[derive(Debug, PartialEq, Eq)]
struct Process {
    pid: u32,
    start: String,
    host: String,
}

impl Process {
    fn this(proc: &Path) -> Self {
        let pid = std::process::id();
        let host = host(proc);
        Self {
            pid,
            start: start_time(proc, pid).unwrap_or_default(),
            host: host.unwrap_or_default(),
        }
    }

    fn text(&self) -> String {
        format!("process {} start {} on {}", self.pid, self.start, self.host)
    }

    fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("process ")?;
        let (pid, rest) = rest.split_once(" start ")?;
        let (start, rest) = rest.split_once(" on ")?;
        let (host, _) = rest.split_once(" handle ")?;
        Some(Self {
            pid: pid.parse().ok()?,
            start: start.to_owned(),
            host: host.to_owned(),
        })
    }
}

/// The boot and the process namespace; `None` where the system does not tell.
fn host(proc: &Path) -> Option<String> {
    let boot = std::fs::read(proc.join("sys/kernel/random/boot_id")).ok()?;
    let boot = String::from_utf8(boot).ok()?;
    let namespace = std::fs::read_link(proc.join("self/ns/pid")).ok()?;
    Some(format!("{}/{}", boot.trim(), namespace.to_str()?))
}

/// When the process began, in the kernel's ticks since boot; `None` when there is none, or only its remains.
fn start_time(proc: &Path, pid: u32) -> Option<String> {
    let stat = std::fs::read(proc.join(pid.to_string()).join("stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat).into_owned();
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace();
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    fields.nth(18).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use everruns_core::entropy::SystemEntropy;

    use super::*;

    #[test]
    fn a_dropped_handle_of_this_process_is_dead() {
        let holder = Holder::new(&SystemEntropy);
        let owner = holder.owner().clone();
        assert_eq!(Holder::judge(&owner), Life::Alive);
        drop(holder);
        assert_eq!(Holder::judge(&owner), Life::Dead);
    }

    #[test]
    fn an_ended_process_is_dead_and_a_foreign_one_unknown() {
        let holder = Holder::new(&SystemEntropy);
        let ended = holder.owner().0.replace(
            &format!("process {} ", std::process::id()),
            "process 4194305 ",
        );
        assert_eq!(Holder::judge(&LeaseOwner(ended)), Life::Dead);
        let elsewhere = holder.owner().0.replace("on ", "on another-");
        assert_eq!(Holder::judge(&LeaseOwner(elsewhere)), Life::Unknown);
        assert_eq!(Holder::judge(&LeaseOwner("someone".into())), Life::Unknown);
    }

    #[test]
    fn a_reused_process_number_is_not_the_holder() {
        let init = LeaseOwner(format!(
            "process 1 start 0-not-its-start on {} handle 00",
            host(Path::new("/proc")).unwrap()
        ));
        assert_eq!(Holder::judge(&init), Life::Dead);
    }
}
