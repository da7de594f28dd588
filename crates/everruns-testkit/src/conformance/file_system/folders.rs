use everruns_core::file_system::{FileKind, FileSystemError};

use super::Subject;
use super::subject::path;
use crate::check::CheckResult;

pub(super) async fn create_dir_makes_parents(subject: Subject) -> CheckResult {
    subject.fs.create_dir(&path("a/b/c")?).await?;
    for text in ["a", "a/b", "a/b/c"] {
        let kind = subject.fs.stat(&path(text)?).await?.kind;
        ensure_eq!(kind, FileKind::Directory, "the kind of {text}");
    }
    ensure!(
        subject.names("a/b/c").await?.is_empty(),
        "the new folder is not empty"
    );
    Ok(())
}

pub(super) async fn create_dir_is_idempotent(subject: Subject) -> CheckResult {
    subject.write("folder/file", b"x").await?;
    subject.fs.create_dir(&path("folder")?).await?;
    subject.fs.create_dir(&path(".")?).await?;
    ensure_eq!(
        subject.read("folder/file").await?.as_ref(),
        b"x",
        "what was in it"
    );
    Ok(())
}

pub(super) async fn create_dir_over_a_file_is_refused(subject: Subject) -> CheckResult {
    subject.write("file", b"x").await?;
    for text in ["file", "file/below"] {
        refused!(
            subject.fs.create_dir(&path(text)?).await,
            FileSystemError::NotADirectory { .. },
            "making the folder {text}"
        );
    }
    ensure_eq!(subject.read("file").await?.as_ref(), b"x", "the file");
    Ok(())
}

pub(super) async fn stat_tells_kind_and_size(subject: Subject) -> CheckResult {
    subject.write("folder/file", b"12345").await?;
    let file = subject.fs.stat(&path("folder/file")?).await?;
    ensure_eq!((file.kind, file.size), (FileKind::File, 5), "the file");
    ensure!(!file.executable, "a new file is executable");
    let folder = subject.fs.stat(&path("folder")?).await?;
    ensure_eq!(
        (folder.kind, folder.size),
        (FileKind::Directory, 0),
        "the folder"
    );
    Ok(())
}

pub(super) async fn stat_of_nothing_is_not_found(subject: Subject) -> CheckResult {
    refused!(
        subject.fs.stat(&path("nothing")?).await,
        FileSystemError::NotFound { .. },
        "nothing"
    );
    Ok(())
}

pub(super) async fn top_folder_is_a_folder(subject: Subject) -> CheckResult {
    ensure_eq!(
        subject.fs.stat(&path(".")?).await?.kind,
        FileKind::Directory,
        "the top folder"
    );
    Ok(())
}
