use everruns_core::file_system::{ContentVersion, FileSystemError, Precondition, ReadRange};

use super::Subject;
use super::subject::path;
use crate::check::CheckResult;

pub(super) async fn reads_back(subject: Subject) -> CheckResult {
    subject.write("file.txt", b"hello\n").await?;
    ensure_eq!(
        subject.read("file.txt").await?.as_ref(),
        b"hello\n",
        "the bytes"
    );
    ensure_eq!(
        subject.read("/workspace/./file.txt").await?.as_ref(),
        b"hello\n",
        "in another spelling"
    );
    Ok(())
}

pub(super) async fn version_is_the_content_hash(subject: Subject) -> CheckResult {
    let written = subject.write("file", b"content").await?;
    ensure_eq!(
        written,
        ContentVersion::of(b"content"),
        "the version a write returns"
    );
    let read = subject
        .fs
        .read(&path("file")?, ReadRange::ALL)
        .await?
        .version();
    ensure_eq!(read, written, "the version a read returns");
    let twin = subject.write("twin", b"content").await?;
    ensure_eq!(twin, written, "the version of equal bytes");
    Ok(())
}

pub(super) async fn missing_folders_are_made(subject: Subject) -> CheckResult {
    subject.write("a/b/c/file", b"x").await?;
    ensure_eq!(
        subject.read("a/b/c/file").await?.as_ref(),
        b"x",
        "the bytes"
    );
    ensure_eq!(subject.names("a/b").await?, ["c"], "the folder made");
    Ok(())
}

pub(super) async fn replaces_the_whole_content(subject: Subject) -> CheckResult {
    for content in [
        "a long first content",
        "short",
        "",
        "and longer again than before",
    ] {
        subject.write("file", content.as_bytes()).await?;
        ensure_eq!(
            subject.read("file").await?.as_ref(),
            content.as_bytes(),
            "the bytes"
        );
    }
    ensure_eq!(subject.names(".").await?, ["file"], "the only entry");
    Ok(())
}

pub(super) async fn empty_files(subject: Subject) -> CheckResult {
    let version = subject.write("empty", b"").await?;
    ensure_eq!(version, ContentVersion::of(b""), "the version");
    let content = subject.fs.read(&path("empty")?, ReadRange::ALL).await?;
    ensure_eq!(
        (content.bytes().len(), content.size()),
        (0, 0),
        "its bytes and size"
    );
    Ok(())
}

pub(super) async fn binary_bytes(subject: Subject) -> CheckResult {
    let bytes: Vec<u8> = (0..=255).collect();
    subject.write("binary", &bytes).await?;
    ensure_eq!(
        subject.read("binary").await?.as_ref(),
        bytes,
        "all byte values"
    );
    Ok(())
}

/// Line ends, byte order marks, invalid UTF-8 and a missing final newline are nobody's business here.
pub(super) async fn text_is_kept_byte_for_byte(subject: Subject) -> CheckResult {
    for bytes in [
        b"a\r\nb\r\n".as_slice(),
        b"\xef\xbb\xbfbom",
        b"\xff\xfe\x80",
        b"no newline",
    ] {
        subject.write("file", bytes).await?;
        ensure_eq!(subject.read("file").await?.as_ref(), bytes, "the bytes");
    }
    Ok(())
}

pub(super) async fn large_content(subject: Subject) -> CheckResult {
    let bytes: Vec<u8> = (0..1_000_003_u32)
        .map(|n| n.to_le_bytes()[(n % 3) as usize])
        .collect();
    subject.write("large", &bytes).await?;
    ensure!(
        subject.read("large").await?.as_ref() == bytes,
        "a million bytes came back changed"
    );
    Ok(())
}

pub(super) async fn folder_is_refused(subject: Subject) -> CheckResult {
    subject.write("folder/file", b"x").await?;
    refused!(
        subject.write_if("folder", b"y", Precondition::Any).await,
        FileSystemError::NotAFile { .. },
        "writing a folder"
    );
    refused!(
        subject.write_if("folder", b"y", Precondition::Absent).await,
        FileSystemError::NotAFile { .. } | FileSystemError::Conflict { .. },
        "creating a file where a folder is"
    );
    ensure_eq!(
        subject.read("folder/file").await?.as_ref(),
        b"x",
        "the folder's file"
    );
    Ok(())
}

pub(super) async fn below_a_file_is_refused(subject: Subject) -> CheckResult {
    subject.write("file", b"x").await?;
    refused!(
        subject
            .write_if("file/below", b"y", Precondition::Any)
            .await,
        FileSystemError::NotADirectory { .. } | FileSystemError::NotAFile { .. },
        "writing below a file"
    );
    ensure_eq!(subject.read("file").await?.as_ref(), b"x", "the file");
    Ok(())
}

pub(super) async fn top_folder_is_refused(subject: Subject) -> CheckResult {
    refused!(
        subject.write_if(".", b"x", Precondition::Any).await,
        FileSystemError::NotAFile { .. } | FileSystemError::InvalidOperation { .. },
        "writing the top folder"
    );
    Ok(())
}

pub(super) async fn deep_paths(subject: Subject) -> CheckResult {
    let deep = format!("{}file", "d/".repeat(100));
    subject.write(&deep, b"deep").await?;
    ensure_eq!(
        subject.read(&deep).await?.as_ref(),
        b"deep",
        "a file 100 folders deep"
    );
    Ok(())
}
