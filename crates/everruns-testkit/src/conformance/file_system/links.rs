use everruns_core::file_system::{
    ContentVersion, FileKind, FileSystemError, LastLink, LinkTarget, PageRequest, Precondition,
    Removal, Replace,
};
use everruns_core::path::WorkspacePath;

use super::Subject;
use super::subject::path;
use crate::check::{CheckResult, Failure};

fn target(text: &str) -> Result<LinkTarget, Failure> {
    Ok(LinkTarget::new(text.as_bytes().to_vec())?)
}

/// Makes a link at `at`.
pub(super) async fn link(
    subject: &Subject,
    at: &str,
    text: &str,
    replace: Replace,
) -> Result<(), FileSystemError> {
    let text = LinkTarget::new(text.as_bytes().to_vec()).expect("the texts of checks are sound");
    subject
        .fs
        .create_link(&WorkspacePath::parse(at)?, &text, replace)
        .await
}

async fn kind(subject: &Subject, at: &str) -> Result<FileKind, Failure> {
    Ok(subject.fs.stat(&path(at)?).await?.kind)
}

async fn says(subject: &Subject, at: &str, text: &str) -> CheckResult {
    ensure_eq!(kind(subject, at).await?, FileKind::Symlink, "what {at} is");
    let said = subject.fs.read_link(&path(at)?).await?;
    ensure_eq!(said, target(text)?, "the text of {at}");
    Ok(())
}

pub(super) async fn refused_where_there_are_none(subject: Subject) -> CheckResult {
    if subject.options.holds.links {
        return Ok(());
    }
    subject.write("file", b"x").await?;
    for (at, replace) in [
        ("link", Replace::Never),
        ("a/b/link", Replace::Never),
        ("file", Replace::File),
    ] {
        refused!(
            link(&subject, at, "file", replace).await,
            FileSystemError::Unsupported { .. },
            "a link at {at}"
        );
    }
    refused!(
        subject.fs.read_link(&path("file")?).await,
        FileSystemError::Unsupported { .. } | FileSystemError::InvalidOperation { .. },
        "the text of a file"
    );
    ensure_eq!(subject.names(".").await?, ["file"], "the entries");
    ensure_eq!(subject.read("file").await?.as_ref(), b"x", "the file");
    Ok(())
}

pub(super) async fn are_entries_of_their_own(subject: Subject) -> CheckResult {
    if !subject.options.holds.links {
        return Ok(());
    }
    subject.write("d/file", b"x").await?;
    link(&subject, "d/link", "file", Replace::Never).await?;
    says(&subject, "d/link", "file").await?;
    let page = subject.fs.list(&path("d")?, PageRequest::default()).await?;
    let listed: Vec<_> = page
        .entries
        .iter()
        .map(|entry| (entry.name.as_str(), entry.stat.kind))
        .collect();
    ensure_eq!(
        listed,
        [("file", FileKind::File), ("link", FileKind::Symlink)],
        "the entries"
    );
    Ok(())
}

pub(super) async fn missing_folders_are_made(subject: Subject) -> CheckResult {
    if !subject.options.holds.links {
        return Ok(());
    }
    subject.write("file", b"x").await?;
    link(&subject, "a/b/link", "../../file", Replace::Never).await?;
    ensure_eq!(subject.read("a/b/link").await?.as_ref(), b"x", "the bytes");
    subject.write("in/the/way", b"x").await?;
    refused!(
        link(&subject, "in/the/way/link", "x", Replace::Never).await,
        FileSystemError::NotADirectory { .. },
        "a link below a file"
    );
    Ok(())
}

pub(super) async fn lead_to_their_target(subject: Subject) -> CheckResult {
    if !subject.options.holds.links {
        return Ok(());
    }
    subject.write("d/file", b"x").await?;
    link(&subject, "file-link", "d/file", Replace::Never).await?;
    link(&subject, "d/folder-link", "../d", Replace::Never).await?;
    ensure_eq!(subject.read("file-link").await?.as_ref(), b"x", "the bytes");
    ensure_eq!(
        subject.read("d/folder-link/file").await?.as_ref(),
        b"x",
        "the bytes"
    );
    ensure_eq!(
        subject.names("d/folder-link").await?,
        ["file", "folder-link"],
        "the entries behind a link"
    );
    for (last, resolved) in [(LastLink::Follow, "d/file"), (LastLink::Keep, "file-link")] {
        ensure_eq!(
            subject.fs.resolve(&path("file-link")?, last).await?,
            path(resolved)?,
            "what the link resolves to with {last:?}"
        );
    }
    Ok(())
}

/// Proves H18: a link stays one when its target is written.
pub(super) async fn stay_links_when_their_target_is_written(subject: Subject) -> CheckResult {
    if !subject.options.holds.links {
        return Ok(());
    }
    subject.write("file", b"old").await?;
    link(&subject, "link", "file", Replace::Never).await?;
    subject.write("link", b"new").await?;
    says(&subject, "link", "file").await?;
    ensure_eq!(subject.read("file").await?.as_ref(), b"new", "the target");
    Ok(())
}

/// Proves H11: nothing is written through one that leads nowhere.
pub(super) async fn may_lead_nowhere(subject: Subject) -> CheckResult {
    if !subject.options.holds.links {
        return Ok(());
    }
    link(&subject, "link", "nothing", Replace::Never).await?;
    says(&subject, "link", "nothing").await?;
    refused!(
        subject.read("link").await,
        FileSystemError::NotFound { .. },
        "reading through a link that leads nowhere"
    );
    refused!(
        subject.write_if("link", b"x", Precondition::Any).await,
        FileSystemError::Escapes { .. },
        "writing through a link that leads nowhere"
    );
    ensure_eq!(subject.names(".").await?, ["link"], "the entries");
    Ok(())
}

pub(super) async fn an_existing_entry_is_kept(subject: Subject) -> CheckResult {
    if !subject.options.holds.links {
        return Ok(());
    }
    subject.write("file", b"x").await?;
    link(&subject, "link", "file", Replace::Never).await?;
    for at in ["file", "link", "."] {
        refused!(
            link(&subject, at, "elsewhere", Replace::Never).await,
            FileSystemError::AlreadyExists { .. },
            "a link where {at} is"
        );
    }
    says(&subject, "link", "file").await?;
    ensure_eq!(subject.names(".").await?, ["file", "link"], "the entries");
    ensure_eq!(subject.read("file").await?.as_ref(), b"x", "the file");
    Ok(())
}

pub(super) async fn a_file_is_replaced(subject: Subject) -> CheckResult {
    if !subject.options.holds.links {
        return Ok(());
    }
    subject.write("file", b"x").await?;
    subject.write("target", b"y").await?;
    link(&subject, "file", "target", Replace::File).await?;
    says(&subject, "file", "target").await?;
    link(&subject, "new", "target", Replace::File).await?;
    says(&subject, "new", "target").await?;
    ensure_eq!(
        subject.names(".").await?,
        ["file", "new", "target"],
        "the entries"
    );
    Ok(())
}

pub(super) async fn a_link_is_replaced_and_not_its_target(subject: Subject) -> CheckResult {
    if !subject.options.holds.links {
        return Ok(());
    }
    subject.write("a", b"a").await?;
    subject.write("b", b"b").await?;
    link(&subject, "link", "a", Replace::Never).await?;
    link(&subject, "link", "b", Replace::File).await?;
    says(&subject, "link", "b").await?;
    ensure_eq!(subject.read("a").await?.as_ref(), b"a", "the old target");
    ensure_eq!(subject.read("link").await?.as_ref(), b"b", "the new target");
    Ok(())
}

pub(super) async fn only_the_version_named_is_replaced(subject: Subject) -> CheckResult {
    if !subject.options.holds.links {
        return Ok(());
    }
    subject.write("file", b"now").await?;
    let stale = Replace::Matches(ContentVersion::of(b"before"));
    let now = ContentVersion::of(b"now");
    refused!(
        link(&subject, "file", "x", stale).await,
        FileSystemError::Conflict { current: Some(current), .. } if current == now,
        "a link over another version"
    );
    refused!(
        link(&subject, "nothing", "x", stale).await,
        FileSystemError::Conflict { current: None, .. },
        "a link over nothing where a version is expected"
    );
    ensure_eq!(subject.names(".").await?, ["file"], "the entries");
    ensure_eq!(subject.read("file").await?.as_ref(), b"now", "the bytes");
    link(&subject, "file", "x", Replace::Matches(now)).await?;
    says(&subject, "file", "x").await?;
    ensure_eq!(subject.names(".").await?, ["file"], "the entries");
    Ok(())
}

pub(super) async fn a_folder_is_never_replaced(subject: Subject) -> CheckResult {
    if !subject.options.holds.links {
        return Ok(());
    }
    subject.fs.create_dir(&path("folder")?).await?;
    let matches = Replace::Matches(ContentVersion::of(b""));
    for replace in [Replace::Never, Replace::File, matches] {
        refused!(
            link(&subject, "folder", "x", replace).await,
            FileSystemError::AlreadyExists { .. } | FileSystemError::NotAFile { .. },
            "a link over a folder with {replace:?}"
        );
    }
    ensure_eq!(
        kind(&subject, "folder").await?,
        FileKind::Directory,
        "what the folder is"
    );
    Ok(())
}

pub(super) async fn are_moved_and_removed_themselves(subject: Subject) -> CheckResult {
    if !subject.options.holds.links {
        return Ok(());
    }
    subject.write("file", b"x").await?;
    link(&subject, "link", "file", Replace::Never).await?;
    subject
        .fs
        .rename(&path("link")?, &path("d/moved")?, Replace::Never)
        .await?;
    says(&subject, "d/moved", "file").await?;
    link(&subject, "d/again", "../file", Replace::Never).await?;
    subject
        .fs
        .remove(&path("d/again")?, Removal::Entry, Precondition::Any)
        .await?;
    ensure_eq!(subject.names("d").await?, ["moved"], "the entries");
    ensure_eq!(subject.read("file").await?.as_ref(), b"x", "the target");
    Ok(())
}

pub(super) async fn only_links_have_a_text(subject: Subject) -> CheckResult {
    if !subject.options.holds.links {
        return Ok(());
    }
    subject.write("folder/file", b"x").await?;
    for at in ["folder/file", "folder", "."] {
        refused!(
            subject.fs.read_link(&path(at)?).await,
            FileSystemError::InvalidOperation { .. },
            "the text of {at}"
        );
    }
    refused!(
        subject.fs.read_link(&path("nothing")?).await,
        FileSystemError::NotFound { .. },
        "the text of nothing"
    );
    Ok(())
}
