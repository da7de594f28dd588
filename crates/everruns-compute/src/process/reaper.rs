use std::path::Path;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::environment::MARK;

/// More rounds than this only a program that starts processes faster than they can be killed survives.
const ROUNDS: usize = 50;

/// Kills a command's group and every process that carries its mark, whatever group or session it is in.
///
/// A process that leaves the group **and** clears its environment is not found.
pub(super) fn kill_all(group: Option<Pid>, mark: &str) {
    if let Some(group) = group {
        // It fails when the group has ended, which is what is wanted.
        let _ended = kill_process_group(group, Signal::KILL);
    }
    let wanted = format!("{MARK}={mark}");
    for _ in 0..ROUNDS {
        let left = marked(wanted.as_bytes());
        if left.is_empty() {
            return;
        }
        for process in left {
            let _ended = kill_process(process, Signal::KILL);
        }
        std::thread::yield_now();
    }
    tracing::warn!("a command starts processes faster than they can be killed");
}

/// The living processes that carry the mark. Where there is no `/proc`, there are none to be seen.
fn marked(wanted: &[u8]) -> Vec<Pid> {
    let Ok(processes) = Path::new("/proc").read_dir() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for process in processes.flatten() {
        let Some(id) = process
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<i32>().ok())
        else {
            continue;
        };
        // The environment of a process that has ended is empty, so a zombie is not found.
        let Ok(environment) = std::fs::read(process.path().join("environ")) else {
            continue;
        };
        if environment
            .split(|byte| *byte == 0)
            .any(|variable| variable == wanted)
        {
            found.extend(Pid::from_raw(id));
        }
    }
    found
}
