use everruns_core::file_system::{FileSystemError, LastLink};

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
