use std::sync::Arc;

use everruns_core::file_system::{FileSystemError, SearchQuery, SearchTarget};

use super::Subject;
use super::subject::path;
use crate::check::{CheckResult, Failure};

fn query(pattern: &str) -> SearchQuery {
    SearchQuery::new(SearchTarget::Glob {
        pattern: pattern.to_owned(),
    })
}

async fn plant(subject: &Subject) -> CheckResult {
    for text in ["a.rs", "src/b.rs", "src/deep/c.rs", "src/d.txt", "z.rs"] {
        subject.write(text, b"x").await?;
    }
    Ok(())
}

async fn found(subject: &Subject, pattern: &str) -> Result<Vec<String>, Failure> {
    subject.found_paths(query(pattern)).await
}

pub(super) async fn names_at_any_depth(subject: Subject) -> CheckResult {
    plant(&subject).await?;
    let all = ["a.rs", "src/b.rs", "src/deep/c.rs", "z.rs"];
    ensure_eq!(
        found(&subject, "*.rs").await?,
        all,
        "a glob without a slash"
    );
    ensure_eq!(
        found(&subject, "c.rs").await?,
        ["src/deep/c.rs"],
        "a plain name"
    );
    ensure_eq!(
        found(&subject, "*.{txt,md}").await?,
        ["src/d.txt"],
        "alternatives"
    );
    ensure!(
        found(&subject, "*.none").await?.is_empty(),
        "a glob that matches nothing"
    );
    Ok(())
}

pub(super) async fn slashes_are_literal(subject: Subject) -> CheckResult {
    plant(&subject).await?;
    ensure_eq!(found(&subject, "src/*.rs").await?, ["src/b.rs"], "one star");
    let both = ["src/b.rs", "src/deep/c.rs"];
    ensure_eq!(found(&subject, "src/**/*.rs").await?, both, "two stars");
    Ok(())
}

pub(super) async fn relative_to_the_folder(subject: Subject) -> CheckResult {
    plant(&subject).await?;
    let mut inner = query("deep/*.rs");
    inner.folder = path("src")?;
    ensure_eq!(
        subject.found_paths(inner).await?,
        ["src/deep/c.rs"],
        "a glob below a folder"
    );
    let mut all = query("*.rs");
    all.folder = path("src")?;
    let expected = ["src/b.rs", "src/deep/c.rs"];
    ensure_eq!(
        subject.found_paths(all).await?,
        expected,
        "a name below a folder"
    );
    Ok(())
}

/// The order is that of components, so that `a/x` comes before `a-b`.
pub(super) async fn results_are_in_order(subject: Subject) -> CheckResult {
    for text in ["b", "a-b/x", "a/x", "a/y/z", "a.b", "é", "Z"] {
        subject.write(text, b"x").await?;
    }
    let expected = ["Z", "a/x", "a/y/z", "a-b/x", "a.b", "b", "é"];
    ensure_eq!(found(&subject, "**").await?, expected, "the order");
    Ok(())
}

pub(super) async fn hidden_only_when_asked(subject: Subject) -> CheckResult {
    for text in [".dot.rs", ".folder/in.rs", "a.rs"] {
        subject.write(text, b"x").await?;
    }
    ensure_eq!(
        found(&subject, "*.rs").await?,
        ["a.rs"],
        "without hidden names"
    );
    let mut hidden = query("*.rs");
    hidden.hidden = true;
    let all = [".dot.rs", ".folder/in.rs", "a.rs"];
    ensure_eq!(subject.found_paths(hidden).await?, all, "with hidden names");
    Ok(())
}

pub(super) async fn filter_is_asked(subject: Subject) -> CheckResult {
    plant(&subject).await?;
    let refused = query("*.rs").also_filter(Arc::new(|path, is_folder| {
        !(is_folder && path.relative() == "src/deep") && path.relative() != "z.rs"
    }));
    ensure_eq!(
        subject.found_paths(refused).await?,
        ["a.rs", "src/b.rs"],
        "what the filter allows"
    );
    Ok(())
}

pub(super) async fn ignore_files(subject: Subject) -> CheckResult {
    if !subject.options.honours_ignore_files {
        return Ok(());
    }
    subject.write(".gitignore", b"*.log\nbuild/\n").await?;
    subject.write("src/.gitignore", b"local.txt\n").await?;
    for text in [
        "a.log",
        "a.txt",
        "build/b.txt",
        "src/local.txt",
        "src/c.txt",
    ] {
        subject.write(text, b"x").await?;
    }
    let kept = ["a.txt", "src/c.txt"];
    ensure_eq!(
        found(&subject, "**").await?,
        kept,
        "with ignore files honoured"
    );
    let mut all = query("**");
    all.honour_ignores = false;
    let expected = [
        "a.log",
        "a.txt",
        "build/b.txt",
        "src/c.txt",
        "src/local.txt",
    ];
    ensure_eq!(
        subject.found_paths(all).await?,
        expected,
        "with ignore files passed over"
    );
    Ok(())
}

pub(super) async fn invalid_pattern(subject: Subject) -> CheckResult {
    for pattern in ["[", "{a", "a[b"] {
        refused!(
            subject.fs.search(query(pattern)).await.map(drop),
            FileSystemError::InvalidPattern { .. },
            "the glob {pattern}"
        );
    }
    Ok(())
}

pub(super) async fn missing_folder(subject: Subject) -> CheckResult {
    subject.write("file", b"x").await?;
    let mut missing = query("*");
    missing.folder = path("nothing")?;
    let result = subject.fs.search(missing).await.map(drop);
    refused!(
        result,
        FileSystemError::NotFound { .. },
        "searching in nothing"
    );
    let mut file = query("*");
    file.folder = path("file")?;
    let result = subject.fs.search(file).await.map(drop);
    refused!(
        result,
        FileSystemError::NotADirectory { .. },
        "searching in a file"
    );
    Ok(())
}
