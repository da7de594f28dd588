//! What the two searching tools have in common.

use std::fmt::Write as _;

use everruns_core::file_system::{
    FileSystemError, SearchEvent, SearchQuery, SearchSummary, SearchTarget, Truncation,
};
use futures::StreamExt as _;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::errors;
use crate::tool_api::{ToolContext, ToolError, ToolOutput};

/// Errors of single files and folders that are shown.
const MAX_ERRORS: usize = 5;

/// What a search tells programs.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Facts {
    /// How many files were looked at.
    files: u64,
    /// How many paths or lines were shown as matches.
    matches: u64,
    /// How many files were passed over as binary.
    binary: u64,
    /// How many files were passed over as too large.
    too_large: u64,
    /// How many files were not searched to their end, as the pattern takes too long in them.
    too_slow: u64,
    /// How many files and folders could not be searched.
    failed: usize,
    /// Whether a limit ended the search.
    cut: bool,
    /// The `after` that goes on with a search that was cut; null when that is not possible or all was searched.
    next: Option<String>,
    /// The `after_line` that goes with `next`, when there may be more in that file.
    next_line: Option<u64>,
}

/// Runs a search and shows what it finds and how it ended.
pub(super) async fn run(
    context: &ToolContext,
    query: SearchQuery,
    nothing: &str,
) -> Result<ToolOutput, ToolError> {
    let expression = match &query.target {
        SearchTarget::Grep(lines) => Some(lines.pattern.clone()),
        _ => None,
    };
    let begun = context.file_system().search(query).await;
    let mut events = begun.map_err(|error| explain(error, expression.as_deref()))?;
    let mut shown = String::new();
    let mut end = None;
    let mut failed = Vec::new();
    while let Some(event) = events.next().await {
        let event = match event {
            Ok(event) => event,
            // One file or folder that cannot be read is no end of the search.
            Err(error) => {
                failed.push(error);
                continue;
            }
        };
        // Writing to a text cannot fail.
        let _infallible = match event {
            SearchEvent::Path(path) => writeln!(shown, "{}", escaped(&path.to_string())),
            SearchEvent::Line {
                path,
                number,
                text,
                left_out: [before, after],
                is_match,
            } => {
                let mark = if is_match { ':' } else { '-' };
                let path = escaped(&path.to_string());
                let before = left_out(before).map_or_else(String::new, |mark| mark + " ");
                let after = left_out(after).map_or_else(String::new, |mark| format!(" {mark}"));
                writeln!(shown, "{path}{mark}{number}{mark} {before}{text}{after}")
            }
            SearchEvent::Count { path, lines } => {
                writeln!(shown, "{}: {lines}", escaped(&path.to_string()))
            }
            SearchEvent::Summary(summary) => {
                end = Some(summary);
                Ok(())
            }
            _ => Ok(()),
        };
    }
    let Some(summary) = end else {
        return Err(failed.pop().map_or_else(
            || {
                ToolError::new(
                    "The search broke off. Try once more; if it fails again, tell the user.",
                )
            },
            errors::explain,
        ));
    };
    if shown.is_empty() && summary.truncation.is_none() {
        shown.push_str(nothing);
        shown.push('\n');
    }
    conclude(&mut shown, &summary, &failed);
    Ok(ToolOutput::new(shown).with_data(&Facts {
        files: summary.files,
        matches: summary.matches,
        binary: summary.binary,
        too_large: summary.too_large,
        too_slow: summary.too_slow,
        failed: failed.len(),
        cut: summary.truncation.is_some(),
        next: summary.resume_after.as_ref().map(ToString::to_string),
        next_line: summary.resume_line,
    }))
}

/// As other errors of files, but for the expression itself another way is to take it for a text.
fn explain(error: FileSystemError, expression: Option<&str>) -> ToolError {
    match &error {
        FileSystemError::InvalidPattern { pattern, .. } if expression == Some(pattern) => {
            let told = format!(
                "{error}. Nothing was searched. Correct the expression, or set `fixed` to search for the text itself."
            );
            ToolError::new(told).with_source(error)
        }
        _ => errors::explain(error),
    }
}

/// What is shown in the place of so many bytes of a line, if any.
fn left_out(bytes: u64) -> Option<String> {
    (bytes > 0).then(|| format!("[{bytes} bytes of the line left out]"))
}

fn conclude(shown: &mut String, summary: &SearchSummary, failed: &[FileSystemError]) {
    for (count, reason) in [(summary.too_large, "too large"), (summary.binary, "binary")] {
        if count > 0 {
            // Writing to a text cannot fail.
            let _infallible = writeln!(shown, "[{count} files were passed over as {reason}]");
        }
    }
    if summary.too_slow > 0 {
        let _infallible = writeln!(
            shown,
            "[{} files were not searched to their end, as the pattern takes too long in them: use a simpler one]",
            summary.too_slow
        );
    }
    for error in failed.iter().take(MAX_ERRORS) {
        let error = escaped(&error.to_string());
        let _infallible = writeln!(shown, "[not searched: {error}]");
    }
    if let Some(more) = failed
        .len()
        .checked_sub(MAX_ERRORS)
        .filter(|more| *more > 0)
    {
        let _infallible = writeln!(shown, "[{more} more files or folders were not searched]");
    }
    let Some(truncation) = summary.truncation else {
        return;
    };
    let reason = match truncation {
        Truncation::Matches => "there are too many results",
        Truncation::Bytes => "the results are too long",
        _ => "it took too long",
    };
    let advice = match &summary.resume_after {
        Some(path) => {
            let after = Value::String(path.to_string());
            match summary.resume_line {
                Some(line) => format!("go on with after {after} and after_line {line}"),
                None => format!("go on with after {after}"),
            }
        }
        None => "search for less, or in a folder further down".to_owned(),
    };
    let _infallible = writeln!(shown, "[stopped, as {reason}: {advice}]");
}

/// A name with its control characters and those that turn the direction of writing shown as escapes.
pub(super) fn escaped(name: &str) -> String {
    let hides = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    if !name.chars().any(hides) {
        return name.to_owned();
    }
    name.chars()
        .map(|c| {
            if hides(c) {
                c.escape_unicode().to_string()
            } else {
                c.to_string()
            }
        })
        .collect()
}
