use everruns_core::file_system::{ContentVersion, FileKind, FileSystemError, ReadRange};

use super::Subject;
use super::subject::path;
use crate::check::CheckResult;

pub(super) async fn missing_is_not_found(subject: Subject) -> CheckResult {
    refused!(
        subject.read("nothing").await,
        FileSystemError::NotFound { .. },
        "a missing file"
    );
    refused!(
        subject.read("no/such").await,
        FileSystemError::NotFound { .. },
        "in a missing folder"
    );
    Ok(())
}

pub(super) async fn folder_is_not_a_file(subject: Subject) -> CheckResult {
    subject.fs.create_dir(&path("folder")?).await?;
    for text in ["folder", "."] {
        refused!(
            subject.read(text).await,
            FileSystemError::NotAFile {
                kind: FileKind::Directory,
                ..
            },
            "reading the folder {text}"
        );
    }
    Ok(())
}

pub(super) async fn through_a_file_is_refused(subject: Subject) -> CheckResult {
    subject.write("file", b"x").await?;
    refused!(
        subject.read("file/below").await,
        FileSystemError::NotFound { .. } | FileSystemError::NotADirectory { .. },
        "a path through a file"
    );
    Ok(())
}

pub(super) async fn ranges_are_clipped(subject: Subject) -> CheckResult {
    subject.write("digits", b"0123456789").await?;
    let cases: [(u64, Option<u64>, &[u8]); 8] = [
        (0, None, b"0123456789"),
        (0, Some(3), b"012"),
        (4, Some(2), b"45"),
        (8, Some(100), b"89"),
        (10, None, b""),
        (u64::MAX, None, b""),
        (3, Some(0), b""),
        (5, Some(u64::MAX), b"56789"),
    ];
    for (offset, length, expected) in cases {
        let range = ReadRange { offset, length };
        let content = subject.fs.read(&path("digits")?, range).await?;
        ensure_eq!(content.bytes().as_ref(), expected, "the bytes of {range:?}");
        ensure_eq!(content.size(), 10, "the size with {range:?}");
    }
    Ok(())
}

pub(super) async fn ranges_carry_the_whole_version(subject: Subject) -> CheckResult {
    let whole = vec![7_u8; 200_000];
    subject.write("file", &whole).await?;
    for (offset, length) in [(0, Some(0)), (100, Some(5)), (500_000, None)] {
        let content = subject
            .fs
            .read(&path("file")?, ReadRange { offset, length })
            .await?;
        ensure_eq!(
            content.version(),
            ContentVersion::of(&whole),
            "the version of a part"
        );
    }
    Ok(())
}

/// Where a file system says that the host finds a file, the host finds these bytes.
pub(super) async fn host_path_leads_to_the_bytes(subject: Subject) -> CheckResult {
    subject.write("folder/file", b"bytes").await?;
    if let Some(host) = subject.fs.host_path(&path("folder/file")?) {
        let found = tokio::task::spawn_blocking(move || std::fs::read(host)).await??;
        ensure_eq!(found, b"bytes", "what the host finds");
    }
    Ok(())
}
