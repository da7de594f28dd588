//! Writing so that it lasts.

use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use bytes::Bytes;
use everruns::file_system::Precondition;
use everruns::path::WorkspacePath;

use super::stack::Stack;
use crate::bar::Bar;
use crate::measure::Samples;
use crate::table::Table;

/// How many files one sample writes.
const BATCH: usize = 200;

pub(crate) async fn measure(
    table: &mut Table,
    stack: &Stack,
    scratch: &Path,
    place: &str,
    rounds: usize,
) -> anyhow::Result<()> {
    let plain = scratch.join("plain");
    std::fs::create_dir_all(&plain)?;
    let content = Bytes::from(vec![b'x'; 2_000]);
    let (mut write, mut plain_write) = (Samples::default(), Samples::default());
    for _ in 0..rounds {
        let begun = Instant::now();
        for number in 0..BATCH {
            let path = WorkspacePath::parse(&format!("bench/f{number}"))?;
            stack
                .files
                .write(&path, content.clone(), Precondition::Any)
                .await?;
        }
        write.push(each(begun));
        let begun = Instant::now();
        for number in 0..BATCH {
            durable_write(&plain, &format!("f{number}"), &content)?;
        }
        plain_write.push(each(begun));
    }
    table.pair_with_bar(
        format!("durable write of 2 KB, {place}"),
        &write,
        "write, fsync, rename, fsync of the folder by std::fs",
        &plain_write,
        Bar::Speed(0.8),
    );
    Ok(())
}

fn each(begun: Instant) -> Duration {
    begun.elapsed() / u32::try_from(BATCH).unwrap_or(u32::MAX)
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
