use async_trait::async_trait;
use everruns_core::file_system::{
    FileSystemError, GrepQuery, GrepShow, SearchLimits, SearchQuery, SearchTarget,
};
use everruns_core::model::ToolSpec;
use everruns_fs::search::of_types;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{arguments, errors, schema, search};
use crate::tool_api::{Tool, ToolContext, ToolError, ToolOutput};

/// Results shown at once.
const MAX_MATCHES: usize = 300;
/// Bytes shown at once.
const MAX_BYTES: usize = 96 * 1024;
/// Bytes of one line that are shown.
const MAX_LINE_BYTES: usize = 500;
/// Lines around a match that can be shown.
const MAX_CONTEXT: usize = 20;

/// Finds lines by a regular expression.
#[derive(Debug)]
pub(super) struct Grep;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own that a model sets by name"
)]
struct Arguments {
    /// A regular expression in the syntax of Rust's `regex` crate.
    pattern: String,
    /// Takes the pattern as a fixed text.
    #[serde(default)]
    fixed: bool,
    /// Ignores case.
    #[serde(default)]
    ignore_case: bool,
    /// Lets a match span lines.
    #[serde(default)]
    multiline: bool,
    /// The folder to search in; /workspace when left out.
    #[serde(alias = "folder")]
    path: Option<String>,
    /// Only files that match one of these globs, such as `*.rs`.
    #[serde(default)]
    globs: Vec<String>,
    /// Only files of these types, such as `rust`, `py`, `js`, `ts`, `go` or `md`: the names that ripgrep has for them.
    #[serde(default)]
    types: Vec<String>,
    /// What to show of a file with matches: its `lines`, its path alone (`files`), or its path and how many of its
    /// lines match (`counts`).
    #[serde(default)]
    show: Show,
    /// How many lines before and after each match to show, when lines are shown.
    #[serde(default)]
    context: usize,
    /// Also searches what .gitignore names.
    #[serde(default)]
    include_ignored: bool,
    /// Also searches what starts with a dot.
    #[serde(default)]
    include_hidden: bool,
    /// Goes on after this file of a search before.
    after: Option<String>,
    /// Goes on in the file `after` itself, after this line.
    after_line: Option<u64>,
}

/// What to show of a file with matches.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Show {
    #[default]
    Lines,
    Files,
    Counts,
}

impl From<Show> for GrepShow {
    fn from(show: Show) -> Self {
        match show {
            Show::Lines => Self::Lines,
            Show::Files => Self::Files,
            Show::Counts => Self::Counts,
        }
    }
}

fn explain_type(error: FileSystemError) -> ToolError {
    match error {
        FileSystemError::InvalidPattern { pattern, reason } => ToolError::new(format!(
            "`types` holds `{pattern}`: {reason}. Nothing was searched; correct it and search again."
        )),
        other => errors::explain(other),
    }
}

#[async_trait]
impl Tool for Grep {
    fn spec(&self) -> ToolSpec {
        arguments::spec::<Arguments>(
            "grep",
            "Finds lines that match a regular expression, in all text files of a folder. Shows path, line number and \
             line (lines of context have - in the place of :), or with `show` only the files or how many lines match.",
        )
    }

    fn output_schema(&self) -> Option<Value> {
        Some(schema::of_output::<search::Facts>())
    }

    fn is_read_only(&self) -> bool {
        true
    }

    async fn call(&self, context: &ToolContext, arguments: Value) -> Result<ToolOutput, ToolError> {
        let wanted: Arguments = arguments::parse(arguments)?;
        let mut lines = GrepQuery::new(wanted.pattern);
        lines.fixed = wanted.fixed;
        lines.ignore_case = wanted.ignore_case;
        lines.multiline = wanted.multiline;
        lines.globs = wanted.globs;
        lines.context = wanted.context.min(MAX_CONTEXT);
        lines.show = wanted.show.into();
        let mut query = SearchQuery::new(SearchTarget::Grep(lines));
        query.folder = arguments::folder(wanted.path.as_deref())?;
        query.honour_ignores = !wanted.include_ignored;
        query.hidden = wanted.include_hidden;
        query.after = wanted.after.as_deref().map(arguments::path).transpose()?;
        query.after_line = wanted.after_line;
        if !wanted.types.is_empty() {
            query = query.also_filter(of_types(&wanted.types).map_err(explain_type)?);
        }
        query.limits = SearchLimits {
            matches: MAX_MATCHES,
            bytes: MAX_BYTES,
            line_bytes: MAX_LINE_BYTES,
            ..SearchLimits::default()
        };
        search::run(context, query, "[no line matches]").await
    }
}
