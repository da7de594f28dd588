use everruns_core::file_system::{FileSystemError, LastLink};
use everruns_core::path::WorkspacePath;

use super::Subject;
use super::subject::path;
use crate::check::CheckResult;

pub(super) async fn plain_paths_are_themselves(subject: Subject) -> CheckResult {
    subject.write("folder/file", b"x").await?;
    for last in [LastLink::Follow, LastLink::Keep] {
        for text in [".", "folder", "folder/file"] {
            let asked = path(text)?;
            ensure_eq!(
                subject.fs.resolve(&asked, last).await?,
                asked,
                "{text} with {last:?}"
            );
        }
    }
    Ok(())
}

/// A rule about a path must hold before there is anything at it.
pub(super) async fn missing_paths_are_kept(subject: Subject) -> CheckResult {
    subject.fs.create_dir(&path("folder")?).await?;
    for last in [LastLink::Follow, LastLink::Keep] {
        for text in ["new", "folder/new", "no/such/folder/new"] {
            let asked = path(text)?;
            ensure_eq!(
                subject.fs.resolve(&asked, last).await?,
                asked,
                "{text} with {last:?}"
            );
        }
    }
    Ok(())
}

pub(super) async fn git_internal_is_refused(subject: Subject) -> CheckResult {
    for text in [".git", ".GIT/config", "sub/.git/x"] {
        refused!(
            subject.fs.resolve(&path(text)?, LastLink::Follow).await,
            FileSystemError::GitInternal { .. },
            "resolving {text:?}"
        );
    }
    Ok(())
}

/// A tree that tells which entries are one tells it of every entry alike.
pub(super) async fn identities_tell_entries_apart(subject: Subject) -> CheckResult {
    for text in ["one", "folder/one", "folder/two"] {
        subject.write(text, b"x").await?;
    }
    let identity = async |text: &str| {
        let at = WorkspacePath::parse(text)?;
        subject.fs.identity(&at, LastLink::Keep).await
    };
    let all = ["one", "folder", "folder/one", "folder/two"];
    if identity("one").await?.is_none() {
        return Ok(());
    }
    for (index, text) in all.iter().enumerate() {
        let own = identity(text).await?;
        ensure!(own.is_some(), "{text} has no identity");
        ensure_eq!(identity(text).await?, own, "{text} twice");
        for other in &all[..index] {
            ensure!(identity(other).await? != own, "{text} and {other} are one");
        }
    }
    refused!(
        identity("nothing").await,
        FileSystemError::NotFound { .. },
        "the identity of nothing"
    );
    refused!(
        identity(".git").await,
        FileSystemError::GitInternal { .. },
        "the identity of .git"
    );
    Ok(())
}
