//! Search over a tree in memory, bounded by the query's limits.

use std::time::Instant;

use everruns_core::file_system::{
    FileSystemError, SearchEvent, SearchLimits, SearchQuery, SearchSummary, SearchTarget,
    Truncation,
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
        let mut found = match &lines {
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
        found.retain(|event| !is_shown_before(query, event));
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
        if over.is_some() && lines.is_some() {
            let fitting = fitting(&found, query.limits);
            if fitting < found.len() {
                found.truncate(fitting.max(1));
                (summary.truncation, summary.resume_after) = (over, Some(path));
                summary.resume_line = found.last().and_then(line_number);
                summary.matches += count(&found);
                events.extend(found);
                break;
            }
        }
        summary.matches += matches;
        events.extend(found);
        last = Some(path);
    }
    events.push(SearchEvent::Summary(summary));
    Ok(events)
}

/// How many of the first results of a file keep to the limits.
fn fitting(found: &Found, limits: SearchLimits) -> usize {
    let (mut matches, mut bytes) = (0, 0);
    found
        .iter()
        .take_while(|event| {
            matches += usize::from(is_match(event));
            bytes += text_length(event);
            matches <= limits.matches && bytes <= limits.bytes
        })
        .count()
}

/// Whether an earlier search has shown this line of the file in which it ended.
fn is_shown_before(query: &SearchQuery, event: &SearchEvent) -> bool {
    match event {
        SearchEvent::Line { path, number, .. } => {
            query.after.as_ref() == Some(path)
                && query.after_line.is_some_and(|last| *number <= last)
        }
        _ => false,
    }
}

fn line_number(event: &SearchEvent) -> Option<u64> {
    match event {
        SearchEvent::Line { number, .. } => Some(*number),
        _ => None,
    }
}

fn visible<'a>(tree: &'a Tree, query: &'a SearchQuery) -> impl Iterator<Item = WorkspacePath> + 'a {
    let after = query.after.as_ref().map(|path| path.relative().to_owned());
    tree.files_in_order(&query.folder)
        .into_iter()
        .filter_map(move |text| {
            let late = after.as_ref().is_none_or(|after| {
                let goes_on = query.after_line.is_some() && text == *after;
                goes_on || text.split('/').gt(after.split('/'))
            });
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
    found.iter().filter(|event| is_match(event)).count() as u64
}

fn is_match(event: &SearchEvent) -> bool {
    !matches!(
        event,
        SearchEvent::Line {
            is_match: false,
            ..
        }
    )
}

fn text_length(event: &SearchEvent) -> usize {
    match event {
        SearchEvent::Line { text, .. } => text.len(),
        SearchEvent::Path(path) | SearchEvent::Count { path, .. } => path.relative().len(),
        _ => 0,
    }
}
