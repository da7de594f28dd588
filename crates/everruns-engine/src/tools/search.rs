//! What the two searching tools have in common.

use std::fmt::Write as _;

use everruns_core::file_system::{SearchEvent, SearchQuery, SearchSummary, Truncation};
use futures::StreamExt as _;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::errors;
use crate::tool_api::{ToolContext, ToolError, ToolOutput};

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
    /// Whether a limit ended the search.
    cut: bool,
    /// The `after` that goes on with a search that was cut; null when that is not possible or all was searched.
    next: Option<String>,
}

/// Runs a search and shows what it finds and how it ended.
pub(super) async fn run(
    context: &ToolContext,
    query: SearchQuery,
    nothing: &str,
) -> Result<ToolOutput, ToolError> {
    let mut events = context
        .file_system()
        .search(query)
        .await
        .map_err(errors::explain)?;
    let mut shown = String::new();
    let mut summary = SearchSummary::default();
    while let Some(event) = events.next().await {
        // Writing to a text cannot fail.
        let _infallible = match event.map_err(errors::explain)? {
            SearchEvent::Path(path) => writeln!(shown, "{}", escaped(&path.to_string())),
            SearchEvent::Line {
                path,
                number,
                text,
                is_match,
            } => {
                let mark = if is_match { ':' } else { '-' };
                let path = escaped(&path.to_string());
                writeln!(shown, "{path}{mark}{number}{mark} {text}")
            }
            SearchEvent::Count { path, lines } => {
                writeln!(shown, "{}: {lines}", escaped(&path.to_string()))
            }
            SearchEvent::Summary(end) => {
                summary = end;
                Ok(())
            }
            _ => Ok(()),
        };
    }
    if shown.is_empty() && summary.truncation.is_none() {
        shown.push_str(nothing);
        shown.push('\n');
    }
    conclude(&mut shown, &summary);
    Ok(ToolOutput::new(shown).with_data(&Facts {
        files: summary.files,
        matches: summary.matches,
        binary: summary.binary,
        too_large: summary.too_large,
        cut: summary.truncation.is_some(),
        next: summary.resume_after.as_ref().map(ToString::to_string),
    }))
}

fn conclude(shown: &mut String, summary: &SearchSummary) {
    if summary.too_large > 0 {
        // Writing to a text cannot fail.
        let _infallible = writeln!(
            shown,
            "[{} files were passed over as too large]",
            summary.too_large
        );
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
        Some(path) => format!("go on with after {}", Value::String(path.to_string())),
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
