use std::process::{Child, Command};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

/// A program with its standard input and error on a terminal.
pub(crate) struct OnTerminal {
    child: Child,
    terminal: rustix::fd::OwnedFd,
}

impl OnTerminal {
    pub(crate) fn start(mut program: Command) -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let other = rustix::fs::open(name.as_c_str(), flags, Mode::empty()).unwrap();
        // What is typed early would be shown before what is asked.
        let mut modes = tcgetattr(&other).unwrap();
        modes.local_modes.remove(LocalModes::ECHO);
        tcsetattr(&other, OptionalActions::Now, &modes).unwrap();
        program
            .stdin(other.try_clone().unwrap())
            .stderr(other)
            .stdout(std::process::Stdio::piped())
            .env("TERM", "dumb");
        Self {
            child: program.spawn().unwrap(),
            terminal,
        }
    }

    /// Types an answer, and gives the exit code, what was printed, and what the terminal showed.
    pub(crate) fn answer(self, typed: &str) -> (Option<i32>, String, String) {
        rustix::io::write(&self.terminal, typed.as_bytes()).unwrap();
        let output = self.child.wait_with_output().unwrap();
        let mut shown = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            match rustix::io::read(&self.terminal, &mut buffer[..]) {
                Ok(0) | Err(Errno::IO) => break,
                Ok(count) => shown.extend_from_slice(&buffer[..count]),
                Err(error) => panic!("{error}"),
            }
        }
        let shown = String::from_utf8(shown).unwrap().replace('\r', "");
        let printed = String::from_utf8(output.stdout).unwrap();
        (output.status.code(), printed, shown)
    }
}
