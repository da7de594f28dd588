//! Programs that a configuration names for merges and differences.

use crate::error::{GitStep as _, Result};

/// The sections whose subsections name such programs.
const SECTIONS: [&str; 2] = ["merge", "diff"];

/// Takes all drivers for merges and differences back, so that a trusted configuration lets filters run and nothing else.
///
/// Attributes that name one then mean what they mean in Git for a driver that nobody configured: files are merged and
/// compared as text.
pub(super) fn drop_drivers(repository: &mut gix::Repository) -> Result<()> {
    let mut drivers = Vec::new();
    {
        let config = repository.config_snapshot();
        for name in SECTIONS {
            let sections = config.plumbing().sections_and_ids_by_name(name);
            for (section, id) in sections.into_iter().flatten() {
                if section.header().subsection_name().is_some() {
                    drivers.push(id);
                }
            }
        }
    }
    if drivers.is_empty() {
        return Ok(());
    }
    let mut config = repository.config_snapshot_mut();
    for id in drivers {
        config.remove_section_by_id(id);
    }
    config
        .commit()
        .git("take back drivers for merges and differences")?;
    Ok(())
}
