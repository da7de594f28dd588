use bytes::Bytes;
use everruns_core::file_system::{
    ContentVersion, FileSystemError, Precondition, Removal, Replace, SearchQuery, SearchTarget,
};
use futures::StreamExt as _;

use super::Subject;
use super::subject::path;
use crate::check::{CheckResult, Failure, poll_times, settle};

/// How many polls an operation gets before it is dropped, in turn.
const POLLS: [usize; 7] = [0, 1, 2, 3, 5, 8, 20];

/// Proves H55 for writes: the old or the new bytes, no lock held, no temporary file left
pub(super) async fn dropped_write(subject: Subject) -> CheckResult {
    let file = path("file")?;
    let (old, new) = (vec![b'o'; 40_000], vec![b'n'; 60_000]);
    for polls in POLLS {
        let version = subject.write("file", &old).await?;
        let precondition = Precondition::Matches(version);
        let write = subject
            .fs
            .write(&file, Bytes::from(new.clone()), precondition);
        if let Some(Err(error)) = poll_times(write, polls).await {
            return Err(error.into());
        }
        let found = subject.read("file").await?;
        ensure!(
            found == old || found == new,
            "torn content after {polls} polls"
        );
        overwrite(&subject, format!("next {polls}").as_bytes()).await?;
        ensure_eq!(
            subject.names(".").await?,
            ["file"],
            "the entries after {polls} polls"
        );
    }
    settle().await;
    ensure_eq!(
        subject.read("file").await?.as_ref(),
        b"next 20",
        "the last bytes"
    );
    ensure_eq!(
        subject.names(".").await?,
        ["file"],
        "the entries at the end"
    );
    Ok(())
}

/// Writes over whatever is there, also when a dropped write still lands in between.
async fn overwrite(subject: &Subject, bytes: &[u8]) -> CheckResult {
    for _ in 0..20 {
        let current = ContentVersion::of(&subject.read("file").await?);
        match subject
            .write_if("file", bytes, Precondition::Matches(current))
            .await
        {
            Ok(_) => return Ok(()),
            Err(FileSystemError::Conflict { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Failure::new(
        "the file changed 20 times after one dropped write",
    ))
}

pub(super) async fn dropped_create(subject: Subject) -> CheckResult {
    for polls in POLLS {
        let text = format!("folder/new-{polls}");
        let bytes = Bytes::from_static(b"whole");
        let new = path(&text)?;
        let write = subject.fs.write(&new, bytes, Precondition::Absent);
        if let Some(Err(error)) = poll_times(write, polls).await {
            return Err(error.into());
        }
        settle().await;
        match subject.read(&text).await {
            Ok(bytes) => ensure_eq!(bytes.as_ref(), b"whole", "the bytes after {polls} polls"),
            Err(error) => refused!(
                Err::<(), _>(error),
                FileSystemError::NotFound { .. },
                "the file"
            ),
        }
        subject.write(&text, b"after").await?;
    }
    let names = subject.names("folder").await?;
    ensure!(
        names.iter().all(|name| name.starts_with("new-")),
        "left over: {names:?}"
    );
    ensure_eq!(names.len(), POLLS.len(), "the number of entries");
    Ok(())
}

pub(super) async fn dropped_rename(subject: Subject) -> CheckResult {
    for polls in POLLS {
        let (from, to) = (format!("from-{polls}"), format!("to-{polls}"));
        subject.write(&from, b"whole").await?;
        let paths = (path(&from)?, path(&to)?);
        let rename = subject.fs.rename(&paths.0, &paths.1, Replace::Never);
        if let Some(Err(error)) = poll_times(rename, polls).await {
            return Err(error.into());
        }
        settle().await;
        let there = match (subject.read(&from).await, subject.read(&to).await) {
            (Ok(bytes), Err(FileSystemError::NotFound { .. }))
            | (Err(FileSystemError::NotFound { .. }), Ok(bytes)) => bytes,
            (from, to) => {
                return Err(Failure::new(format!(
                    "after {polls} polls: {from:?} and {to:?}"
                )));
            }
        };
        ensure_eq!(there.as_ref(), b"whole", "the bytes after {polls} polls");
    }
    ensure_eq!(
        subject.names(".").await?.len(),
        POLLS.len(),
        "the number of entries"
    );
    Ok(())
}

pub(super) async fn dropped_remove(subject: Subject) -> CheckResult {
    for polls in POLLS {
        subject.write("file", b"whole").await?;
        let file = path("file")?;
        let remove = subject.fs.remove(&file, Removal::Entry, Precondition::Any);
        if let Some(Err(error)) = poll_times(remove, polls).await {
            return Err(error.into());
        }
        settle().await;
        match subject.read("file").await {
            Ok(bytes) => ensure_eq!(bytes.as_ref(), b"whole", "the bytes after {polls} polls"),
            Err(error) => refused!(
                Err::<(), _>(error),
                FileSystemError::NotFound { .. },
                "the file"
            ),
        }
    }
    Ok(())
}

/// A search that nobody reads to its end holds nothing back.
pub(super) async fn dropped_search(subject: Subject) -> CheckResult {
    for number in 0..30 {
        subject.write(&format!("f/{number}.txt"), b"text").await?;
    }
    for taken in 0..3 {
        let query = SearchQuery::new(SearchTarget::Glob {
            pattern: "*.txt".to_owned(),
        });
        let mut stream = subject.fs.search(query).await?;
        for _ in 0..taken {
            let event = stream.next().await;
            ensure!(event.is_some(), "the search ended early");
        }
        drop(stream);
        subject.write("f/0.txt", b"again").await?;
    }
    Ok(())
}
