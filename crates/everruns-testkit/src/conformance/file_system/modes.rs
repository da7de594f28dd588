use bytes::Bytes;
use everruns_core::file_system::{
    ContentVersion, FileMode, FileSystemError, Precondition, Replace,
};

use super::Subject;
use super::subject::path;
use crate::check::{CheckResult, Failure};

async fn write(
    subject: &Subject,
    at: &str,
    bytes: &'static [u8],
    mode: FileMode,
    precondition: Precondition,
) -> Result<ContentVersion, FileSystemError> {
    let at = everruns_core::path::WorkspacePath::parse(at)?;
    let bytes = Bytes::from_static(bytes);
    subject
        .fs
        .write_with_mode(&at, bytes, mode, precondition)
        .await
}

async fn is_executable(subject: &Subject, at: &str) -> Result<bool, Failure> {
    Ok(subject.fs.stat(&path(at)?).await?.executable)
}

/// A wrapper that forgets to pass this on promises nothing, and what lies above it makes nothing.
pub(super) async fn what_is_held_is_told(subject: Subject) -> CheckResult {
    for at in [".", "file", "a/b/c"] {
        ensure_eq!(
            subject.fs.supports(&path(at)?),
            subject.options.holds,
            "what {at} may be, with these options for the suite"
        );
    }
    Ok(())
}

pub(super) async fn refused_where_there_are_none(subject: Subject) -> CheckResult {
    if subject.options.holds.executables {
        return Ok(());
    }
    subject.write("file", b"old").await?;
    for at in ["file", "new"] {
        refused!(
            write(
                &subject,
                at,
                b"new",
                FileMode::Executable,
                Precondition::Any
            )
            .await,
            FileSystemError::Unsupported { .. },
            "making an executable file of {at}"
        );
    }
    write(
        &subject,
        "plain",
        b"x",
        FileMode::Kept,
        Precondition::Absent,
    )
    .await?;
    ensure_eq!(subject.read("file").await?.as_ref(), b"old", "the file");
    ensure_eq!(subject.names(".").await?, ["file", "plain"], "the entries");
    Ok(())
}

pub(super) async fn set_cleared_and_kept(subject: Subject) -> CheckResult {
    if !subject.options.holds.executables {
        return Ok(());
    }
    let steps: [(FileMode, &[u8], bool); 6] = [
        (FileMode::Executable, b"new", true),
        (FileMode::Kept, b"edited", true),
        (FileMode::Executable, b"again", true),
        (FileMode::Plain, b"plain", false),
        (FileMode::Kept, b"still plain", false),
        (FileMode::Executable, b"", true),
    ];
    for (mode, bytes, executable) in steps {
        let version = write(&subject, "a/run", bytes, mode, Precondition::Any).await?;
        ensure_eq!(version, ContentVersion::of(bytes), "the version");
        ensure_eq!(subject.read("a/run").await?.as_ref(), bytes, "the bytes");
        ensure_eq!(
            is_executable(&subject, "a/run").await?,
            executable,
            "the bit after {mode:?}"
        );
    }
    subject.write("a/run", b"by a plain write").await?;
    ensure!(
        is_executable(&subject, "a/run").await?,
        "a plain write took the bit away"
    );
    write(&subject, "new", b"x", FileMode::Kept, Precondition::Absent).await?;
    ensure!(
        !is_executable(&subject, "new").await?,
        "a new file is executable"
    );
    Ok(())
}

pub(super) async fn a_conflict_changes_no_mode(subject: Subject) -> CheckResult {
    if !subject.options.holds.executables {
        return Ok(());
    }
    subject.write("file", b"old").await?;
    let stale = Precondition::Matches(ContentVersion::of(b"before"));
    for precondition in [stale, Precondition::Absent] {
        refused!(
            write(
                &subject,
                "file",
                b"new",
                FileMode::Executable,
                precondition
            )
            .await,
            FileSystemError::Conflict { current: Some(current), .. } if current == ContentVersion::of(b"old"),
            "a write under {precondition}"
        );
        ensure!(!is_executable(&subject, "file").await?, "the bit was set");
    }
    ensure_eq!(subject.read("file").await?.as_ref(), b"old", "the bytes");
    let seen = Precondition::Matches(ContentVersion::of(b"old"));
    write(&subject, "file", b"old", FileMode::Executable, seen).await?;
    ensure!(
        is_executable(&subject, "file").await?,
        "the bit was not set with the same bytes"
    );
    Ok(())
}

pub(super) async fn moved_with_the_file(subject: Subject) -> CheckResult {
    if !subject.options.holds.executables {
        return Ok(());
    }
    write(
        &subject,
        "d/run",
        b"x",
        FileMode::Executable,
        Precondition::Absent,
    )
    .await?;
    subject.write("plain", b"y").await?;
    subject
        .fs
        .rename(&path("d")?, &path("e")?, Replace::Never)
        .await?;
    ensure!(
        is_executable(&subject, "e/run").await?,
        "a moved folder lost the bit"
    );
    subject
        .fs
        .rename(&path("e/run")?, &path("plain")?, Replace::File)
        .await?;
    ensure!(
        is_executable(&subject, "plain").await?,
        "a move onto a file lost the bit"
    );
    Ok(())
}
