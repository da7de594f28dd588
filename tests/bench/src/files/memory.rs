//! Files in memory: a tree of 100,000.

use std::time::{Duration, Instant};

use bytes::Bytes;
use everruns::MemoryFileSystem;
use everruns::file_system::{Precondition, ReadRange, SessionFileSystem as _};
use everruns::path::WorkspacePath;

use crate::bar::Bar;
use crate::git;
use crate::measure::Samples;
use crate::table::Table;

/// How many files the tree has.
const FILES: usize = 100_000;

/// How often one sample does an operation.
const BATCH: u32 = 1_000;

pub(crate) async fn measure(table: &mut Table, rounds: usize) -> anyhow::Result<()> {
    let files = MemoryFileSystem::new();
    let content = |number: usize| Bytes::from(vec![u8::try_from(number % 251).unwrap_or(0); 2_000]);
    let mut paths = Vec::with_capacity(FILES);
    for number in 0..FILES {
        let path = WorkspacePath::parse(&git::path(number))?;
        files
            .write(&path, content(number), Precondition::Any)
            .await?;
        paths.push(path);
    }
    let (mut read, mut write, mut fork) =
        (Samples::default(), Samples::default(), Samples::default());
    let step = FILES / usize::try_from(BATCH)?;
    for round in 0..rounds {
        let chosen = || paths.iter().skip(round % step).step_by(step);
        let begun = Instant::now();
        for path in chosen() {
            files.read(path, ReadRange::ALL).await?;
        }
        read.push(begun.elapsed() / BATCH);
        let begun = Instant::now();
        for path in chosen() {
            files.write(path, content(round), Precondition::Any).await?;
        }
        write.push(begun.elapsed() / BATCH);
        let begun = Instant::now();
        for _ in 0..BATCH {
            std::hint::black_box(files.fork());
        }
        fork.push(begun.elapsed() / BATCH);
    }
    let name = |operation: &str| format!("{operation} in memory, {FILES} files");
    let within = |micros| Bar::Time(Duration::from_micros(micros));
    table.single_with_bar(name("read of 2 KB"), &read, within(2));
    table.single_with_bar(name("write of 2 KB"), &write, within(10));
    table.single_with_bar(name("fork"), &fork, within(10));
    Ok(())
}
