use everruns_core::file_system::{
    DirectoryEntry, DirectoryPage, FileKind, FileSystemError, Hidden, LastLink, PageRequest,
};
use everruns_core::path::WorkspacePath;

use super::PolicyFileSystem;
use super::file_system::Wanted;

impl PolicyFileSystem {
    /// One page of `dir` with what may be seen; inner pages are taken until it is full.
    pub(super) async fn list_permitted(
        &self,
        dir: &WorkspacePath,
        resolved: &WorkspacePath,
        request: PageRequest,
    ) -> Result<DirectoryPage, FileSystemError> {
        let limit = request.limit.max(1);
        let mut shown = DirectoryPage::default();
        let mut inner = PageRequest {
            after: request.after,
            limit,
        };
        loop {
            let page = self.inner.list(dir, inner.clone()).await?;
            let permitted = |name: &String| matches!(dir.join(name), Ok(path) if self.policy.permits_read(&path));
            shown.hides = shown.hides.max(page.hides);
            let (seen, unseen): (Vec<_>, Vec<_>) =
                page.unrepresentable.into_iter().partition(permitted);
            shown.unrepresentable.extend(seen);
            if !unseen.is_empty() {
                shown.hides = shown.hides.max(Some(Hidden::Entries));
            }
            for entry in page.entries {
                if !self.shows(dir, resolved, &entry).await? {
                    shown.hides = shown.hides.max(Some(Hidden::Entries));
                    continue;
                }
                if shown.entries.len() == limit {
                    shown.next = shown.entries.last().map(|last| last.name.clone());
                    return Ok(shown);
                }
                shown.entries.push(entry);
            }
            match page.next {
                Some(next) => inner.after = Some(next),
                None => return Ok(shown),
            }
        }
    }

    async fn shows(
        &self,
        dir: &WorkspacePath,
        resolved: &WorkspacePath,
        entry: &DirectoryEntry,
    ) -> Result<bool, FileSystemError> {
        let path = dir.join(&entry.name)?;
        let is_folder = entry.stat.kind == FileKind::Directory;
        if !self.may_see(&path, is_folder) {
            return Ok(false);
        }
        if resolved != dir && !self.may_see(&resolved.join(&entry.name)?, is_folder) {
            return Ok(false);
        }
        if entry.stat.kind == FileKind::Symlink {
            return Ok(self.may_see_target(&path).await);
        }
        Ok(true)
    }

    /// Whether the policy shows an entry.
    pub(super) fn may_see(&self, path: &WorkspacePath, is_folder: bool) -> bool {
        if is_folder {
            self.policy.permits_list(path)
        } else {
            self.policy.permits_read(path)
        }
    }

    /// What somebody who goes to `path` wants there: to list a folder, and to read anything else. Where nothing is,
    /// there may be a folder one day.
    pub(super) async fn wanted_of(&self, path: &WorkspacePath) -> Wanted {
        let Ok(target) = self.inner.resolve(path, LastLink::Follow).await else {
            return Wanted::List;
        };
        match self.inner.stat(&target).await {
            Ok(stat) if stat.kind == FileKind::Directory => Wanted::List,
            Err(FileSystemError::NotFound { .. }) => Wanted::List,
            Ok(_) | Err(_) => Wanted::Read,
        }
    }

    /// Whether the policy shows what the link `path` leads to. Links that lead nowhere hide nothing.
    pub(super) async fn may_see_target(&self, path: &WorkspacePath) -> bool {
        match self.inner.resolve(path, LastLink::Follow).await {
            Ok(target) => match self.wanted_of(&target).await {
                Wanted::Read => self.policy.permits_read(&target),
                _ => self.policy.permits_list(&target),
            },
            Err(FileSystemError::GitInternal { .. } | FileSystemError::Denied { .. }) => false,
            Err(_) => true,
        }
    }
}
