//! A file read line by line, while what came before is worked on.

use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use futures::{Stream, stream};
use tokio::sync::mpsc;

use super::transfer::STANDARD;
use crate::blocking::blocking;
use crate::failure::Failure;

/// Lines that are read before they are wanted: as each may be very long, one.
const AHEAD: usize = 1;
/// The longest line that is read. Nothing bounds what is recorded, so that a session can have a longer one, which is
/// refused: about four of them are in memory at a time.
const LINE_BYTES: u64 = 64 * 1024 * 1024;

/// The lines of `file`, and the work that reads them, which must go on at the same time. What cannot be read is an
/// error of both. Who drops the lines does not end a read that waits for another program.
pub(super) fn lines_of(
    file: PathBuf,
) -> (
    impl Stream<Item = io::Result<String>> + Send,
    impl Future<Output = Result<(), Failure>>,
) {
    let (sender, receiver) = mpsc::channel(AHEAD);
    let lines = stream::unfold(receiver, |mut receiver| async move {
        let line = receiver.recv().await?;
        Some((line, receiver))
    });
    (lines, blocking(move || read(&file, &sender)))
}

fn read(file: &Path, lines: &mpsc::Sender<io::Result<String>>) -> Result<(), Failure> {
    let told = if file == Path::new(STANDARD) {
        send(io::stdin().lock(), lines)
    } else {
        let opened = OpenOptions::new().read(true).open(file);
        opened.and_then(|opened| send(BufReader::new(opened), lines))
    };
    told.map_err(|error| {
        // Who takes the lines may have broken off.
        drop(lines.blocking_send(Err(io::Error::from(error.kind()))));
        let file = file.display();
        if error.kind() == io::ErrorKind::InvalidData {
            return Failure::new(format!("{file} is no exported session: {error}"));
        }
        Failure::new(format!("{file} cannot be read: {error}"))
    })
}

/// Until the end, or until nobody wants more.
fn send(mut reader: impl BufRead, lines: &mpsc::Sender<io::Result<String>>) -> io::Result<()> {
    let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what);
    loop {
        let mut bytes = Vec::new();
        let mut limited = reader.by_ref().take(LINE_BYTES);
        if limited.read_until(b'\n', &mut bytes)? == 0 {
            return Ok(());
        }
        let whole = bytes.last() == Some(&b'\n');
        if !whole && bytes.len() as u64 == LINE_BYTES {
            return Err(invalid("it has a line of more than 64 MiB"));
        }
        if whole {
            bytes.pop();
        }
        if bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
        let line = String::from_utf8(bytes).map_err(|_| invalid("it is not text"))?;
        if lines.blocking_send(Ok(line)).is_err() {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(reader: impl BufRead + Send + 'static) -> (Vec<String>, io::Result<()>) {
        let (sender, mut receiver) = mpsc::channel(AHEAD);
        let sending = std::thread::spawn(move || send(reader, &sender));
        let mut lines = Vec::new();
        while let Some(line) = receiver.blocking_recv() {
            lines.push(line.expect("what cannot be read is told by the reader"));
        }
        (lines, sending.join().expect("it does not panic"))
    }

    #[test]
    fn lines_are_without_their_ends() {
        let (lines, outcome) = all(&b"one\ntwo\r\n\nlast"[..]);
        assert!(outcome.is_ok());
        assert_eq!(lines, ["one", "two", "", "last"]);
    }

    #[test]
    fn a_line_without_end_is_not_held_in_memory() {
        let (lines, outcome) = all(BufReader::new(io::repeat(b'x')));
        assert_eq!(outcome.unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert!(lines.is_empty());
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        let (_, outcome) = all(&b"fine\n\xff\n"[..]);
        assert_eq!(outcome.unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
