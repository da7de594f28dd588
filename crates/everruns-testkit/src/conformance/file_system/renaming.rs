use everruns_core::file_system::{ContentVersion, FileSystemError, Replace};
use everruns_core::path::WorkspacePath;

use super::Subject;
use super::subject::path;
use crate::check::CheckResult;

async fn rename(
    subject: &Subject,
    from: &str,
    to: &str,
    replace: Replace,
) -> Result<(), FileSystemError> {
    let (from, to) = (WorkspacePath::parse(from)?, WorkspacePath::parse(to)?);
    subject.fs.rename(&from, &to, replace).await
}

pub(super) async fn file(subject: Subject) -> CheckResult {
    subject.write("from", b"x").await?;
    rename(&subject, "from", "to", Replace::Never).await?;
    ensure_eq!(subject.read("to").await?.as_ref(), b"x", "the bytes");
    ensure_eq!(subject.names(".").await?, ["to"], "the entries");
    Ok(())
}

pub(super) async fn folder_with_content(subject: Subject) -> CheckResult {
    subject.write("from/a/file", b"x").await?;
    subject.write("from-else/file", b"y").await?;
    rename(&subject, "from", "to", Replace::Never).await?;
    ensure_eq!(subject.read("to/a/file").await?.as_ref(), b"x", "the bytes");
    ensure_eq!(
        subject.names(".").await?,
        ["from-else", "to"],
        "the entries"
    );
    Ok(())
}

pub(super) async fn missing_is_not_found(subject: Subject) -> CheckResult {
    refused!(
        rename(&subject, "nothing", "to", Replace::File).await,
        FileSystemError::NotFound { .. },
        "moving nothing"
    );
    ensure!(subject.names(".").await?.is_empty(), "something was made");
    Ok(())
}

pub(super) async fn never_refuses_an_existing_file(subject: Subject) -> CheckResult {
    subject.write("from", b"from").await?;
    subject.write("to", b"to").await?;
    refused!(
        rename(&subject, "from", "to", Replace::Never).await,
        FileSystemError::AlreadyExists { .. },
        "moving onto a file"
    );
    ensure_eq!(subject.read("from").await?.as_ref(), b"from", "the source");
    ensure_eq!(subject.read("to").await?.as_ref(), b"to", "the destination");
    Ok(())
}

pub(super) async fn file_replaces_a_file(subject: Subject) -> CheckResult {
    subject.write("from", b"from").await?;
    subject.write("to", b"to").await?;
    rename(&subject, "from", "to", Replace::File).await?;
    ensure_eq!(subject.read("to").await?.as_ref(), b"from", "the bytes");
    ensure_eq!(subject.names(".").await?, ["to"], "the entries");
    Ok(())
}

pub(super) async fn a_version_that_matches_is_replaced(subject: Subject) -> CheckResult {
    subject.write("from", b"from").await?;
    subject.write("folder/to", b"to").await?;
    let seen = Replace::Matches(ContentVersion::of(b"to"));
    rename(&subject, "from", "folder/to", seen).await?;
    ensure_eq!(
        subject.read("folder/to").await?.as_ref(),
        b"from",
        "the bytes"
    );
    ensure_eq!(subject.names(".").await?, ["folder"], "the entries");
    ensure_eq!(
        subject.names("folder").await?,
        ["to"],
        "the folder's entries"
    );
    let own = Replace::Matches(ContentVersion::of(b"from"));
    rename(&subject, "folder/to", "folder/to", own).await?;
    ensure_eq!(
        subject.read("folder/to").await?.as_ref(),
        b"from",
        "the bytes after a move onto itself"
    );
    Ok(())
}

pub(super) async fn another_version_is_kept(subject: Subject) -> CheckResult {
    subject.write("from", b"from").await?;
    subject.write("to", b"to").await?;
    let stale = Replace::Matches(ContentVersion::of(b"before"));
    let now = ContentVersion::of(b"to");
    refused!(
        rename(&subject, "from", "to", stale).await,
        FileSystemError::Conflict { current: Some(current), .. } if current == now,
        "moving onto another version"
    );
    refused!(
        rename(&subject, "from", "nothing", stale).await,
        FileSystemError::Conflict { current: None, .. },
        "moving onto nothing where a version is expected"
    );
    ensure_eq!(subject.read("from").await?.as_ref(), b"from", "the source");
    ensure_eq!(subject.read("to").await?.as_ref(), b"to", "the destination");
    ensure_eq!(subject.names(".").await?, ["from", "to"], "the entries");
    Ok(())
}

pub(super) async fn folders_are_never_replaced(subject: Subject) -> CheckResult {
    subject.write("file", b"file").await?;
    subject.fs.create_dir(&path("empty")?).await?;
    subject.write("folder/inner", b"inner").await?;
    let pairs = [
        ("file", "empty"),
        ("folder", "empty"),
        ("folder", "file"),
        ("file", "folder"),
    ];
    let matches = Replace::Matches(ContentVersion::of(b"file"));
    for replace in [Replace::Never, Replace::File, matches] {
        for (from, to) in pairs {
            refused!(
                rename(&subject, from, to, replace).await,
                FileSystemError::AlreadyExists { .. }
                    | FileSystemError::NotAFile { .. }
                    | FileSystemError::NotADirectory { .. },
                "moving {from} onto {to} with {replace:?}"
            );
        }
    }
    ensure_eq!(
        subject.names(".").await?,
        ["empty", "file", "folder"],
        "the entries"
    );
    ensure_eq!(
        subject.read("folder/inner").await?.as_ref(),
        b"inner",
        "the folder's file"
    );
    Ok(())
}

pub(super) async fn into_itself_is_refused(subject: Subject) -> CheckResult {
    subject.write("folder/file", b"x").await?;
    for to in ["folder/inner", "folder/a/b"] {
        refused!(
            rename(&subject, "folder", to, Replace::Never).await,
            FileSystemError::InvalidOperation { .. },
            "moving a folder into itself"
        );
    }
    refused!(
        rename(&subject, ".", "elsewhere", Replace::Never).await,
        FileSystemError::InvalidOperation { .. },
        "moving the top folder"
    );
    ensure_eq!(
        subject.read("folder/file").await?.as_ref(),
        b"x",
        "the file"
    );
    ensure_eq!(subject.names("folder").await?, ["file"], "the entries");
    Ok(())
}

pub(super) async fn missing_folders_are_made(subject: Subject) -> CheckResult {
    subject.write("from", b"x").await?;
    rename(&subject, "from", "a/b/to", Replace::Never).await?;
    ensure_eq!(subject.read("a/b/to").await?.as_ref(), b"x", "the bytes");
    Ok(())
}
