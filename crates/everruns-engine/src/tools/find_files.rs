use async_trait::async_trait;
use everruns_core::file_system::{SearchLimits, SearchQuery, SearchTarget};
use everruns_core::model::ToolSpec;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{arguments, schema, search};
use crate::tool_api::{Tool, ToolContext, ToolError, ToolOutput};

/// Paths shown at once.
const MAX_MATCHES: usize = 1_000;
/// Bytes shown at once.
const MAX_BYTES: usize = 96 * 1024;

/// Finds files by their names.
#[derive(Debug)]
pub(super) struct FindFiles;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// A glob such as `*.rs`, which matches names at any depth, or `src/**/*.rs`, which matches paths.
    pattern: String,
    /// The folder to look in; /workspace when left out.
    #[serde(alias = "folder")]
    path: Option<String>,
    /// Also finds what .gitignore names.
    #[serde(default)]
    include_ignored: bool,
    /// Also finds what starts with a dot.
    #[serde(default)]
    include_hidden: bool,
    /// Goes on after this path of a search before.
    after: Option<String>,
}

#[async_trait]
impl Tool for FindFiles {
    fn spec(&self) -> ToolSpec {
        arguments::spec::<Arguments>(
            "find_files",
            "Finds files whose path matches a glob, at any depth of a folder, sorted by path.",
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
        let mut query = SearchQuery::new(SearchTarget::Glob {
            pattern: wanted.pattern,
        });
        query.folder = arguments::folder(wanted.path.as_deref())?;
        query.honour_ignores = !wanted.include_ignored;
        query.hidden = wanted.include_hidden;
        query.after = wanted.after.as_deref().map(arguments::path).transpose()?;
        query.limits = SearchLimits {
            matches: MAX_MATCHES,
            bytes: MAX_BYTES,
            ..SearchLimits::default()
        };
        let nothing = "[no file matches; names that start with a dot and ignored files need `include_hidden` and \
                       `include_ignored`]";
        search::run(context, query, nothing).await
    }
}
