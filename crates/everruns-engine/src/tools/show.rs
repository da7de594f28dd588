//! A text with numbered lines, cut where it is too much.

use std::fmt::Write as _;

use super::encoding::Encoding;
use super::line_ends::LineEnds;
use super::text::Text;
use crate::tool_api::ToolError;

/// Lines shown at once unless the model asks for fewer.
const MAX_LINES: usize = 2_000;
/// Bytes shown at once.
const MAX_BYTES: usize = 96 * 1024;
/// Bytes of one line that are shown among others.
const MAX_LINE_BYTES: usize = 2_000;
/// Bytes of a line that is shown alone.
const MAX_LONE_LINE_BYTES: usize = 32 * 1024;

/// What of a text is to be shown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wanted {
    /// The first line, counted from 1.
    pub(super) start: Option<usize>,
    pub(super) count: Option<usize>,
    /// Where in the first line to begin; that line is then shown alone.
    pub(super) offset: Option<usize>,
}

/// What was shown, and how to go on.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) text: String,
    /// The first and the last line.
    pub(super) lines: Option<(usize, usize)>,
    pub(super) next_line: Option<usize>,
    pub(super) next_offset: Option<usize>,
}

pub(super) fn show(
    text: &Text,
    encoding: Encoding,
    is_exact: bool,
    wanted: &Wanted,
) -> Result<Shown, ToolError> {
    let all = text.lines().count();
    if all == 0 {
        return Ok(Shown {
            text: "[the file is empty]".to_owned(),
            lines: None,
            next_line: None,
            next_offset: None,
        });
    }
    let start = wanted.start.unwrap_or(1).max(1);
    if start > all {
        return Err(ToolError::new(format!(
            "The file has {all} lines: choose a `start_line` from 1 to {all}."
        )));
    }
    let offset = wanted.offset.unwrap_or(0);
    let (count, limit) = if wanted.offset.is_some() {
        (1, MAX_LONE_LINE_BYTES)
    } else {
        let count = wanted.count.unwrap_or(MAX_LINES).clamp(1, MAX_LINES);
        (count, MAX_LINE_BYTES)
    };
    let mut shown = String::new();
    let mut last = start - 1;
    let mut next_offset = None;
    for line in text.lines().skip(start - 1).take(count) {
        if shown.len() > MAX_BYTES {
            break;
        }
        last += 1;
        let (part, next) = part(line, offset, limit, last)?;
        // Writing to a text cannot fail.
        let _infallible = write!(shown, "{last:>6}\t{}", String::from_utf8_lossy(part));
        if let Some(next) = next {
            let _infallible = write!(
                shown,
                " [{} more bytes of this line; go on with start_line {last} and line_offset {next}]",
                line.len() - next
            );
            if wanted.offset.is_some() {
                next_offset = Some(next);
            }
        }
        shown.push('\n');
    }
    if last < all && wanted.offset.is_none() {
        let _infallible = writeln!(
            shown,
            "[lines {start} to {last} of {all}; go on with start_line {}]",
            last + 1
        );
    }
    for remark in remarks(text, encoding, is_exact, last == all) {
        let _infallible = writeln!(shown, "[{remark}]");
    }
    Ok(Shown {
        text: shown,
        lines: Some((start, last)),
        next_line: (last < all).then_some(last + 1),
        next_offset,
    })
}

/// At most `limit` bytes of a line from `offset` on, and the offset of what follows them. Characters stay whole.
fn part(
    line: &[u8],
    offset: usize,
    limit: usize,
    number: usize,
) -> Result<(&[u8], Option<usize>), ToolError> {
    let Some(rest) = line
        .get(offset..)
        .filter(|rest| offset == 0 || !rest.is_empty())
    else {
        return Err(ToolError::new(format!(
            "Line {number} has {} bytes: choose a smaller `line_offset`.",
            line.len()
        )));
    };
    if rest.len() <= limit {
        return Ok((rest, None));
    }
    let is_inside = |at: usize| rest.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    // What is no UTF-8 has no characters to keep whole.
    let end = (limit - 3..=limit)
        .rev()
        .find(|&at| !is_inside(at))
        .unwrap_or(limit);
    let (shown, _) = rest.split_at(end);
    Ok((shown, Some(offset + end)))
}

/// What cannot be seen in the lines; an edit keeps all of it.
fn remarks(
    text: &Text,
    encoding: Encoding,
    is_exact: bool,
    shows_end: bool,
) -> impl Iterator<Item = &'static str> {
    let line_ends = LineEnds::of(text);
    let invalid = std::str::from_utf8(&text.normal).is_err();
    [
        (
            encoding == Encoding::Utf16Le,
            "the file is UTF-16, little endian",
        ),
        (
            encoding == Encoding::Utf16Be,
            "the file is UTF-16, big endian",
        ),
        (
            !is_exact,
            "the file holds bytes that are no UTF-16, shown as \u{fffd}: it can be overwritten, but not edited",
        ),
        (
            line_ends == LineEnds::Crlf,
            "the lines end with CR LF",
        ),
        (
            line_ends == LineEnds::Mixed,
            "some lines end with CR LF, others with LF",
        ),
        (
            text.has_bom && encoding == Encoding::Utf8,
            "the file begins with a byte order mark",
        ),
        (
            invalid,
            "the file holds bytes that are no UTF-8, shown as \u{fffd}",
        ),
        (
            shows_end && !text.ends_with_newline(),
            "the last line has no line end",
        ),
    ]
    .into_iter()
    .filter_map(|(holds, remark)| holds.then_some(remark))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn shown(bytes: &[u8], wanted: Wanted) -> Result<Shown, String> {
        let text = Text::of(&Bytes::copy_from_slice(bytes));
        show(&text, Encoding::Utf8, true, &wanted).map_err(|error| error.message)
    }

    fn from(start: usize, offset: usize) -> Wanted {
        Wanted {
            start: Some(start),
            count: None,
            offset: Some(offset),
        }
    }

    #[test]
    fn a_long_line_can_be_read_to_its_end() {
        let long = "é".repeat(60_000);
        let file = format!("first\n{long}\nlast\n");
        let first = shown(file.as_bytes(), Wanted::default()).unwrap();
        assert!(first.text.contains("start_line 2 and line_offset 2000]"));
        assert!(first.text.contains("     3\tlast\n"));
        let (mut whole, mut next) = (String::new(), Some(0));
        while let Some(offset) = next {
            let part = shown(file.as_bytes(), from(2, offset)).unwrap();
            assert_eq!((part.lines, part.next_line), (Some((2, 2)), Some(3)));
            let (_, text) = part.text.split_once('\t').unwrap();
            let text = text.trim_end_matches('\n');
            whole.push_str(text.split_once(" [").map_or(text, |(shown, _)| shown));
            next = part.next_offset;
        }
        assert_eq!(whole, long);
    }

    #[test]
    fn an_offset_past_the_line_is_explained() {
        let error = shown(b"abc\n", from(1, 3)).unwrap_err();
        assert!(error.contains("Line 1 has 3 bytes"), "{error}");
        assert_eq!(shown(b"abc\n", from(1, 2)).unwrap().text, "     1\tc\n");
        assert!(shown(b"\nx\n", from(1, 0)).is_ok());
    }

    #[test]
    fn bytes_that_are_no_characters_are_cut_all_the_same() {
        let part = shown(&vec![0x80; 40_000], from(1, 0)).unwrap();
        assert!(part.next_offset.is_some_and(|next| next > 32_000));
    }

    #[test]
    fn mixed_line_ends_are_told() {
        let both = shown(b"a\r\nb\n", Wanted::default()).unwrap();
        assert!(both.text.contains("others with LF"));
        let one = shown(b"a\r\nb\r\n", Wanted::default()).unwrap();
        assert!(one.text.contains("the lines end with CR LF"));
    }
}
