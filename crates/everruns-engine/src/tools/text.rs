use bytes::Bytes;

/// So many bytes are looked at to tell text from something else.
const PROBE_BYTES: usize = 8 * 1024;

/// The byte order mark of UTF-8.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Whether `bytes` are no text: they hold a NUL near their beginning, as Git decides it.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(PROBE_BYTES).any(|&byte| byte == 0)
}

/// The bytes of a text file, by what matters to a reader and must survive an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Text {
    /// The text without its byte order mark, with every CR LF as LF.
    pub(super) normal: Vec<u8>,
    /// Where in `normal` a LF was a CR LF, in order.
    crlf: Vec<usize>,
    pub(super) has_bom: bool,
}

impl Text {
    pub(super) fn of(bytes: &Bytes) -> Self {
        let has_bom = bytes.starts_with(BOM);
        let body = if has_bom { &bytes[BOM.len()..] } else { bytes };
        let mut normal = Vec::with_capacity(body.len());
        let mut crlf = Vec::new();
        for (index, &byte) in body.iter().enumerate() {
            if byte == b'\r' && body.get(index + 1) == Some(&b'\n') {
                crlf.push(normal.len());
            } else {
                normal.push(byte);
            }
        }
        Self {
            normal,
            crlf,
            has_bom,
        }
    }

    /// The bytes again, exactly.
    pub(super) fn to_bytes(&self) -> Bytes {
        let mut bytes = Vec::with_capacity(self.normal.len() + self.crlf.len() + BOM.len());
        if self.has_bom {
            bytes.extend_from_slice(BOM);
        }
        let mut start = 0;
        for &at in &self.crlf {
            bytes.extend_from_slice(&self.normal[start..at]);
            bytes.push(b'\r');
            start = at;
        }
        bytes.extend_from_slice(&self.normal[start..]);
        bytes.into()
    }

    /// How many lines end with CR LF, and how many with either.
    pub(super) fn line_ends(&self) -> (usize, usize) {
        (self.crlf.len(), newlines(&self.normal))
    }

    /// Whether most lines end with CR LF.
    fn is_crlf(&self) -> bool {
        let (crlf, all) = self.line_ends();
        crlf * 2 > all
    }

    /// Puts `new`, which has LF only, in the place of `length` bytes at each of `places`, which are in order and do
    /// not overlap. Its line ends become those of the file.
    pub(super) fn replace(&mut self, places: &[usize], length: usize, new: &[u8]) {
        let ends: &[usize] = if self.is_crlf() {
            &newline_places(new)
        } else {
            &[]
        };
        let mut changed = Self {
            normal: Vec::with_capacity(self.normal.len()),
            crlf: Vec::with_capacity(self.crlf.len()),
            has_bom: self.has_bom,
        };
        let mut start = 0;
        for &at in places {
            changed.append(self, start, at);
            let base = changed.normal.len();
            changed.crlf.extend(ends.iter().map(|end| base + end));
            changed.normal.extend_from_slice(new);
            start = at + length;
        }
        changed.append(self, start, self.normal.len());
        *self = changed;
    }

    /// Appends a part of another text with its line ends.
    fn append(&mut self, other: &Self, start: usize, end: usize) {
        let first = other.crlf.partition_point(|&place| place < start);
        let after = other.crlf.partition_point(|&place| place < end);
        let base = self.normal.len();
        let kept = other.crlf[first..after].iter();
        self.crlf.extend(kept.map(|place| base + place - start));
        self.normal.extend_from_slice(&other.normal[start..end]);
    }

    /// The lines without their ends.
    pub(super) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let body = self.normal.strip_suffix(b"\n").unwrap_or(&self.normal);
        let empty = self.normal.is_empty();
        body.split(|&byte| byte == b'\n').filter(move |_| !empty)
    }

    /// The number of the line that holds the byte at `at`, counted from 1.
    pub(super) fn line_at(&self, at: usize) -> usize {
        let before = &self.normal[..at.min(self.normal.len())];
        newlines(before) + 1
    }

    pub(super) fn ends_with_newline(&self) -> bool {
        self.normal.is_empty() || self.normal.ends_with(b"\n")
    }
}

fn newlines(bytes: &[u8]) -> usize {
    bytes.split(|&byte| byte == b'\n').count() - 1
}

fn newline_places(bytes: &[u8]) -> Vec<usize> {
    let numbered = bytes.iter().enumerate();
    numbered
        .filter_map(|(place, &byte)| (byte == b'\n').then_some(place))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h45_all_bytes_come_back() {
        for bytes in [
            &b""[..],
            b"a\r\nb\n\r\n",
            b"\xef\xbb\xbfa\r\n",
            b"\xff\xfe\r\r\nx",
            b"\r",
        ] {
            let bytes = Bytes::from_static(bytes);
            assert_eq!(Text::of(&bytes).to_bytes(), bytes);
        }
    }

    #[test]
    fn h45_replacing_takes_over_the_line_ends() {
        let mut text = Text::of(&Bytes::from_static(b"one\r\ntwo\r\nthree\r\n"));
        text.replace(&[4], 4, b"2a\n2b\n");
        assert_eq!(text.to_bytes(), "one\r\n2a\r\n2b\r\nthree\r\n");
        let mut text = Text::of(&Bytes::from_static(b"one\ntwo\r\nthree\n"));
        text.replace(&[0], 3, b"x\ny");
        assert_eq!(text.to_bytes(), "x\ny\ntwo\r\nthree\n");
    }

    #[test]
    fn lines_do_not_depend_on_a_final_newline() {
        let lines = |bytes: &'static [u8]| {
            let text = Text::of(&Bytes::from_static(bytes));
            text.lines().count()
        };
        assert_eq!(
            (lines(b""), lines(b"a"), lines(b"a\n"), lines(b"a\n\n")),
            (0, 1, 1, 2)
        );
    }
}
