//! A folder and the folders below it, in one order that can be continued anywhere.

use std::fmt::Write as _;

use everruns_core::file_system::{DirectoryEntry, FileKind, FileSystemError, PageRequest};
use everruns_core::path::WorkspacePath;

use super::{errors, search};
use crate::tool_api::{ToolContext, ToolError};

/// Entries shown at once.
const MAX_ENTRIES: usize = 500;

/// What was shown of a tree.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// A line for each entry, with its path below the folder.
    pub(super) lines: String,
    pub(super) entries: usize,
    /// The entry to go on after; with a slash at its end it is a folder, to go on with what is in it.
    pub(super) next: Option<String>,
}

/// A folder whose entries are being shown.
struct Open {
    path: WorkspacePath,
    /// Its path below the folder that is shown, with a slash at its end; empty for that folder itself.
    prefix: String,
    /// The entries not shown yet, the next one last.
    entries: Vec<DirectoryEntry>,
    /// Where the next page begins; `None` when there is none.
    page: Option<PageRequest>,
}

impl Open {
    fn new(path: WorkspacePath, prefix: String, after: Option<String>) -> Self {
        Self {
            path,
            prefix,
            entries: Vec::new(),
            page: Some(PageRequest {
                after,
                limit: MAX_ENTRIES,
            }),
        }
    }
}

/// Shows what is in `folder`, `depth` levels of it, each folder before what is in it and names in byte order.
pub(super) async fn show(
    context: &ToolContext,
    folder: &WorkspacePath,
    depth: usize,
    after: Option<&str>,
) -> Result<Tree, ToolError> {
    let mut tree = Tree::default();
    let mut last = after.map(ToOwned::to_owned);
    let mut open = opened(folder, after.unwrap_or_default())?;
    while let Some(current) = open.last_mut() {
        let Some(entry) = current.entries.pop() else {
            let Some(page) = current.page.take() else {
                open.pop();
                continue;
            };
            let listed = context.file_system().list(&current.path, page).await;
            let page = match listed {
                Ok(page) => page,
                // It is gone, or became something else, since its name was shown.
                Err(FileSystemError::NotFound { .. } | FileSystemError::NotADirectory { .. })
                    if !current.prefix.is_empty() =>
                {
                    open.pop();
                    continue;
                }
                Err(error) if !current.prefix.is_empty() => {
                    // Writing to a text cannot fail.
                    let _infallible = writeln!(
                        tree.lines,
                        "{} (cannot be listed: {error})",
                        search::escaped(&current.prefix)
                    );
                    open.pop();
                    continue;
                }
                Err(error) => return Err(errors::explain(error)),
            };
            for name in &page.unrepresentable {
                let _infallible = writeln!(
                    tree.lines,
                    "{}{} (its name is no Unicode: it cannot be opened)",
                    search::escaped(&current.prefix),
                    search::escaped(name)
                );
            }
            current.entries = page.entries;
            current.entries.reverse();
            current.page = page.next.map(|next| PageRequest {
                after: Some(next),
                limit: MAX_ENTRIES,
            });
            continue;
        };
        if tree.entries == MAX_ENTRIES {
            tree.next = last;
            break;
        }
        let below = format!("{}{}", current.prefix, entry.name);
        tree.lines.push_str(&line(&below, &entry));
        tree.entries += 1;
        last = Some(below.clone());
        if entry.stat.kind == FileKind::Directory && open.len() < depth {
            let path = folder
                .join(&below)
                .map_err(|error| errors::explain(error.into()))?;
            let prefix = format!("{below}/");
            last = Some(prefix.clone());
            open.push(Open::new(path, prefix, None));
        }
    }
    Ok(tree)
}

/// The folders from `folder` down to the entry `after`, each to go on after the name on the way.
fn opened(folder: &WorkspacePath, after: &str) -> Result<Vec<Open>, ToolError> {
    let mut open = Vec::new();
    let (mut path, mut prefix) = (folder.clone(), String::new());
    for name in after.split_inclusive('/') {
        let bare = name.trim_end_matches('/');
        open.push(Open::new(
            path.clone(),
            prefix.clone(),
            Some(bare.to_owned()),
        ));
        if name.ends_with('/') {
            prefix.push_str(name);
            path = path
                .join(bare)
                .map_err(|error| errors::explain(error.into()))?;
        }
    }
    // Nothing was shown of it, or of the folder that `after` ends with.
    if after.is_empty() || after.ends_with('/') {
        open.push(Open::new(path, prefix, None));
    }
    Ok(open)
}

fn line(below: &str, entry: &DirectoryEntry) -> String {
    let name = search::escaped(below);
    match entry.stat.kind {
        FileKind::Directory => format!("{name}/\n"),
        FileKind::Symlink => format!("{name}@\n"),
        FileKind::File => format!("{name} ({})\n", entry.stat.size),
        _ => format!("{name} (special: it cannot be opened)\n"),
    }
}
