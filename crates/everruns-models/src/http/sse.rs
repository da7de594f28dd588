use everruns_core::model::ModelError;

use super::failure::protocol;

/// No event of a model is larger.
const LARGEST_EVENT: usize = 16 * 1024 * 1024;

/// Cuts the bytes of an event stream into the data of its events, whatever way the bytes are chunked.
///
/// Only `data` is kept: all providers here repeat the event's name inside it. Bytes are decoded a line at a time, so
/// that a character cut between two chunks is whole again.
#[derive(Debug, Default)]
pub(crate) struct SseParser {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    after_return: bool,
}

impl SseParser {
    /// Takes more bytes and gives the data of each event that they complete.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, ModelError> {
        let mut events = Vec::new();
        for &byte in bytes {
            let second_half = byte == b'\n' && self.after_return;
            self.after_return = byte == b'\r';
            match byte {
                b'\n' if second_half => {}
                b'\n' | b'\r' => events.extend(self.end_line()?),
                _ => self.line.push(byte),
            }
        }
        if self.line.len() + self.data.len() > LARGEST_EVENT {
            return Err(protocol("one event of the stream is too large"));
        }
        Ok(events)
    }

    fn end_line(&mut self) -> Result<Option<String>, ModelError> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.end_event();
        }
        if let Some(data) = line.strip_prefix(b"data:") {
            if self.has_data {
                self.data.push(b'\n');
            }
            self.has_data = true;
            self.data
                .extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
        }
        Ok(None)
    }

    fn end_event(&mut self) -> Result<Option<String>, ModelError> {
        if !std::mem::take(&mut self.has_data) {
            return Ok(None);
        }
        let data = String::from_utf8(std::mem::take(&mut self.data))
            .map_err(|error| protocol("the stream is not UTF-8").with_source(error))?;
        Ok(Some(data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = ": hello\nevent: a\ndata: {\"ü\":\ndata: 1}\n\ndata:two\r\n\r\nid: 3\r\rdata: three €\r\rdata: cut";

    #[test]
    fn chunks_of_any_size_give_the_same_events() {
        for size in 1..STREAM.len() {
            let mut parser = SseParser::default();
            let mut events = Vec::new();
            for chunk in STREAM.as_bytes().chunks(size) {
                events.extend(parser.push(chunk).unwrap());
            }
            assert_eq!(
                events,
                ["{\"ü\":\n1}", "two", "three €"],
                "chunks of {size}"
            );
        }
    }

    #[test]
    fn an_endless_event_and_broken_text_are_refused() {
        let mut parser = SseParser::default();
        let chunk = vec![b'x'; 1024 * 1024];
        assert!((0..20).any(|_| parser.push(&chunk).is_err()));
        assert!(SseParser::default().push(b"data: \xff\n\n").is_err());
    }
}
