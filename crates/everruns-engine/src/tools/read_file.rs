use std::fmt::Write as _;

use async_trait::async_trait;
use everruns_core::file_system::ReadRange;
use everruns_core::model::ToolSpec;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::blocking::blocking;
use super::text::{Text, is_binary};
use super::{arguments, errors};
use crate::tool_api::{Tool, ToolContext, ToolError, ToolOutput};

/// Lines shown at once unless the model asks for fewer.
const MAX_LINES: usize = 2_000;
/// Bytes shown at once.
const MAX_BYTES: usize = 96 * 1024;
/// Bytes of one line that are shown.
const MAX_LINE_BYTES: usize = 2_000;

/// Shows a text file with numbered lines.
#[derive(Debug)]
pub(super) struct ReadFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The file, such as `src/main.rs` or `/workspace/src/main.rs`.
    path: String,
    /// The first line to show, counted from 1. The file's first line when left out.
    start_line: Option<usize>,
    /// How many lines to show at most.
    line_count: Option<usize>,
}

#[async_trait]
impl Tool for ReadFile {
    fn spec(&self) -> ToolSpec {
        arguments::spec::<Arguments>(
            "read_file",
            "Shows a text file with line numbers, the whole or some lines. A file must be read before it can be \
             edited or overwritten. The number and the tab before each line are not part of the file.",
        )
    }

    fn is_read_only(&self) -> bool {
        true
    }

    async fn call(&self, context: &ToolContext, arguments: Value) -> Result<ToolOutput, ToolError> {
        let wanted: Arguments = arguments::parse(arguments)?;
        let path = arguments::path(&wanted.path)?;
        let content = context
            .file_system()
            .read(&path, ReadRange::ALL)
            .await
            .map_err(errors::explain)?;
        context.seen().note(&path, content.version, &content.bytes);
        if is_binary(&content.bytes) {
            return Ok(format!(
                "{path} is a binary file of {} bytes; its content is not shown.",
                content.size
            )
            .into());
        }
        let bytes = content.bytes;
        let shown = blocking(move || {
            let text = Text::of(&bytes);
            show(&text, wanted.start_line, wanted.line_count)
        });
        Ok(shown.await??.into())
    }
}

fn show(text: &Text, start: Option<usize>, count: Option<usize>) -> Result<String, ToolError> {
    let all = text.lines().count();
    if all == 0 {
        return Ok("[the file is empty]".to_owned());
    }
    let start = start.unwrap_or(1).max(1);
    if start > all {
        return Err(ToolError::new(format!(
            "The file has {all} lines: choose a `start_line` from 1 to {all}."
        )));
    }
    let count = count.unwrap_or(MAX_LINES).clamp(1, MAX_LINES);
    let mut shown = String::new();
    let mut last = start - 1;
    for line in text.lines().skip(start - 1).take(count) {
        if shown.len() > MAX_BYTES {
            break;
        }
        last += 1;
        let cut = line.len().saturating_sub(MAX_LINE_BYTES);
        let visible = String::from_utf8_lossy(&line[..line.len() - cut]);
        // Writing to a text cannot fail.
        let _infallible = match cut {
            0 => writeln!(shown, "{last:>6}\t{visible}"),
            _ => writeln!(
                shown,
                "{last:>6}\t{visible} [{cut} more bytes of this line]"
            ),
        };
    }
    if last < all {
        let _infallible = writeln!(
            shown,
            "[lines {start} to {last} of {all}; go on with start_line {}]",
            last + 1
        );
    }
    for remark in remarks(text, last == all) {
        let _infallible = writeln!(shown, "[{remark}]");
    }
    Ok(shown)
}

/// What cannot be seen in the lines; an edit keeps all of it.
fn remarks(text: &Text, shows_end: bool) -> impl Iterator<Item = &'static str> {
    let invalid = std::str::from_utf8(&text.normal).is_err();
    [
        (text.is_crlf(), "the lines end with CR LF"),
        (text.has_bom, "the file begins with a byte order mark"),
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
