use everruns_core::file_system::{ContentVersion, FileSystemError, Precondition, Removal};

use super::Subject;
use super::subject::path;
use crate::check::CheckResult;

pub(super) async fn absent_creates(subject: Subject) -> CheckResult {
    let version = subject
        .write_if("a/new", b"x", Precondition::Absent)
        .await?;
    ensure_eq!(version, ContentVersion::of(b"x"), "the version");
    ensure_eq!(subject.read("a/new").await?.as_ref(), b"x", "the bytes");
    Ok(())
}

pub(super) async fn absent_refuses_an_existing_file(subject: Subject) -> CheckResult {
    for content in [b"there".as_slice(), b""] {
        let there = subject.write("file", content).await?;
        refused!(
            subject.write_if("file", b"new", Precondition::Absent).await,
            FileSystemError::Conflict { current: Some(version), .. } if version == there,
            "creating an existing file of {} bytes", content.len()
        );
    }
    Ok(())
}

pub(super) async fn matches_replaces(subject: Subject) -> CheckResult {
    let first = subject.write("file", b"1").await?;
    let second = subject
        .write_if("file", b"2", Precondition::Matches(first))
        .await?;
    subject
        .write_if("file", b"3", Precondition::Matches(second))
        .await?;
    ensure_eq!(subject.read("file").await?.as_ref(), b"3", "the bytes");
    Ok(())
}

/// Proves C08
pub(super) async fn matches_refuses_another_version(subject: Subject) -> CheckResult {
    let old = subject.write("file", b"old").await?;
    let new = subject.write("file", b"new").await?;
    let expected = Precondition::Matches(old);
    let result = subject.write_if("file", b"stale", expected).await;
    match result {
        Err(FileSystemError::Conflict {
            path: at,
            expected: told,
            current,
        }) => {
            ensure_eq!(at, path("file")?, "the conflict's path");
            ensure_eq!(told, expected, "the conflict's expectation");
            ensure_eq!(current, Some(new), "the conflict's current version");
        }
        other => ensure!(false, "a stale write gave {other:?}"),
    }
    ensure_eq!(
        subject.read("file").await?.as_ref(),
        b"new",
        "the bytes after a conflict"
    );
    Ok(())
}

pub(super) async fn matches_refuses_a_missing_file(subject: Subject) -> CheckResult {
    let expected = Precondition::Matches(ContentVersion::of(b"x"));
    refused!(
        subject.write_if("missing", b"y", expected).await,
        FileSystemError::Conflict { current: None, .. },
        "replacing a missing file"
    );
    refused!(
        subject.read("missing").await,
        FileSystemError::NotFound { .. },
        "the file afterwards"
    );
    Ok(())
}

pub(super) async fn remove_honours_them(subject: Subject) -> CheckResult {
    let version = subject.write("file", b"x").await?;
    let file = path("file")?;
    let other = Precondition::Matches(ContentVersion::of(b"y"));
    for precondition in [other, Precondition::Absent] {
        refused!(
            subject.fs.remove(&file, Removal::Entry, precondition).await,
            FileSystemError::Conflict { current: Some(current), .. } if current == version,
            "removing with {precondition}"
        );
    }
    ensure_eq!(subject.read("file").await?.as_ref(), b"x", "the file");
    subject
        .fs
        .remove(&file, Removal::Entry, Precondition::Matches(version))
        .await?;
    refused!(
        subject
            .fs
            .remove(&file, Removal::Entry, Precondition::Matches(version))
            .await,
        FileSystemError::NotFound { .. } | FileSystemError::Conflict { current: None, .. },
        "removing it again"
    );
    subject.write("folder/file", b"x").await?;
    refused!(
        subject
            .fs
            .remove(
                &path("folder")?,
                Removal::Recursive,
                Precondition::Matches(version)
            )
            .await,
        FileSystemError::NotAFile { .. } | FileSystemError::Conflict { .. },
        "removing a folder with the version of a file"
    );
    ensure_eq!(
        subject.read("folder/file").await?.as_ref(),
        b"x",
        "the folder"
    );
    Ok(())
}

pub(super) async fn a_conflict_changes_nothing(subject: Subject) -> CheckResult {
    subject.write("file", b"x").await?;
    let wrong = Precondition::Matches(ContentVersion::of(b"other"));
    for (text, precondition) in [
        ("file", Precondition::Absent),
        ("file", wrong),
        ("new", wrong),
    ] {
        let result = subject.write_if(text, b"y", precondition).await;
        refused!(
            result,
            FileSystemError::Conflict { .. },
            "writing {text} with {precondition}"
        );
    }
    ensure_eq!(subject.names(".").await?, ["file"], "the entries");
    ensure_eq!(subject.read("file").await?.as_ref(), b"x", "the bytes");
    Ok(())
}
