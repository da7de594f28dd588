use everruns_core::file_system::{
    FileSystemError, PageRequest, Precondition, Removal, Replace, SearchQuery, SearchTarget,
};

use super::Subject;
use super::subject::path;
use crate::check::CheckResult;

/// Spellings that some file system takes for `.git`, at the top and below.
const SPELLINGS: [&str; 12] = [
    ".git",
    ".GIT",
    ".Git",
    ".git.",
    ".git ",
    "git~1",
    ".git::$DATA",
    ".g\u{200d}it",
    ".git/config",
    ".git/hooks/pre-commit",
    "sub/.git",
    "sub/.GIT/objects/x",
];

/// Proves H40 and H24a
pub(super) async fn reading_is_refused(subject: Subject) -> CheckResult {
    subject.write("sub/file", b"x").await?;
    for text in SPELLINGS {
        let at = path(text)?;
        refused!(
            subject.read(text).await,
            FileSystemError::GitInternal { .. },
            "reading {text:?}"
        );
        refused!(
            subject.fs.stat(&at).await,
            FileSystemError::GitInternal { .. },
            "stat of {text:?}"
        );
        refused!(
            subject.fs.list(&at, PageRequest::default()).await,
            FileSystemError::GitInternal { .. },
            "listing {text:?}"
        );
    }
    Ok(())
}

pub(super) async fn writing_is_refused(subject: Subject) -> CheckResult {
    for text in SPELLINGS {
        for precondition in [Precondition::Any, Precondition::Absent] {
            refused!(
                subject.write_if(text, b"x", precondition).await,
                FileSystemError::GitInternal { .. },
                "writing {text:?}"
            );
        }
        refused!(
            subject.fs.create_dir(&path(text)?).await,
            FileSystemError::GitInternal { .. },
            "making the folder {text:?}"
        );
    }
    ensure!(subject.names(".").await?.is_empty(), "something was made");
    Ok(())
}

pub(super) async fn removing_is_refused(subject: Subject) -> CheckResult {
    for text in SPELLINGS {
        for removal in [Removal::Entry, Removal::Recursive] {
            refused!(
                subject
                    .fs
                    .remove(&path(text)?, removal, Precondition::Any)
                    .await,
                FileSystemError::GitInternal { .. },
                "removing {text:?}"
            );
        }
    }
    Ok(())
}

pub(super) async fn renaming_is_refused(subject: Subject) -> CheckResult {
    subject.write("file", b"x").await?;
    for text in SPELLINGS {
        let (git, file) = (path(text)?, path("file")?);
        for replace in [Replace::Never, Replace::File] {
            refused!(
                subject.fs.rename(&file, &git, replace).await,
                FileSystemError::GitInternal { .. },
                "moving to {text:?}"
            );
            refused!(
                subject.fs.rename(&git, &file, replace).await,
                FileSystemError::GitInternal { .. },
                "moving from {text:?}"
            );
        }
    }
    ensure_eq!(subject.read("file").await?.as_ref(), b"x", "the file");
    Ok(())
}

pub(super) async fn searching_is_refused(subject: Subject) -> CheckResult {
    for text in [".git", "sub/.GIT"] {
        let mut query = SearchQuery::new(SearchTarget::Glob {
            pattern: "*".to_owned(),
        });
        query.folder = path(text)?;
        refused!(
            subject.fs.search(query).await.map(drop),
            FileSystemError::GitInternal { .. },
            "searching in {text:?}"
        );
    }
    Ok(())
}

/// Says something only for trees in which the maker of the subject planted a `.git`.
pub(super) async fn is_never_listed(subject: Subject) -> CheckResult {
    subject.write("file", b"x").await?;
    ensure_eq!(subject.names(".").await?, ["file"], "the entries");
    let mut query = SearchQuery::new(SearchTarget::Glob {
        pattern: "**".to_owned(),
    });
    (query.hidden, query.honour_ignores) = (true, false);
    ensure_eq!(
        subject.found_paths(query).await?,
        ["file"],
        "what a search finds"
    );
    Ok(())
}

pub(super) async fn neighbours_are_allowed(subject: Subject) -> CheckResult {
    let names = [
        ".gitattributes",
        ".github",
        ".gitignore",
        ".gitmodules",
        "a.git",
        "git",
        "git~2",
    ];
    for name in names {
        subject.write(&format!("f/{name}"), b"x").await?;
    }
    ensure_eq!(subject.names("f").await?, names, "the names");
    Ok(())
}
