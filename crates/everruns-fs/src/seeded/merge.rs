use std::collections::VecDeque;

use everruns_core::file_system::{
    FileSystemError, SearchEvent, SearchQuery, SearchStream, SearchSummary, Truncation,
};
use everruns_core::path::WorkspacePath;
use futures::StreamExt as _;

use crate::search::compare_by_components;

type Event = Result<SearchEvent, FileSystemError>;

/// What the merged results may hold, the same as each of the two searches may.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    matches: usize,
    bytes: usize,
}

impl Limits {
    pub(super) fn of(query: &SearchQuery) -> Self {
        Self {
            matches: query.limits.matches,
            bytes: query.limits.bytes,
        }
    }
}

/// All that was found in one file; shown together or not at all.
#[derive(Debug)]
struct Group {
    path: WorkspacePath,
    events: Vec<SearchEvent>,
    matches: usize,
    bytes: usize,
}

/// Merges the results of the file system below with those of the seeds, in the order of results.
pub(super) struct Merge {
    below: Option<SearchStream>,
    /// A result from below that belongs to the next group.
    next: Option<SearchEvent>,
    group: Option<Group>,
    summary: Option<SearchSummary>,
    seeds: VecDeque<Group>,
    seeds_summary: SearchSummary,
    ready: VecDeque<Event>,
    left: Limits,
    shown: usize,
    last: Option<WorkspacePath>,
    truncation: Option<Truncation>,
    is_over: bool,
}

impl Merge {
    pub(super) fn new(below: Option<SearchStream>, seeds: Vec<SearchEvent>, left: Limits) -> Self {
        let mut groups: VecDeque<Group> = VecDeque::new();
        let mut seeds_summary = SearchSummary::default();
        for event in seeds {
            match (path_of(&event), event) {
                (_, SearchEvent::Summary(summary)) => seeds_summary = summary,
                (Some(path), event) => match groups.back_mut() {
                    Some(group) if group.path == path => group.push(event),
                    _ => groups.push_back(Group::of(path, event)),
                },
                (None, _) => {}
            }
        }
        Self {
            summary: below.is_none().then(SearchSummary::default),
            below,
            next: None,
            group: None,
            seeds: groups,
            seeds_summary,
            ready: VecDeque::new(),
            left,
            shown: 0,
            last: None,
            truncation: None,
            is_over: false,
        }
    }

    pub(super) fn into_stream(self) -> SearchStream {
        Box::pin(futures::stream::unfold(self, |mut merge| async move {
            let event = merge.next_event().await?;
            Some((event, merge))
        }))
    }

    async fn next_event(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if self.is_over {
                return None;
            }
            if self.group.is_none() && self.summary.is_none() {
                self.fill_group().await;
                continue;
            }
            self.advance();
        }
    }

    /// Shows the group that comes first, or ends.
    fn advance(&mut self) {
        let seed_is_first = match (&self.group, self.seeds.front()) {
            (Some(group), Some(seed)) => compare_by_components(&seed.path, &group.path).is_lt(),
            (None, Some(seed)) => self.is_covered(&seed.path),
            (_, None) => false,
        };
        let group = if seed_is_first {
            self.seeds.pop_front()
        } else {
            self.group.take()
        };
        match group {
            Some(group) => self.show(group),
            None => self.finish(),
        }
    }

    /// Whether the search below got as far as `path`.
    fn is_covered(&self, path: &WorkspacePath) -> bool {
        let Some(summary) = &self.summary else {
            return false;
        };
        match (&summary.truncation, &summary.resume_after) {
            (None, _) => true,
            (Some(_), Some(reached)) => compare_by_components(path, reached).is_le(),
            (Some(_), None) => false,
        }
    }

    fn show(&mut self, group: Group) {
        // What the seeds' own search did not reach comes with a later page.
        if self.seeds.is_empty()
            && self.seeds_summary.truncation.is_some()
            && self
                .seeds_summary
                .resume_after
                .as_ref()
                .is_none_or(|reached| compare_by_components(&group.path, reached).is_gt())
        {
            self.truncation = self.seeds_summary.truncation;
            return self.finish();
        }
        let over = if group.matches > self.left.matches {
            Some(Truncation::Matches)
        } else if group.bytes > self.left.bytes {
            Some(Truncation::Bytes)
        } else {
            None
        };
        if over.is_some() && self.shown > 0 {
            self.truncation = over;
            return self.finish();
        }
        self.left.matches = self.left.matches.saturating_sub(group.matches);
        self.left.bytes = self.left.bytes.saturating_sub(group.bytes);
        self.shown += group.matches;
        self.last = Some(group.path);
        self.ready.extend(group.events.into_iter().map(Ok));
    }

    /// Gathers the results of one file from below.
    async fn fill_group(&mut self) {
        if let Some(event) = self.next.take() {
            self.group = path_of(&event).map(|path| Group::of(path, event));
        }
        loop {
            let event = match &mut self.below {
                Some(below) => below.next().await,
                None => None,
            };
            match event {
                Some(Ok(SearchEvent::Summary(summary))) => {
                    self.summary = Some(summary);
                    return;
                }
                // A stream without a summary is over all the same.
                None => {
                    self.summary = Some(SearchSummary::default());
                    return;
                }
                Some(Err(error)) => self.ready.push_back(Err(error)),
                Some(Ok(event)) => match (path_of(&event), &mut self.group) {
                    (None, _) => self.ready.push_back(Ok(event)),
                    (Some(path), None) => self.group = Some(Group::of(path, event)),
                    (Some(path), Some(group)) if group.path == path => group.push(event),
                    (Some(_), Some(_)) => {
                        self.next = Some(event);
                        return;
                    }
                },
            }
        }
    }

    fn finish(&mut self) {
        self.is_over = true;
        // Dropping the stream stops the search below.
        self.below = None;
        let below = self.summary.take().unwrap_or_default();
        let seeds = &self.seeds_summary;
        let truncation = self.truncation.or(below.truncation).or(seeds.truncation);
        let reached = if self.truncation.is_some() {
            self.last.clone()
        } else {
            // Nothing is lost when the search goes on from the earlier of the two.
            let ends = [&below, seeds]
                .into_iter()
                .filter(|end| end.truncation.is_some());
            ends.map(|end| end.resume_after.clone())
                .min_by(|a, b| match (a, b) {
                    (Some(a), Some(b)) => compare_by_components(a, b),
                    _ => a.is_some().cmp(&b.is_some()),
                })
                .flatten()
        };
        // Whichever of the two ended in the file that was reached knows at which line.
        let line = [&below, seeds]
            .into_iter()
            .filter(|end| end.truncation.is_some() && end.resume_after == reached)
            .find_map(|end| end.resume_line);
        self.ready.push_back(Ok(SearchEvent::Summary(SearchSummary {
            files: below.files + seeds.files,
            matches: self.shown as u64,
            binary: below.binary + seeds.binary,
            too_large: below.too_large + seeds.too_large,
            too_slow: below.too_slow + seeds.too_slow,
            truncation,
            resume_after: reached,
            resume_line: line,
        })));
    }
}

impl Group {
    fn of(path: WorkspacePath, event: SearchEvent) -> Self {
        let mut group = Self {
            path,
            events: Vec::new(),
            matches: 0,
            bytes: 0,
        };
        group.push(event);
        group
    }

    fn push(&mut self, event: SearchEvent) {
        let (matches, bytes) = match &event {
            SearchEvent::Path(path) | SearchEvent::Count { path, .. } => (1, path.relative().len()),
            SearchEvent::Line { text, is_match, .. } => (usize::from(*is_match), text.len()),
            _ => (0, 0),
        };
        self.matches += matches;
        self.bytes += bytes;
        self.events.push(event);
    }
}

fn path_of(event: &SearchEvent) -> Option<WorkspacePath> {
    match event {
        SearchEvent::Path(path)
        | SearchEvent::Line { path, .. }
        | SearchEvent::Count { path, .. } => Some(path.clone()),
        _ => None,
    }
}
