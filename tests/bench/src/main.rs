//! Whole operations of everruns beside the real alternative, in the same run: `git` for heads, `std::fs` for files. What
//! happens in memory alone, criterion measures.
//!
//! Each pair is measured in turns (ours, theirs, ours, …) so that a noisy neighbour hits both. The table gives medians,
//! the spread (half the distance between the quartiles), the ratio of the medians, and, where there is one, the bar and
//! whether the medians keep it.

mod bar;
mod files;
mod flushes;
mod git;
mod heads;
mod measure;
mod memory;
mod table;
mod turns;

use std::path::PathBuf;

use clap::Parser;

/// What to measure.
#[derive(Debug, Parser)]
struct Args {
    /// How many files the repositories have
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 10_000])]
    files: Vec<usize>,
    /// A real repository, of which a clone is measured as well
    #[arg(long)]
    repository: Option<PathBuf>,
    /// How often each operation is repeated
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Where to work; may be given several times, for instance a disk and a tmpfs [default: the temporary folder]
    #[arg(long)]
    folder: Vec<PathBuf>,
    /// A PostgreSQL server, of which appends are measured as well: <postgres://user@host/database>
    #[arg(long)]
    postgres: Option<String>,
    /// Only groups whose name holds this text: heads, files, memory, turns
    #[arg(long, default_value = "")]
    only: String,
    /// Measure these handles alone, in the first folder
    #[arg(long, hide = true)]
    idle: Option<turns::Idle>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    flushes::listen()?;
    let folders = if args.folder.is_empty() {
        vec![std::env::temp_dir()]
    } else {
        args.folder.clone()
    };
    if let Some(idle) = args.idle {
        return turns::tell(idle, &folders[0]).await;
    }
    let mut table = table::Table::default();
    for folder in &folders {
        let scratch = tempfile::Builder::new()
            .prefix("everruns-bench-")
            .tempdir_in(folder)?;
        if "heads".contains(&args.only) {
            let scratch = scratch.path();
            for &files in &args.files {
                let name = format!("{files} files in {}", folder.display());
                let place = scratch.join(format!("project-{files}"));
                let project = git::Project::generated(&place, files)?;
                heads::measure(&mut table, scratch, &project, &name, args.rounds).await?;
            }
            if let Some(repository) = &args.repository {
                let project = git::Project::cloned(&scratch.join("clone"), repository)?;
                let name = format!(
                    "a real one of {} files in {}",
                    project.files.len(),
                    folder.display()
                );
                heads::measure(&mut table, scratch, &project, &name, args.rounds).await?;
            }
        }
        if "files".contains(&args.only) {
            files::measure(&mut table, scratch.path(), folder, args.rounds).await?;
        }
        if "turns".contains(&args.only) {
            let server = args.postgres.as_deref();
            turns::measure(&mut table, scratch.path(), folder, args.rounds, server).await?;
        }
    }
    if "memory".contains(&args.only) {
        memory::measure(&mut table)?;
    }
    table.print()?;
    table.check()
}
