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
    if holder.host.is_empty() || holder.start.is_empty() || holder.host != here.host {
        return Life::Unknown;
    }
    if holder == here {
        return if lock().contains(&other.0) {
            Life::Alive
        } else {
            Life::Dead
        };
    }
    match (look_at(proc, holder.pid), exists(holder.pid)) {
        (Look::Started(start), _) if start == holder.start => Life::Alive,
        (Look::Started(_) | Look::Ended, _) | (Look::Hidden, Some(false)) => Life::Dead,
        // Such as a process of another user, where the host shows everybody only their own.
        (Look::Hidden, _) => Life::Unknown,
    }
}

/// What the host shows of a process.
#[derive(Debug, PartialEq, Eq)]
enum Look {
    /// When it began, in the kernel's ticks since boot.
    Started(String),
    /// Only its remains are there.
    Ended,
    /// Nothing that can be read, whether or not it is there.
    Hidden,
}

/// Whether there is a process with this number, of whomever; `None` where the system does not tell.
#[cfg(unix)]
fn exists(pid: u32) -> Option<bool> {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).ok()?)?;
    match rustix::process::test_kill_process(pid) {
        Ok(()) | Err(rustix::io::Errno::PERM) => Some(true),
        Err(rustix::io::Errno::SRCH) => Some(false),
        Err(_) => None,
    }
}

#[cfg(not(unix))]
fn exists(_pid: u32) -> Option<bool> {
    None
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
            start: match look_at(proc, pid) {
                Look::Started(start) => start,
                Look::Ended | Look::Hidden => String::new(),
            },
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

fn look_at(proc: &Path, pid: u32) -> Look {
    let Ok(stat) = std::fs::read(proc.join(pid.to_string()).join("stat")) else {
        return Look::Hidden;
    };
    let stat = String::from_utf8_lossy(&stat);
    let mut fields = match stat.rsplit_once(')') {
        Some((_, after_name)) => after_name.split_whitespace(),
        None => return Look::Hidden,
    };
    match (fields.next(), fields.nth(18)) {
        (Some("Z" | "X"), _) => Look::Ended,
        (_, Some(start)) => Look::Started(start.to_owned()),
        (_, None) => Look::Hidden,
    }
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

    /// Where the process table shows nothing of a process that is there, nobody takes it for dead.
    #[test]
    fn a_process_that_is_hidden_is_not_dead() {
        let table = tempfile::tempdir().unwrap();
        let own = Path::new("/proc");
        let copy = |name: &str| {
            let to = table.path().join(name);
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::write(to, std::fs::read(own.join(name)).unwrap()).unwrap();
        };
        copy("sys/kernel/random/boot_id");
        copy(&format!("{}/stat", std::process::id()));
        let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap();
        std::fs::create_dir_all(table.path().join("self/ns")).unwrap();
        std::os::unix::fs::symlink(namespace, table.path().join("self/ns/pid")).unwrap();
        let of = |pid: u32| {
            let host = host(own).unwrap();
            LeaseOwner(format!("process {pid} start 7 on {host} handle 00"))
        };
        assert_eq!(judge_in(table.path(), &of(1)), Life::Unknown);
        assert_eq!(judge_in(table.path(), &of(4_194_305)), Life::Dead);
        assert_eq!(judge_in(table.path(), &of(std::process::id())), Life::Dead);
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
