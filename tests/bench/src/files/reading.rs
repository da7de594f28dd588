//! Reading, looking and listing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use everruns::file_system::{PageRequest, ReadRange};

use super::stack::{FILES, IN_FOLDER, Stack};
use crate::bar::Bar;
use crate::measure::Samples;
use crate::table::Table;

/// How many tasks read at once.
const TASKS: usize = 16;

/// How many threads of the standard library read at once.
const THREADS: usize = 2;

pub(crate) async fn measure(
    table: &mut Table,
    stack: &Stack,
    place: &str,
    rounds: usize,
) -> anyhow::Result<()> {
    let (mut read, mut plain_read) = (Samples::default(), Samples::default());
    let (mut many, mut plain_many) = (Samples::default(), Samples::default());
    let (mut stat, mut plain_stat) = (Samples::default(), Samples::default());
    let (mut list, mut plain_list) = (Samples::default(), Samples::default());
    for _ in 0..rounds {
        plain_read.push(each(FILES, || read_plain(stack, 0, 1))?);
        let begun = Instant::now();
        for (path, _) in &stack.paths {
            stack.files.read(path, ReadRange::ALL).await?;
        }
        read.push(begun.elapsed() / count(FILES));
        plain_many.push(each(FILES, || {
            std::thread::scope(|scope| {
                let threads: Vec<_> = (0..THREADS)
                    .map(|thread| scope.spawn(move || read_plain(stack, thread, THREADS)))
                    .collect();
                threads.into_iter().try_for_each(|thread| {
                    thread
                        .join()
                        .map_err(|_| anyhow::anyhow!("a reader panicked"))?
                })
            })
        })?);
        many.push(read_in_tasks(stack).await?);
        plain_stat.push(each(FILES, || {
            stack.paths.iter().try_for_each(|(_, path)| {
                std::fs::metadata(path)?;
                anyhow::Ok(())
            })
        })?);
        let begun = Instant::now();
        for (path, _) in &stack.paths {
            stack.files.stat(path).await?;
        }
        stat.push(begun.elapsed() / count(FILES));
        let folders = || stack.paths.iter().step_by(IN_FOLDER);
        plain_list.push(each(FILES / IN_FOLDER, || {
            folders().try_for_each(|(_, file)| list_plain(file))
        })?);
        let begun = Instant::now();
        for (path, _) in folders() {
            let page = path.parent().map(|folder| async move {
                stack.files.list(&folder, PageRequest::default()).await
            });
            if let Some(page) = page {
                anyhow::ensure!(page.await?.entries.len() == IN_FOLDER, "a short listing");
            }
        }
        list.push(begun.elapsed() / count(FILES / IN_FOLDER));
    }
    let name = |operation: &str| format!("{operation}, {FILES} files in {place}");
    table.pair_with_bar(
        name("read, one task"),
        &read,
        "std::fs::read",
        &plain_read,
        Bar::Speed(0.35),
    );
    table.pair_with_bar(
        name("read, 16 tasks"),
        &many,
        "std::fs::read in 2 threads",
        &plain_many,
        Bar::Speed(0.8),
    );
    table.pair_with_bar(
        name("stat"),
        &stat,
        "std::fs::metadata",
        &plain_stat,
        Bar::Speed(0.35),
    );
    table.pair_with_bar(
        name("list 100 entries"),
        &list,
        "std::fs::read_dir with metadata",
        &plain_list,
        Bar::Speed(0.5),
    );
    Ok(())
}

async fn read_in_tasks(stack: &Stack) -> anyhow::Result<Duration> {
    let paths: Arc<Vec<_>> = Arc::new(stack.paths.iter().map(|(path, _)| path.clone()).collect());
    let begun = Instant::now();
    let tasks: Vec<_> = (0..TASKS)
        .map(|task| {
            let (files, paths) = (Arc::clone(&stack.files), Arc::clone(&paths));
            tokio::spawn(async move {
                for path in paths.iter().skip(task).step_by(TASKS) {
                    files.read(path, ReadRange::ALL).await?;
                }
                anyhow::Ok(())
            })
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    Ok(begun.elapsed() / count(FILES))
}

fn read_plain(stack: &Stack, first: usize, step: usize) -> anyhow::Result<()> {
    for (_, path) in stack.paths.iter().skip(first).step_by(step) {
        std::fs::read(path)?;
    }
    Ok(())
}

fn list_plain(file: &std::path::Path) -> anyhow::Result<()> {
    let mut entries = Vec::new();
    if let Some(folder) = file.parent() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            entries.push((entry.file_name(), entry.metadata()?));
        }
    }
    anyhow::ensure!(entries.len() == IN_FOLDER, "a short listing");
    Ok(())
}

fn each(operations: usize, work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    work()?;
    Ok(begun.elapsed() / count(operations))
}

fn count(operations: usize) -> u32 {
    u32::try_from(operations).unwrap_or(u32::MAX)
}
