//! Search over a tree in memory, bounded by the query's limits.

use std::time::Instant;

use everruns_core::file_system::{
    FileSystemError, SearchEvent, SearchQuery, SearchSummary, SearchTarget, Truncation,
};
use everruns_core::path::WorkspacePath;
use globset::{GlobBuilder, GlobMatcher};

use super::file_system::io_error;
use super::grep::Lines;
use super::journal_file::JournalFile;
use super::tree::{Entry, Tree};

/// What one file adds to the results.
type Found = Vec<SearchEvent>;

pub(crate) fn run(
    tree: &Tree,
    journal: &JournalFile,
    query: &SearchQuery,
) -> Result<Vec<SearchEvent>, FileSystemError> {
    let (globs, lines) = match &query.target {
        SearchTarget::Glob { pattern } => (vec![compile(pattern)?], None),
        SearchTarget::Grep(grep) => {
            let globs = grep
                .globs
                .iter()
                .map(|glob| compile(glob))
                .collect::<Result<_, _>>()?;
            (globs, Some(Lines::new(grep, query.limits)?))
        }
        _ => return Err(invalid("", "this kind of search is not known here")),
    };
    if tree.entry(&query.folder)? != Entry::Folder {
        return Err(FileSystemError::NotADirectory {
            path: query.folder.clone(),
        });
    }
    let started = Instant::now();
    let (mut events, mut bytes) = (Vec::new(), 0);
    let mut summary = SearchSummary::default();
    let mut last = None;
    for path in visible(tree, query) {
        let below = below_folder(query, path.relative());
        if !globs.is_empty() && !globs.iter().any(|glob| glob_matches(glob, below)) {
            continue;
        }
        let found = match &lines {
            None => vec![SearchEvent::Path(path.clone())],
            Some(lines) => match tree.entry(&path)? {
                Entry::File { size, .. } if size > query.limits.file_bytes => {
                    summary.too_large += 1;
                    continue;
                }
                Entry::File { version, .. } => {
                    let content = journal
                        .content(version)
                        .map_err(|e| io_error(&path, "search", e))?;
                    if content.contains(&0) {
                        summary.binary += 1;
                        continue;
                    }
                    lines.of(&path, &content)
                }
                Entry::Folder => continue,
            },
        };
        summary.files += 1;
        let matches = count(&found);
        bytes += found.iter().map(text_length).sum::<usize>();
        let over = if summary.matches + matches > query.limits.matches as u64 {
            Some(Truncation::Matches)
        } else if bytes > query.limits.bytes {
            Some(Truncation::Bytes)
        } else if started.elapsed() > query.limits.time {
            Some(Truncation::Time)
        } else {
            None
        };
        // A whole file is shown or none of it, unless it is the first.
        if over.is_some() && !events.is_empty() {
            (summary.truncation, summary.resume_after) = (over, last);
            break;
        }
        summary.matches += matches;
        events.extend(found);
        last = Some(path);
    }
    events.push(SearchEvent::Summary(summary));
    Ok(events)
}

fn visible<'a>(tree: &'a Tree, query: &'a SearchQuery) -> impl Iterator<Item = WorkspacePath> + 'a {
    let after = query.after.as_ref().map(|path| path.relative().to_owned());
    tree.files_in_order(&query.folder)
        .into_iter()
        .filter_map(move |text| {
            let late = after
                .as_ref()
                .is_none_or(|after| text.split('/').gt(after.split('/')));
            let below = below_folder(query, &text);
            let shown = query.hidden || !below.split('/').any(|name| name.starts_with('.'));
            let path = WorkspacePath::root().join(&text).ok()?;
            (late && shown && allowed(query, &path)).then_some(path)
        })
}

/// Asks the filter about the file and every folder on the way to it.
fn allowed(query: &SearchQuery, path: &WorkspacePath) -> bool {
    let folders = std::iter::successors(path.parent(), WorkspacePath::parent)
        .take_while(|folder| *folder != query.folder && folder.starts_with(&query.folder));
    query.allows(path, false)
        && folders
            .into_iter()
            .all(|folder| query.allows(&folder, true))
}

fn below_folder<'a>(query: &SearchQuery, path: &'a str) -> &'a str {
    let rest = path.strip_prefix(query.folder.relative()).unwrap_or(path);
    rest.strip_prefix('/').unwrap_or(rest)
}

fn compile(pattern: &str) -> Result<GlobMatcher, FileSystemError> {
    match GlobBuilder::new(pattern).literal_separator(true).build() {
        Ok(glob) => Ok(glob.compile_matcher()),
        Err(error) => Err(invalid(pattern, error.to_string())),
    }
}

/// A glob without a slash matches names at any depth.
fn glob_matches(glob: &GlobMatcher, path: &str) -> bool {
    let subject = if glob.glob().glob().contains('/') {
        path
    } else {
        path.rsplit('/').next().unwrap_or(path)
    };
    glob.is_match(subject)
}

pub(crate) fn invalid(pattern: &str, reason: impl Into<String>) -> FileSystemError {
    FileSystemError::InvalidPattern {
        pattern: pattern.to_owned(),
        reason: reason.into(),
    }
}

fn count(found: &Found) -> u64 {
    let is_match = |event: &&SearchEvent| {
        !matches!(
            event,
            SearchEvent::Line {
                is_match: false,
                ..
            }
        )
    };
    found.iter().filter(is_match).count() as u64
}

fn text_length(event: &SearchEvent) -> usize {
    match event {
        SearchEvent::Line { text, .. } => text.len(),
        SearchEvent::Path(path) | SearchEvent::Count { path, .. } => path.relative().len(),
        _ => 0,
    }
}
