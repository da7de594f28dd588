use async_trait::async_trait;
use everruns_core::file_system::{FileContent, ReadRange};
use everruns_core::model::ToolSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::blocking::blocking;
use super::encoding::{self, Encoding};
use super::line_ends::LineEnds;
use super::show::{Shown, Wanted, show};
use super::text::Text;
use super::{arguments, errors, schema};
use crate::tool_api::{Tool, ToolContext, ToolError, ToolOutput};

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
    /// Leaves out so many bytes at the beginning of `start_line` and shows that line alone: goes on with a long line
    /// that was cut.
    line_offset: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Facts {
    /// The file.
    path: String,
    /// Its version: the hash of its bytes.
    version: String,
    /// Its size in bytes.
    size: u64,
    /// How its bytes stand for its text; null for a binary file.
    encoding: Option<Encoding>,
    /// How its lines end; null for a binary file.
    line_ends: Option<LineEnds>,
    /// How many lines it has.
    lines: usize,
    /// The first line that was shown, counted from 1; null when none was.
    first_line: Option<usize>,
    /// The last line that was shown.
    last_line: Option<usize>,
    /// The `start_line` that goes on; null when all after `first_line` was shown.
    next_line: Option<usize>,
    /// The `line_offset` that goes on with a single line that was cut; null when it was not.
    next_offset: Option<usize>,
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

    fn output_schema(&self) -> Option<Value> {
        Some(schema::of_output::<Facts>())
    }

    fn is_read_only(&self) -> bool {
        true
    }

    async fn call(&self, context: &ToolContext, arguments: Value) -> Result<ToolOutput, ToolError> {
        let arguments: Arguments = arguments::parse(arguments)?;
        let path = arguments::path(&arguments.path)?;
        let content = context
            .file_system()
            .read(&path, ReadRange::ALL)
            .await
            .map_err(errors::explain)?;
        context
            .seen()
            .note(&path, content.version(), content.bytes());
        let name = path.to_string();
        blocking(move || read(name, &content, &arguments)).await?
    }
}

fn read(
    path: String,
    content: &FileContent,
    arguments: &Arguments,
) -> Result<ToolOutput, ToolError> {
    let mut facts = Facts {
        version: content.version().to_string(),
        size: content.size(),
        encoding: None,
        line_ends: None,
        lines: 0,
        first_line: None,
        last_line: None,
        next_line: None,
        next_offset: None,
        path,
    };
    let Some(decoded) = encoding::decode(content.bytes()) else {
        let text = format!(
            "{} is a binary file of {} bytes; its content is not shown.",
            facts.path,
            content.size()
        );
        return Ok(ToolOutput::new(text).with_data(&facts));
    };
    let text = Text::of(&decoded.bytes);
    facts.encoding = Some(decoded.encoding);
    facts.line_ends = Some(LineEnds::of(&text));
    facts.lines = text.lines().count();
    let wanted = Wanted {
        start: arguments.start_line,
        count: arguments.line_count,
        offset: arguments.line_offset,
    };
    let Shown {
        text,
        lines,
        next_line,
        next_offset,
    } = show(&text, decoded.encoding, decoded.is_exact, &wanted)?;
    (facts.first_line, facts.last_line) =
        (lines.map(|(first, _)| first), lines.map(|(_, last)| last));
    (facts.next_line, facts.next_offset) = (next_line, next_offset);
    Ok(ToolOutput::new(text).with_data(&facts))
}
