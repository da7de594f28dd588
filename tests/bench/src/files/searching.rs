//! Searching for lines.

use std::time::{Duration, Instant};

use everruns::file_system::{GrepQuery, SearchEvent, SearchLimits, SearchQuery, SearchTarget};
use futures::StreamExt as _;

use super::rg;
use super::stack::{FILES, Stack};
use crate::bar::Bar;
use crate::measure::Samples;
use crate::table::Table;

/// What is searched for, and how often it is there.
const PATTERNS: [(&str, &str); 3] = [
    ("one line", "line 59 of file 7777 "),
    ("110,000 lines", "line 3"),
    ("no word, 110,000 lines", "[a-z]+ 3\\d? of"),
];

pub(crate) async fn measure(
    table: &mut Table,
    stack: &Stack,
    place: &str,
    rounds: usize,
) -> anyhow::Result<()> {
    for (name, pattern) in PATTERNS {
        let (mut ours, mut theirs) = (Samples::default(), Samples::default());
        for _ in 0..rounds {
            let begun = Instant::now();
            let expected = rg::lines(&stack.folder, pattern)?;
            theirs.push(begun.elapsed());
            let begun = Instant::now();
            let found = lines(stack, pattern).await?;
            ours.push(begun.elapsed());
            anyhow::ensure!(found == expected, "{found} lines, and rg finds {expected}");
        }
        table.pair_with_bar(
            format!("grep, {name}, {FILES} files in {place}"),
            &ours,
            "rg --threads=2",
            &theirs,
            Bar::Ratio(1.2),
        );
    }
    Ok(())
}

async fn lines(stack: &Stack, pattern: &str) -> anyhow::Result<usize> {
    let mut query = SearchQuery::new(SearchTarget::Grep(GrepQuery::new(pattern)));
    query.limits = SearchLimits {
        matches: usize::MAX,
        bytes: usize::MAX,
        time: Duration::from_mins(1),
        ..SearchLimits::default()
    };
    let mut found = 0;
    let mut events = stack.files.search(query).await?;
    while let Some(event) = events.next().await {
        match event? {
            SearchEvent::Line { .. } => found += 1,
            SearchEvent::Summary(summary) => {
                anyhow::ensure!(summary.truncation.is_none(), "the search was cut");
            }
            _ => {}
        }
    }
    Ok(found)
}
