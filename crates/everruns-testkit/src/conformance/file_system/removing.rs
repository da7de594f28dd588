use everruns_core::file_system::{FileSystemError, Precondition, Removal};

use super::Subject;
use super::subject::path;
use crate::check::CheckResult;

async fn remove(subject: &Subject, text: &str, removal: Removal) -> Result<(), FileSystemError> {
    let path = everruns_core::path::WorkspacePath::parse(text)?;
    subject.fs.remove(&path, removal, Precondition::Any).await
}

pub(super) async fn file(subject: Subject) -> CheckResult {
    subject.write("folder/file", b"x").await?;
    remove(&subject, "folder/file", Removal::Entry).await?;
    refused!(
        subject.read("folder/file").await,
        FileSystemError::NotFound { .. },
        "the file"
    );
    ensure!(
        subject.names("folder").await?.is_empty(),
        "the folder still shows it"
    );
    Ok(())
}

pub(super) async fn missing_is_not_found(subject: Subject) -> CheckResult {
    for removal in [Removal::Entry, Removal::Recursive] {
        refused!(
            remove(&subject, "nothing", removal).await,
            FileSystemError::NotFound { .. },
            "removing nothing by {removal:?}"
        );
    }
    Ok(())
}

pub(super) async fn empty_folder(subject: Subject) -> CheckResult {
    subject.fs.create_dir(&path("a/b")?).await?;
    remove(&subject, "a/b", Removal::Entry).await?;
    ensure!(
        subject.names("a").await?.is_empty(),
        "the folder is still there"
    );
    Ok(())
}

pub(super) async fn full_folder_is_refused(subject: Subject) -> CheckResult {
    subject.write("folder/file", b"x").await?;
    refused!(
        remove(&subject, "folder", Removal::Entry).await,
        FileSystemError::DirectoryNotEmpty { .. },
        "removing a full folder as one entry"
    );
    ensure_eq!(
        subject.read("folder/file").await?.as_ref(),
        b"x",
        "the file in it"
    );
    Ok(())
}

pub(super) async fn recursive(subject: Subject) -> CheckResult {
    for text in [
        "t/a",
        "t/b/c",
        "t/b/d/e",
        "t/.hidden",
        "tail",
        "t-sibling/a",
    ] {
        subject.write(text, b"x").await?;
    }
    remove(&subject, "t", Removal::Recursive).await?;
    ensure_eq!(
        subject.names(".").await?,
        ["t-sibling", "tail"],
        "what is left"
    );
    refused!(
        subject.read("t/b/d/e").await,
        FileSystemError::NotFound { .. },
        "a file in it"
    );
    Ok(())
}

pub(super) async fn recursive_on_a_file(subject: Subject) -> CheckResult {
    subject.write("file", b"x").await?;
    remove(&subject, "file", Removal::Recursive).await?;
    ensure!(
        subject.names(".").await?.is_empty(),
        "the file is still there"
    );
    Ok(())
}

pub(super) async fn top_folder_is_refused(subject: Subject) -> CheckResult {
    subject.write("file", b"x").await?;
    for removal in [Removal::Entry, Removal::Recursive] {
        refused!(
            remove(&subject, ".", removal).await,
            FileSystemError::InvalidOperation { .. },
            "removing the top folder by {removal:?}"
        );
    }
    ensure_eq!(subject.read("file").await?.as_ref(), b"x", "the file in it");
    Ok(())
}
