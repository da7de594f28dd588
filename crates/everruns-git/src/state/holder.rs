//! Which process holds a lock file, so that it can be proved that it is no more.

use std::fs;
use std::process;
use std::sync::OnceLock;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// A process, told apart from every other one that ever had or will have its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holder {
    pid: u32,
    /// When it started, in the kernel's ticks since boot.
    start: u64,
    /// Which boot that was.
    boot: String,
    /// Which namespace its number is from.
    namespace: String,
}

/// What every text of a holder starts with.
const MARK: &str = "everruns holder 1";

impl Holder {
    /// This process. Where the system doesn't tell enough, nobody will take it for dead.
    pub(crate) fn this_process() -> Self {
        static KNOWN: OnceLock<Holder> = OnceLock::new();
        let known = KNOWN.get_or_init(Self::look);
        if known.pid == process::id() {
            return known.clone();
        }
        // A copy of the process that looked.
        Self::look()
    }

    fn look() -> Self {
        Self {
            pid: process::id(),
            start: start_of(process::id()).unwrap_or(0),
            boot: boot().unwrap_or_default(),
            namespace: namespace().unwrap_or_default(),
        }
    }

    /// The text that a lock file holds.
    pub(crate) fn to_text(&self) -> String {
        let Self {
            pid,
            start,
            boot,
            namespace,
        } = self;
        format!("{MARK}\npid {pid}\nstart {start}\nboot {boot}\nnamespace {namespace}\n")
    }

    /// Reads what [`to_text`](Self::to_text) wrote; `None` for anything else.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        if lines.next()? != MARK || !text.ends_with('\n') {
            return None;
        }
        let mut value = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(' ');
        Some(Self {
            pid: value("pid")?.parse().ok()?,
            start: value("start")?.parse().ok()?,
            boot: value("boot")?.to_owned(),
            namespace: value("namespace")?.to_owned(),
        })
    }

    /// Whether it is proved that the process is no more.
    pub(crate) fn is_dead(&self) -> bool {
        if self.start == 0 || self.boot.is_empty() {
            return false;
        }
        match boot() {
            // The machine, or the container's host, was started again.
            Some(boot) if boot != self.boot => true,
            // A number from another namespace says nothing here.
            Some(_) => {
                namespace().as_deref() == Some(self.namespace.as_str())
                    && process_table_is_readable()
                    && match start_of(self.pid) {
                        Some(start) => start != self.start,
                        // The host may show everybody only their own processes.
                        None => !exists(self.pid),
                    }
            }
            None => false,
        }
    }
}

fn boot() -> Option<String> {
    let text = fs::read("/proc/sys/kernel/random/boot_id").ok()?;
    Some(String::from_utf8(text).ok()?.trim().to_owned())
}

fn namespace() -> Option<String> {
    let link = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(link.to_str()?.to_owned())
}

fn process_table_is_readable() -> bool {
    start_of(process::id()).is_some()
}

/// Whether there may be a process with this number, of whomever.
fn exists(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) != Err(Errno::SRCH))
}

/// When the process `pid` started; `None` if there is none.
fn start_of(pid: u32) -> Option<u64> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The name is in parentheses and may hold anything; the fields after it are numbered from 3.
    let end = text.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(text.get(end + 1..)?).ok()?;
    rest.split_ascii_whitespace().nth(22 - 3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_proved_is_dead() {
        let own = Holder::this_process();
        assert_eq!(Holder::from_text(&own.to_text()), Some(own.clone()));
        assert!(!own.is_dead());
        let at = |change: &dyn Fn(&mut Holder)| {
            let mut other = own.clone();
            change(&mut other);
            other.is_dead()
        };
        assert!(
            at(&|holder| holder.start += 1),
            "another process of its number"
        );
        assert!(at(&|holder| holder.boot = "before".to_owned()));
        assert!(at(&|holder| holder.pid = u32::MAX));
        assert!(!at(&|holder| {
            holder.pid = u32::MAX;
            holder.namespace = "pid:[1]".to_owned();
        }));
        assert!(!at(&|holder| holder.start = 0), "it didn't know itself");
        assert_eq!(Holder::from_text("everruns holder 1\npid 1\n"), None);
        assert_eq!(Holder::from_text("DIRC"), None);
    }
}
