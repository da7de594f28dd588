//! Files in memory: a tree of 100,000, in folders of 100, of 2 KB each.
//!
//! `everruns-bench` runs this and judges the results by the names that they have here.

use std::cell::Cell;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use criterion::Criterion;
use everruns::file_system::{Precondition, ReadRange, SessionFileSystem};
use everruns::path::WorkspacePath;
use everruns::{MemoryFileSystem, MemoryWorkspaceBackend, Workspace};
use tokio::runtime::{self, Runtime};

/// How many files the tree has.
const FILES: usize = 100_000;

/// How many files differ where that matters.
const CHANGED: usize = 10;

/// How far two files that are used one after the other are apart; prime to the number of files.
const STEP: usize = 7_919;

fn main() -> anyhow::Result<()> {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(3))
        .configure_from_args();
    let runtime = runtime::Builder::new_current_thread().build()?;
    let paths: Vec<WorkspacePath> = (0..FILES)
        .map(|number| WorkspacePath::parse(&format!("d{:04}/file{number:06}.txt", number / 100)))
        .collect::<Result<_, _>>()?;
    files(&mut criterion, &runtime, &paths)?;
    heads(&mut criterion, &runtime, &paths)?;
    criterion.final_summary();
    Ok(())
}

fn content(number: usize) -> Bytes {
    Bytes::from(vec![u8::try_from(number % 251).unwrap_or(0); 2_000])
}

async fn fill(files: &dyn SessionFileSystem, paths: &[WorkspacePath]) -> anyhow::Result<()> {
    for (number, path) in paths.iter().enumerate() {
        files
            .write(path, content(number), Precondition::Any)
            .await?;
    }
    Ok(())
}

/// The paths in an order that is not theirs, again and again.
fn spread<'a>(paths: &'a [WorkspacePath]) -> impl Fn() -> (usize, &'a WorkspacePath) {
    let at = Cell::new(0);
    move || {
        let number = (at.get() + STEP) % paths.len();
        at.set(number);
        (number, &paths[number])
    }
}

fn files(
    criterion: &mut Criterion,
    runtime: &Runtime,
    paths: &[WorkspacePath],
) -> anyhow::Result<()> {
    let files = MemoryFileSystem::new();
    runtime.block_on(fill(&files, paths))?;
    let contents: Vec<Bytes> = (0..251).map(content).collect();
    let next = spread(paths);
    let new = |number: usize| contents[number % contents.len()].clone();
    let mut group = criterion.benchmark_group("memory");
    group.bench_function("read", |bencher| {
        bencher
            .to_async(runtime)
            .iter(|| files.read(next().1, ReadRange::ALL));
    });
    // A content comes with another file each time around, so that what is written is never what is there.
    group.bench_function("write", |bencher| {
        bencher.to_async(runtime).iter(|| {
            let (number, path) = next();
            files.write(path, new(number + 1), Precondition::Any)
        });
    });
    group.bench_function("fork", |bencher| bencher.iter(|| files.fork()));
    group.bench_function("fork_and_write", |bencher| {
        bencher.to_async(runtime).iter(|| async {
            let (number, path) = next();
            let fork = files.fork();
            let written = fork.write(path, new(number + 2), Precondition::Any).await;
            black_box((fork, written))
        });
    });
    group.finish();
    Ok(())
}

/// What heads of the memory backend do with such a tree.
fn heads(
    criterion: &mut Criterion,
    runtime: &Runtime,
    paths: &[WorkspacePath],
) -> anyhow::Result<()> {
    let head = runtime.block_on(async {
        let backend = Arc::new(MemoryWorkspaceBackend::new());
        let workspace = Workspace::open(backend, "").await?;
        let first = workspace.head("first").create().await?;
        fill(first.file_system().as_ref(), paths).await?;
        let full = first.checkpoint().await?;
        let head = workspace.head("full").from_revision(full.revision);
        anyhow::Ok(head.create().await?)
    })?;
    let files = head.file_system();
    let next = spread(paths);
    runtime.block_on(async {
        for _ in 0..CHANGED {
            let (number, path) = next();
            let changed = content(number + 1);
            files.write(path, changed, Precondition::Any).await?;
        }
        let changed = head.status().await?.entries.len();
        anyhow::ensure!(changed == CHANGED, "{changed} changed files");
        anyhow::Ok(())
    })?;
    let mut group = criterion.benchmark_group("memory_head");
    group.bench_function("status_10_changed", |bencher| {
        bencher.to_async(runtime).iter(|| head.status());
    });
    // With a label of its own, each is a new record. The states come again, or they would fill the memory.
    let label = Cell::new(0_usize);
    let path = &paths[0];
    group.bench_function("checkpoint", |bencher| {
        bencher.to_async(runtime).iter_custom(|times| {
            let (head, files, label) = (&head, &files, &label);
            async move {
                let mut took = Duration::ZERO;
                for _ in 0..times {
                    label.set(label.get() + 1);
                    let (content, label) = (content(label.get()), label.get().to_string());
                    let written = files.write(path, content, Precondition::Any).await;
                    let begun = Instant::now();
                    let kept = black_box(head.checkpoint_labelled(&label).await);
                    took += begun.elapsed();
                    let both = written.is_ok() && kept.is_ok();
                    assert!(both, "the head can be written and kept");
                }
                took
            }
        });
    });
    group.finish();
    Ok(())
}
