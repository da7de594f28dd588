use std::fmt::Write as _;

use async_trait::async_trait;
use everruns_core::file_system::{DirectoryEntry, FileKind, PageRequest};
use everruns_core::model::ToolSpec;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{arguments, errors, search};
use crate::tool_api::{Tool, ToolContext, ToolError, ToolOutput};

/// Entries shown at once.
const MAX_ENTRIES: usize = 500;

/// Lists a folder.
#[derive(Debug)]
pub(super) struct ListDirectory;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The folder; /workspace when left out.
    path: Option<String>,
    /// Goes on after this name of a listing before.
    after: Option<String>,
}

#[async_trait]
impl Tool for ListDirectory {
    fn spec(&self) -> ToolSpec {
        arguments::spec::<Arguments>(
            "list_directory",
            "Lists what is directly in a folder: folders end with /, links with @, files have their size in bytes. Use \
             find_files to look further down.",
        )
    }

    fn is_read_only(&self) -> bool {
        true
    }

    async fn call(&self, context: &ToolContext, arguments: Value) -> Result<ToolOutput, ToolError> {
        let wanted: Arguments = arguments::parse(arguments)?;
        let folder = arguments::folder(wanted.path.as_deref())?;
        let page = PageRequest {
            after: wanted.after,
            limit: MAX_ENTRIES,
        };
        let page = context
            .file_system()
            .list(&folder, page)
            .await
            .map_err(errors::explain)?;
        let mut shown: String = page.entries.iter().map(line).collect();
        for name in &page.unrepresentable {
            // Writing to a text cannot fail.
            let _infallible = writeln!(
                shown,
                "{} (its name is no Unicode: it cannot be opened)",
                search::escaped(name)
            );
        }
        if let Some(next) = page.next {
            let _infallible = writeln!(
                shown,
                "[there are more: go on with after {}]",
                Value::String(next)
            );
        }
        if shown.is_empty() {
            shown.push_str("[the folder is empty]");
        }
        Ok(shown.into())
    }
}

fn line(entry: &DirectoryEntry) -> String {
    let name = search::escaped(&entry.name);
    match entry.stat.kind {
        FileKind::Directory => format!("{name}/\n"),
        FileKind::Symlink => format!("{name}@\n"),
        FileKind::File => format!("{name} ({})\n", entry.stat.size),
        _ => format!("{name} (special: it cannot be opened)\n"),
    }
}
