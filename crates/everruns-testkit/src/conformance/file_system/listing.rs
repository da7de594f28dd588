use everruns_core::file_system::{FileKind, FileSystemError, PageRequest};

use super::Subject;
use super::subject::path;
use crate::check::CheckResult;

pub(super) async fn empty_top_folder(subject: Subject) -> CheckResult {
    let page = subject.fs.list(&path(".")?, PageRequest::default()).await?;
    ensure!(
        page.entries.is_empty(),
        "the fresh tree shows {:?}",
        page.entries
    );
    ensure_eq!(page.next, None, "where the next page starts");
    Ok(())
}

pub(super) async fn pages_are_sorted_and_complete(subject: Subject) -> CheckResult {
    for name in ["b", "Z", "a", "é", "a-b", "a.b", "ab", "10", "9"] {
        subject.write(&format!("folder/{name}"), b"x").await?;
    }
    let expected = ["10", "9", "Z", "a", "a-b", "a.b", "ab", "b", "é"];
    for limit in [1, 2, 4, 9, 100] {
        let (mut names, mut request) = (Vec::new(), PageRequest { after: None, limit });
        loop {
            let page = subject.fs.list(&path("folder")?, request.clone()).await?;
            ensure!(
                page.entries.len() <= limit,
                "a page of {} for {limit}",
                page.entries.len()
            );
            ensure!(
                !page.entries.is_empty(),
                "an empty page after {names:?} with limit {limit}"
            );
            names.extend(page.entries.into_iter().map(|entry| entry.name));
            ensure!(
                names.len() <= expected.len(),
                "pages of {limit} repeat names: {names:?}"
            );
            let Some(next) = page.next else { break };
            request.after = Some(next);
        }
        ensure_eq!(names, expected, "the names in pages of {limit}");
    }
    Ok(())
}

pub(super) async fn a_limit_of_zero_counts_as_one(subject: Subject) -> CheckResult {
    subject.write("a", b"x").await?;
    subject.write("b", b"x").await?;
    let page = subject
        .fs
        .list(
            &path(".")?,
            PageRequest {
                after: None,
                limit: 0,
            },
        )
        .await?;
    ensure_eq!(page.entries.len(), 1, "the entries");
    ensure!(page.next.is_some(), "the second page is not announced");
    Ok(())
}

/// A page goes on where it should even when the name it starts after was removed meanwhile.
pub(super) async fn after_a_name_that_is_gone(subject: Subject) -> CheckResult {
    subject.write("a", b"x").await?;
    subject.write("c", b"x").await?;
    let request = PageRequest {
        after: Some("b".to_owned()),
        limit: 10,
    };
    let page = subject.fs.list(&path(".")?, request).await?;
    let names: Vec<_> = page.entries.into_iter().map(|entry| entry.name).collect();
    ensure_eq!(names, ["c"], "the names after a name that is not there");
    Ok(())
}

pub(super) async fn missing_is_not_found(subject: Subject) -> CheckResult {
    let result = subject
        .fs
        .list(&path("nothing")?, PageRequest::default())
        .await;
    refused!(result, FileSystemError::NotFound { .. }, "listing nothing");
    Ok(())
}

pub(super) async fn file_is_refused(subject: Subject) -> CheckResult {
    subject.write("file", b"x").await?;
    let result = subject
        .fs
        .list(&path("file")?, PageRequest::default())
        .await;
    refused!(
        result,
        FileSystemError::NotADirectory { .. },
        "listing a file"
    );
    Ok(())
}

pub(super) async fn entries_tell_kind_and_size(subject: Subject) -> CheckResult {
    subject.write("file", b"1234").await?;
    subject.write("folder/inner", b"x").await?;
    let page = subject.fs.list(&path(".")?, PageRequest::default()).await?;
    let found: Vec<_> = page
        .entries
        .iter()
        .map(|entry| (entry.name.as_str(), entry.stat.kind, entry.stat.size))
        .collect();
    let expected = [
        ("file", FileKind::File, 4),
        ("folder", FileKind::Directory, 0),
    ];
    ensure_eq!(found, expected, "the entries");
    Ok(())
}
