//! Files through the contained file system beside `std::fs`.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use everruns::file_system::{Precondition, ReadRange, SessionFileSystem};
use everruns::path::WorkspacePath;
use everruns::{LocalGitWorkspace, Workspace};

use crate::git;
use crate::measure::Samples;
use crate::table::Table;

/// How many files one sample reads or writes.
const BATCH: usize = 200;

pub async fn measure(
    table: &mut Table,
    scratch: &Path,
    place: &Path,
    rounds: usize,
) -> anyhow::Result<()> {
    let place = place.display();
    let project = scratch.join("project-files");
    git::repository(&project, 100)?;
    let backend = Arc::new(LocalGitWorkspace::new(scratch.join("state-files"))?);
    let workspace = Workspace::open(backend, project.to_string_lossy()).await?;
    let files = workspace.head("files").create().await?.file_system();
    let plain = scratch.join("plain");
    std::fs::create_dir_all(&plain)?;
    let content = Bytes::from(vec![b'x'; 2_000]);

    let (mut write, mut plain_write) = (Samples::default(), Samples::default());
    let (mut read, mut plain_read) = (Samples::default(), Samples::default());
    for _ in 0..rounds {
        let begun = Instant::now();
        for number in 0..BATCH {
            files
                .write(&path(number)?, content.clone(), Precondition::Any)
                .await?;
        }
        write.push(each(begun));
        let begun = Instant::now();
        for number in 0..BATCH {
            durable_write(&plain, &format!("f{number}"), &content)?;
        }
        plain_write.push(each(begun));
        read.push(read_all(&files).await?);
        let begun = Instant::now();
        for number in 0..BATCH {
            std::fs::read(plain.join(format!("f{number}")))?;
        }
        plain_read.push(each(begun));
    }
    table.pair(
        format!("durable write of 2 KB, {place}"),
        &write,
        "write, fsync, rename, fsync of the folder by std::fs",
        &plain_write,
    );
    table.pair(
        format!("read of 2 KB with its version, {place}"),
        &read,
        "std::fs::read",
        &plain_read,
    );
    Ok(())
}

async fn read_all(files: &Arc<dyn SessionFileSystem>) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    for number in 0..BATCH {
        files.read(&path(number)?, ReadRange::ALL).await?;
    }
    Ok(each(begun))
}

fn each(begun: Instant) -> Duration {
    begun.elapsed() / u32::try_from(BATCH).unwrap_or(u32::MAX)
}

fn path(number: usize) -> anyhow::Result<WorkspacePath> {
    Ok(WorkspacePath::parse(&format!("bench/f{number}"))?)
}

#[expect(
    clippy::disallowed_types,
    reason = "the alternative measured is the standard library's"
)]
fn durable_write(folder: &Path, name: &str, content: &[u8]) -> anyhow::Result<()> {
    let temporary = folder.join(format!("{name}.tmp"));
    let mut file = std::fs::File::create(&temporary)?;
    file.write_all(content)?;
    file.sync_all()?;
    std::fs::rename(&temporary, folder.join(name))?;
    std::fs::File::open(folder)?.sync_all()?;
    Ok(())
}
