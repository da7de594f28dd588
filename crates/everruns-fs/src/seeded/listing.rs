use std::collections::BTreeMap;

use everruns_core::file_system::{
    DirectoryEntry, DirectoryPage, FileKind, FileStat, FileSystemError, PageRequest,
};
use everruns_core::path::WorkspacePath;

use super::SeededFileSystem;
use super::seeds::folder_stat;

impl SeededFileSystem {
    /// One page of `dir`, with the seeds among what is there.
    pub(super) async fn list_with_seeds(
        &self,
        dir: &WorkspacePath,
        really: &WorkspacePath,
        request: PageRequest,
    ) -> Result<DirectoryPage, FileSystemError> {
        let limit = request.limit.max(1);
        let seeds = self.names_in(really);
        let page = match self.inner.list(dir, request.clone()).await {
            // The folder, or one above it, is there only because of the seeds.
            Err(FileSystemError::NotFound { .. }) => DirectoryPage::default(),
            other => other?,
        };
        let mut entries: BTreeMap<String, FileStat> = page
            .entries
            .into_iter()
            .map(|entry| (entry.name, entry.stat))
            .collect();
        for (name, stat) in seeds {
            let is_before = request.after.as_deref().is_some_and(|after| name <= after);
            let is_later = page.next.as_deref().is_some_and(|next| name > next);
            if is_before || is_later {
                continue;
            }
            let kept = entries.get(name).filter(|there| {
                there.kind == FileKind::Directory && stat.kind == FileKind::Directory
            });
            if kept.is_none() {
                entries.insert(name.to_owned(), stat);
            }
        }
        let has_more = page.next.is_some() || entries.len() > limit;
        let entries: Vec<DirectoryEntry> = entries
            .into_iter()
            .take(limit)
            .map(|(name, stat)| DirectoryEntry { name, stat })
            .collect();
        let next = entries
            .last()
            .filter(|_| has_more)
            .map(|last| last.name.clone());
        Ok(DirectoryPage {
            entries,
            unrepresentable: page.unrepresentable,
            next,
            hides: page.hides,
        })
    }

    /// The names in the folder `dir` that seeds bring: themselves, or a folder that leads to them.
    fn names_in(&self, dir: &WorkspacePath) -> BTreeMap<&str, FileStat> {
        let depth = dir.components().count();
        let below = self.seeds.below(dir).iter();
        below
            .filter_map(|seed| {
                let mut rest = seed.path.components().skip(depth);
                let name = rest.next()?;
                let stat = if rest.next().is_none() {
                    seed.stat()
                } else {
                    folder_stat()
                };
                Some((name, stat))
            })
            .collect()
    }
}
