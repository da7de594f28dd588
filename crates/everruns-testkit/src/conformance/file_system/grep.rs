use std::sync::Arc;

use everruns_core::file_system::{
    FileSystemError, GrepQuery, GrepShow, SearchEvent, SearchQuery, SearchTarget,
};
use everruns_core::path::WorkspacePath;

use super::Subject;
use crate::check::{CheckResult, Failure};

fn query(grep: GrepQuery) -> SearchQuery {
    SearchQuery::new(SearchTarget::Grep(grep))
}

/// The lines that a search shows: path, number, text, and whether it is a match.
async fn lines(
    subject: &Subject,
    query: SearchQuery,
) -> Result<Vec<(String, u64, String, bool)>, Failure> {
    let (events, _) = subject.find(query).await?;
    let mut lines = Vec::new();
    for event in events {
        match event {
            SearchEvent::Line {
                path,
                number,
                text,
                is_match,
                ..
            } => {
                lines.push((path.relative().to_owned(), number, text, is_match));
            }
            other => return Err(Failure::new(format!("a search for lines shows {other:?}"))),
        }
    }
    Ok(lines)
}

fn line(path: &str, number: u64, text: &str, is_match: bool) -> (String, u64, String, bool) {
    (path.to_owned(), number, text.to_owned(), is_match)
}

pub(super) async fn lines_and_numbers(subject: Subject) -> CheckResult {
    subject
        .write("b.txt", b"one\ntwo\nthree\nfour two\n")
        .await?;
    subject.write("a/a.txt", b"two without a newline").await?;
    let found = lines(&subject, query(GrepQuery::new("tw."))).await?;
    let expected = [
        line("a/a.txt", 1, "two without a newline", true),
        line("b.txt", 2, "two", true),
        line("b.txt", 4, "four two", true),
    ];
    ensure_eq!(found, expected, "the lines");
    ensure!(
        lines(&subject, query(GrepQuery::new("nowhere")))
            .await?
            .is_empty(),
        "no match"
    );
    Ok(())
}

pub(super) async fn fixed_text(subject: Subject) -> CheckResult {
    subject.write("file", b"abc\na.c\n(\n").await?;
    for (pattern, number, text) in [("a.c", 2, "a.c"), ("(", 3, "(")] {
        let mut grep = GrepQuery::new(pattern);
        grep.fixed = true;
        let found = lines(&subject, query(grep)).await?;
        ensure_eq!(
            found,
            [line("file", number, text, true)],
            "the fixed text {pattern}"
        );
    }
    Ok(())
}

pub(super) async fn ignore_case(subject: Subject) -> CheckResult {
    subject.write("file", b"Hello\nhELLO\nworld\n").await?;
    ensure!(
        lines(&subject, query(GrepQuery::new("hello")))
            .await?
            .is_empty(),
        "case is ignored"
    );
    let mut grep = GrepQuery::new("hello");
    grep.ignore_case = true;
    ensure_eq!(
        lines(&subject, query(grep)).await?.len(),
        2,
        "the lines with case ignored"
    );
    Ok(())
}

pub(super) async fn globs_narrow(subject: Subject) -> CheckResult {
    for text in ["a.rs", "b.txt", "src/c.rs", "src/d.md"] {
        subject.write(text, b"needle\n").await?;
    }
    let mut grep = GrepQuery::new("needle");
    grep.globs = vec!["*.rs".to_owned(), "src/*.md".to_owned()];
    let found: Vec<_> = lines(&subject, query(grep))
        .await?
        .into_iter()
        .map(|line| line.0)
        .collect();
    ensure_eq!(found, ["a.rs", "src/c.rs", "src/d.md"], "the files");
    Ok(())
}

pub(super) async fn context_lines(subject: Subject) -> CheckResult {
    subject.write("file", b"1\n2\n3 needle\n4\n5\n").await?;
    let mut grep = GrepQuery::new("needle");
    grep.context = 1;
    let expected = [
        line("file", 2, "2", false),
        line("file", 3, "3 needle", true),
        line("file", 4, "4", false),
    ];
    ensure_eq!(lines(&subject, query(grep)).await?, expected, "the lines");
    Ok(())
}

pub(super) async fn multiline(subject: Subject) -> CheckResult {
    subject.write("file", b"start\nend\n").await?;
    let mut grep = GrepQuery::new("start\\nend");
    grep.multiline = true;
    let found = lines(&subject, query(grep)).await?;
    ensure!(
        found.iter().any(|line| line.1 == 1 && line.3),
        "the match is not shown: {found:?}"
    );
    Ok(())
}

pub(super) async fn binary_is_passed_over(subject: Subject) -> CheckResult {
    subject.write("binary", b"needle\0\x01needle\n").await?;
    subject.write("text", b"needle\n").await?;
    let (events, summary) = subject.find(query(GrepQuery::new("needle"))).await?;
    ensure_eq!(events.len(), 1, "the lines");
    ensure_eq!(summary.binary, 1, "the files passed over as binary");
    Ok(())
}

/// Files that hold a match often, once and never, and one that is no text.
async fn some_with_matches(subject: &Subject) -> CheckResult {
    subject
        .write("a.txt", b"needle\nhay\nneedle needle\n")
        .await?;
    subject.write("b/c.txt", b"needle").await?;
    subject.write("d.txt", b"hay\n").await?;
    subject.write("e.bin", b"needle\0").await?;
    Ok(())
}

pub(super) async fn files_alone(subject: Subject) -> CheckResult {
    some_with_matches(&subject).await?;
    let mut grep = GrepQuery::new("needle");
    grep.show = GrepShow::Files;
    grep.context = 1;
    let (events, summary) = subject.find(query(grep)).await?;
    let expected: Vec<_> = ["a.txt", "b/c.txt"]
        .into_iter()
        .map(|text| Ok(SearchEvent::Path(WorkspacePath::parse(text)?)))
        .collect::<Result<_, Failure>>()?;
    ensure_eq!(events, expected, "the files");
    ensure_eq!(summary.matches, 2, "the files counted");
    Ok(())
}

pub(super) async fn counts_alone(subject: Subject) -> CheckResult {
    some_with_matches(&subject).await?;
    let mut grep = GrepQuery::new("needle");
    grep.show = GrepShow::Counts;
    let mut counts = query(grep);
    let (events, _) = subject.find(counts.clone()).await?;
    let count = |text: &str, lines| {
        let path = WorkspacePath::parse(text)?;
        Ok::<_, Failure>(SearchEvent::Count { path, lines })
    };
    let (first, second) = (count("a.txt", 2)?, count("b/c.txt", 1)?);
    ensure_eq!(events, [first.clone(), second.clone()], "the counts");
    counts.limits.matches = 1;
    let (events, summary) = subject.find(counts.clone()).await?;
    ensure_eq!(events, [first], "the first count");
    counts.after = summary.resume_after;
    ensure!(counts.after.is_some(), "it cannot be continued");
    let (events, summary) = subject.find(counts).await?;
    ensure_eq!(events, [second], "the next count");
    ensure!(summary.truncation.is_none(), "it is cut with nothing left");
    Ok(())
}

pub(super) async fn invalid_utf8_is_replaced(subject: Subject) -> CheckResult {
    subject.write("file", b"needle \xff end\n").await?;
    let found = lines(&subject, query(GrepQuery::new("needle"))).await?;
    ensure_eq!(
        found,
        [line("file", 1, "needle \u{fffd} end", true)],
        "the line"
    );
    Ok(())
}

pub(super) async fn invalid_pattern(subject: Subject) -> CheckResult {
    for pattern in ["(", "[z-a]", "*"] {
        let result = subject
            .fs
            .search(query(GrepQuery::new(pattern)))
            .await
            .map(drop);
        refused!(
            result,
            FileSystemError::InvalidPattern { .. },
            "the expression {pattern}"
        );
    }
    let mut grep = GrepQuery::new("fine");
    grep.globs = vec!["[".to_owned()];
    let result = subject.fs.search(query(grep)).await.map(drop);
    refused!(
        result,
        FileSystemError::InvalidPattern { .. },
        "the glob of a search for lines"
    );
    Ok(())
}

pub(super) async fn hidden_only_when_asked(subject: Subject) -> CheckResult {
    subject.write(".env", b"needle\n").await?;
    ensure!(
        lines(&subject, query(GrepQuery::new("needle")))
            .await?
            .is_empty(),
        "shown unasked"
    );
    let mut hidden = query(GrepQuery::new("needle"));
    hidden.hidden = true;
    ensure_eq!(
        lines(&subject, hidden).await?,
        [line(".env", 1, "needle", true)],
        "when asked"
    );
    Ok(())
}

pub(super) async fn filter_is_asked(subject: Subject) -> CheckResult {
    subject.write("closed/a", b"needle\n").await?;
    subject.write("open/a", b"needle\n").await?;
    let filtered = query(GrepQuery::new("needle"))
        .also_filter(Arc::new(|path, _| !path.relative().starts_with("closed")));
    ensure_eq!(
        lines(&subject, filtered).await?,
        [line("open/a", 1, "needle", true)],
        "the lines"
    );
    Ok(())
}

pub(super) async fn ignore_files(subject: Subject) -> CheckResult {
    if !subject.options.honours_ignore_files {
        return Ok(());
    }
    subject.write(".gitignore", b"*.log\n").await?;
    subject.write("a.log", b"needle\n").await?;
    subject.write("a.txt", b"needle\n").await?;
    let found = lines(&subject, query(GrepQuery::new("needle"))).await?;
    ensure_eq!(found, [line("a.txt", 1, "needle", true)], "the lines");
    Ok(())
}
