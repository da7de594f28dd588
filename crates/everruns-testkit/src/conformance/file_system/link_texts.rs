use everruns_core::file_system::{FileSystemError, LinkTarget, Replace};

use super::Subject;
use super::links::link;
use super::subject::path;
use crate::check::CheckResult;

pub(super) async fn are_kept_byte_for_byte(subject: Subject) -> CheckResult {
    if !subject.options.holds.links {
        return Ok(());
    }
    subject.write("d/file", b"x").await?;
    let texts: [&[u8]; 9] = [
        b"file",
        b"./file",
        b"..//d/./file",
        b"sub/",
        b"..",
        b"with\nline",
        "caf\u{e9}".as_bytes(),
        b"not\xffUnicode",
        b" ",
    ];
    for (number, text) in texts.iter().enumerate() {
        let at = format!("d/link{number}");
        let wanted = LinkTarget::new(text.to_vec())?;
        subject
            .fs
            .create_link(&path(&at)?, &wanted, Replace::Never)
            .await?;
        ensure_eq!(
            subject.fs.read_link(&path(&at)?).await?,
            wanted,
            "the text of {at}"
        );
    }
    Ok(())
}

/// Proves H10 for links that are made.
pub(super) async fn that_leave_the_tree_are_refused(subject: Subject) -> CheckResult {
    if !subject.options.holds.links {
        return Ok(());
    }
    for (at, text) in [
        ("link", ".."),
        ("link", "../outside"),
        ("link", "/etc/passwd"),
        ("link", "/"),
        ("new/link", "../../outside"),
        ("new/link", "a/../../../outside"),
    ] {
        refused!(
            link(&subject, at, text, Replace::Never).await,
            FileSystemError::Escapes { .. },
            "a link at {at} to {text}"
        );
    }
    ensure!(subject.names(".").await?.is_empty(), "something was made");
    // From where it really lies, this one stays inside.
    subject.write("a/b/c/file", b"x").await?;
    link(&subject, "alias", "a/b/c", Replace::Never).await?;
    link(&subject, "alias/up", "../../../a", Replace::Never).await?;
    ensure_eq!(
        subject.read("a/b/c/up/b/c/file").await?.as_ref(),
        b"x",
        "the bytes"
    );
    // And this one does not.
    subject.write("deep/er/file", b"x").await?;
    link(&subject, "deep/er/top", "../../a", Replace::Never).await?;
    refused!(
        link(&subject, "deep/er/top/out", "../../out", Replace::Never).await,
        FileSystemError::Escapes { .. },
        "a link that leaves the tree from where it really lies"
    );
    Ok(())
}

/// Proves H40 for links that are made.
pub(super) async fn that_enter_the_git_folder_are_refused(subject: Subject) -> CheckResult {
    if !subject.options.holds.links {
        return Ok(());
    }
    for text in [".git", ".git/config", "a/.GIT/x", "git~1", ".git./../a"] {
        refused!(
            link(&subject, "link", text, Replace::Never).await,
            FileSystemError::GitInternal { .. },
            "a link to {text}"
        );
    }
    ensure!(subject.names(".").await?.is_empty(), "something was made");
    Ok(())
}

/// Proves H40 for links that are made.
pub(super) async fn links_below_the_git_folder_are_refused(subject: Subject) -> CheckResult {
    if !subject.options.holds.links {
        return Ok(());
    }
    for at in [".git", ".GIT/hooks/x", "sub/.git/x"] {
        refused!(
            link(&subject, at, "file", Replace::File).await,
            FileSystemError::GitInternal { .. },
            "a link at {at}"
        );
        refused!(
            subject.fs.read_link(&path(at)?).await,
            FileSystemError::GitInternal { .. },
            "the text of {at}"
        );
    }
    Ok(())
}
