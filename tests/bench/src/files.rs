//! Files through the whole stack (seeded files, policy, mounts, the head's own files) beside `std::fs` and `rg`.

mod reading;
mod rg;
mod searching;
mod stack;
mod writing;

use std::path::Path;

use crate::table::Table;

pub(crate) async fn measure(
    table: &mut Table,
    scratch: &Path,
    place: &Path,
    rounds: usize,
) -> anyhow::Result<()> {
    let place = place.display().to_string();
    let stack = stack::Stack::new(scratch).await?;
    reading::measure(table, &stack, &place, rounds).await?;
    searching::measure(table, &stack, &place, rounds).await?;
    writing::measure(table, &stack, scratch, &place, rounds).await
}
