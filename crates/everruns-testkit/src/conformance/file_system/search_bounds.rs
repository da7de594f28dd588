use everruns_core::file_system::{GrepQuery, SearchEvent, SearchQuery, SearchTarget, Truncation};

use super::Subject;
use super::subject::event_path;
use crate::check::{CheckResult, Failure};

fn glob(pattern: &str) -> SearchQuery {
    SearchQuery::new(SearchTarget::Glob {
        pattern: pattern.to_owned(),
    })
}

fn grep(pattern: &str) -> SearchQuery {
    SearchQuery::new(SearchTarget::Grep(GrepQuery::new(pattern)))
}

async fn plant(subject: &Subject) -> Result<Vec<String>, Failure> {
    let names = ["a/1", "a/2", "b/1", "c", "d/e/f"];
    for name in names {
        subject.write(name, b"needle\n").await?;
    }
    Ok(names.map(str::to_owned).to_vec())
}

pub(super) async fn ends_with_one_summary(subject: Subject) -> CheckResult {
    let (events, summary) = subject.find(glob("*")).await?;
    ensure!(events.is_empty(), "an empty tree shows {events:?}");
    ensure_eq!(
        (summary.matches, summary.truncation),
        (0, None),
        "its summary"
    );
    plant(&subject).await?;
    for query in [glob("*"), grep("needle")] {
        let (events, summary) = subject.find(query).await?;
        ensure_eq!(events.len(), 5, "the events");
        ensure_eq!(summary.matches, 5, "the matches of the summary");
        ensure_eq!(summary.truncation, None, "the truncation");
        ensure_eq!(summary.resume_after, None, "where to continue");
    }
    Ok(())
}

/// Pages through `query`, two matches at a time, and shows every path once.
async fn page_through(subject: &Subject, mut query: SearchQuery) -> CheckResult {
    let expected = plant(subject).await?;
    query.limits.matches = 2;
    let mut found = Vec::new();
    for _ in 0..=expected.len() {
        let (events, summary) = subject.find(query.clone()).await?;
        ensure!(
            events.len() <= 2,
            "{} events with a limit of 2",
            events.len()
        );
        found.extend(events.iter().filter_map(event_path));
        if summary.truncation.is_none() {
            ensure_eq!(found, expected, "what all pages show");
            return Ok(());
        }
        ensure_eq!(
            summary.truncation,
            Some(Truncation::Matches),
            "the truncation"
        );
        ensure!(
            summary.resume_after.is_some(),
            "a truncated search says not where to continue"
        );
        query.after = summary.resume_after;
    }
    Err(Failure::new(format!(
        "the search does not end; so far {found:?}"
    )))
}

pub(super) async fn match_limit_is_continuable(subject: Subject) -> CheckResult {
    page_through(&subject, glob("*")).await
}

pub(super) async fn grep_is_continuable(subject: Subject) -> CheckResult {
    page_through(&subject, grep("needle")).await
}

/// However small the pages, each line of a file that does not fit into one is shown once.
pub(super) async fn a_file_with_too_many_lines_is_continuable(subject: Subject) -> CheckResult {
    subject.write("a", b"needle\n").await?;
    subject
        .write("b", "needle\nhay\n".repeat(25).as_bytes())
        .await?;
    subject.write("c", b"needle\n").await?;
    let mut lines = GrepQuery::new("needle");
    lines.context = 1;
    let mut query = SearchQuery::new(SearchTarget::Grep(lines));
    let (expected, _) = subject.find(query.clone()).await?;
    query.limits.matches = 4;
    let mut found = Vec::new();
    for _ in 0..=expected.len() {
        let (events, summary) = subject.find(query.clone()).await?;
        found.extend(events);
        if summary.truncation.is_none() {
            ensure_eq!(found, expected, "what all pages show");
            return Ok(());
        }
        (query.after, query.after_line) = (summary.resume_after, summary.resume_line);
    }
    Err(Failure::new(format!(
        "the search does not end; so far {} lines",
        found.len()
    )))
}

pub(super) async fn long_lines_are_cut(subject: Subject) -> CheckResult {
    let long = format!("needle {}\n", "é".repeat(5_000));
    subject.write("long", long.as_bytes()).await?;
    let mut query = grep("needle");
    query.limits.line_bytes = 100;
    let (events, _) = subject.find(query).await?;
    let [SearchEvent::Line { text, left_out, .. }] = &events[..] else {
        return Err(Failure::new(format!("expected one line, found {events:?}")));
    };
    ensure!(
        text.len() <= 110,
        "a line of {} bytes with a limit of 100",
        text.len()
    );
    ensure!(
        text.starts_with("needle é"),
        "the line begins with {text:.20}"
    );
    let left = (long.len() - 1 - text.len()) as u64;
    ensure_eq!(left_out, &[0, left], "what is left out");
    Ok(())
}

pub(super) async fn a_match_far_in_a_long_line_is_shown(subject: Subject) -> CheckResult {
    let long = format!("{}needle{}\n", "é".repeat(1_000), "ü".repeat(1_000));
    subject.write("long", long.as_bytes()).await?;
    let mut query = grep("needle");
    query.limits.line_bytes = 100;
    let (events, _) = subject.find(query).await?;
    let [
        SearchEvent::Line {
            text,
            left_out: [before, after],
            ..
        },
    ] = &events[..]
    else {
        return Err(Failure::new(format!("expected one line, found {events:?}")));
    };
    ensure!(
        text.contains("needle") && text.len() <= 110,
        "it shows {text}"
    );
    ensure_eq!(
        before + after + text.len() as u64,
        (long.len() - 1) as u64,
        "what is shown and what is left out"
    );
    Ok(())
}

pub(super) async fn large_files_are_passed_over(subject: Subject) -> CheckResult {
    subject
        .write("large", "needle\n".repeat(100).as_bytes())
        .await?;
    subject.write("small", b"needle\n").await?;
    let mut query = grep("needle");
    query.limits.file_bytes = 100;
    let (events, summary) = subject.find(query).await?;
    ensure_eq!(events.len(), 1, "the lines");
    ensure_eq!(summary.too_large, 1, "the files passed over as too large");
    Ok(())
}

pub(super) async fn byte_limit_truncates(subject: Subject) -> CheckResult {
    for number in 0..20 {
        let text = format!("needle {}\n", "x".repeat(90));
        subject
            .write(&format!("f/{number:02}"), text.as_bytes())
            .await?;
    }
    let mut query = grep("needle");
    query.limits.bytes = 500;
    let (events, summary) = subject.find(query).await?;
    ensure_eq!(
        summary.truncation,
        Some(Truncation::Bytes),
        "the truncation"
    );
    ensure!(
        summary.resume_after.is_some(),
        "a truncated search says not where to continue"
    );
    ensure!(
        (1..=7).contains(&events.len()),
        "{} lines within 500 bytes",
        events.len()
    );
    Ok(())
}
