//! The report, kept beside the head's record.

use everruns_core::workspace::IgnoredReport;

use crate::error::Result;
use crate::state::{HeadRecord, Layout, record};

/// Keeps `report` for the head of `head`.
pub(crate) fn save(layout: &Layout, head: &HeadRecord, report: &IgnoredReport) -> Result<()> {
    record::save(&layout.included(&head.workspace, &head.id), report)
}

/// The report for the head of `head`; an empty one if nothing was asked for.
pub(crate) fn load(layout: &Layout, head: &HeadRecord) -> Result<IgnoredReport> {
    let found = record::load(&layout.included(&head.workspace, &head.id))?;
    Ok(found.unwrap_or_default())
}
