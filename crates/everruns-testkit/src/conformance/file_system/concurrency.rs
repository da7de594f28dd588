use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use everruns_core::file_system::{ContentVersion, FileSystemError, Precondition, ReadRange};
use tokio::sync::Barrier;

use super::Subject;
use super::subject::path;
use crate::check::{CheckResult, Failure};

type Outcomes = Vec<(usize, Result<ContentVersion, FileSystemError>)>;

/// All writers write `file` at once under one precondition.
async fn race(
    subject: &Subject,
    round: usize,
    precondition: Precondition,
) -> Result<Outcomes, Failure> {
    let barrier = Arc::new(Barrier::new(subject.options.writers));
    let mut tasks = Vec::new();
    for writer in 0..subject.options.writers {
        let (subject, barrier) = (subject.clone(), Arc::clone(&barrier));
        tasks.push(tokio::spawn(async move {
            barrier.wait().await;
            let content = content(round, writer);
            (
                writer,
                subject
                    .write_if("file", content.as_bytes(), precondition)
                    .await,
            )
        }));
    }
    let mut outcomes = Vec::new();
    for task in tasks {
        outcomes.push(task.await?);
    }
    Ok(outcomes)
}

fn content(round: usize, writer: usize) -> String {
    format!("round {round} writer {writer} {}", "x".repeat(writer * 97))
}

/// Exactly one outcome is a success, and all others are conflicts with its version.
async fn one_won(
    subject: &Subject,
    round: usize,
    outcomes: Outcomes,
) -> Result<ContentVersion, Failure> {
    let winners: Vec<_> = outcomes
        .iter()
        .filter_map(|(writer, outcome)| outcome.as_ref().ok().map(|version| (*writer, *version)))
        .collect();
    let [(writer, won)] = winners[..] else {
        return Err(Failure::new(format!(
            "round {round} has {} winners",
            winners.len()
        )));
    };
    for (_, outcome) in outcomes.into_iter().filter(|(_, outcome)| outcome.is_err()) {
        refused!(
            outcome,
            FileSystemError::Conflict { current: Some(current), .. } if current == won,
            "a loser of round {round}"
        );
    }
    let expected = content(round, writer);
    ensure_eq!(
        subject.read("file").await?.as_ref(),
        expected.as_bytes(),
        "the winner's bytes"
    );
    Ok(won)
}

/// Proves H50 within one process
pub(super) async fn one_writer_wins_per_version(subject: Subject) -> CheckResult {
    let mut version = subject.write("file", b"start").await?;
    for round in 0..6 {
        let outcomes = race(&subject, round, Precondition::Matches(version)).await?;
        version = one_won(&subject, round, outcomes).await?;
    }
    ensure_eq!(subject.names(".").await?, ["file"], "the entries");
    Ok(())
}

pub(super) async fn one_creator_wins(subject: Subject) -> CheckResult {
    let outcomes = race(&subject, 0, Precondition::Absent).await?;
    one_won(&subject, 0, outcomes).await?;
    ensure_eq!(subject.names(".").await?, ["file"], "the entries");
    Ok(())
}

/// Proves H51a in the small
pub(super) async fn readers_see_whole_versions(subject: Subject) -> CheckResult {
    let contents = [vec![b'a'; 90_000], vec![b'b'; 150_000]];
    let allowed: BTreeSet<_> = contents
        .iter()
        .map(|bytes| ContentVersion::of(bytes))
        .collect();
    subject.write("file", &contents[0]).await?;
    let done = Arc::new(AtomicBool::new(false));
    let mut readers = Vec::new();
    for _ in 0..4 {
        let (subject, done, allowed) = (subject.clone(), Arc::clone(&done), allowed.clone());
        readers.push(tokio::spawn(async move {
            let mut reads = 0_u32;
            while reads == 0 || !done.load(Ordering::Relaxed) {
                let content = subject.fs.read(&path("file")?, ReadRange::ALL).await?;
                let actual = ContentVersion::of(content.bytes());
                ensure!(
                    allowed.contains(&actual),
                    "a torn read of {} bytes",
                    content.bytes().len()
                );
                ensure_eq!(content.version(), actual, "the version of what was read");
                ensure_eq!(
                    content.size(),
                    content.bytes().len() as u64,
                    "the size of what was read"
                );
                reads += 1;
                tokio::task::yield_now().await;
            }
            Ok::<(), Failure>(())
        }));
    }
    for round in 0..60 {
        subject.write("file", &contents[round % 2]).await?;
        tokio::task::yield_now().await;
    }
    done.store(true, Ordering::Relaxed);
    for reader in readers {
        reader.await??;
    }
    Ok(())
}

pub(super) async fn different_files_do_not_disturb_each_other(subject: Subject) -> CheckResult {
    let mut tasks = Vec::new();
    for writer in 0..subject.options.writers {
        let subject = subject.clone();
        tasks.push(tokio::spawn(async move {
            let text = format!("common/{}/file-{writer}", writer % 4);
            let mut version = subject.write_if(&text, b"0", Precondition::Absent).await?;
            for round in 1..5_u8 {
                let expected = Precondition::Matches(version);
                version = subject.write_if(&text, &[round], expected).await?;
            }
            ensure_eq!(
                subject.read(&text).await?.as_ref(),
                [4],
                "the file of writer {writer}"
            );
            Ok::<(), Failure>(())
        }));
    }
    for task in tasks {
        task.await??;
    }
    ensure_eq!(
        subject.names("common").await?,
        ["0", "1", "2", "3"],
        "the folders"
    );
    Ok(())
}
