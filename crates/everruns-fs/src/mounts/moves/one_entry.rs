//! Whether what two paths of two mounts lead to is one entry.

use std::sync::Arc;

use everruns_core::file_system::{
    EntryIdentity, FileKind, FileSystemError, LastLink, PageRequest, ReadRange, TreeIdentity,
};
use everruns_core::path::WorkspacePath;

use super::end::End;

/// What is known of two entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entries {
    One,
    Two,
    /// A tree does not tell.
    Unknown,
}

impl End<'_> {
    async fn identity(
        &self,
        path: &WorkspacePath,
        last: LastLink,
    ) -> Result<Option<EntryIdentity>, FileSystemError> {
        let told = self.tree.files.identity(path, last).await;
        self.tree.errors(told)
    }

    /// As [`identity`](Self::identity), where `other` is in the very same tree, which therefore need not tell.
    async fn identity_in_one_tree(
        &self,
        other: &End<'_>,
        path: &WorkspacePath,
        last: LastLink,
    ) -> Result<Option<EntryIdentity>, FileSystemError> {
        let told = self.identity(path, last).await?;
        if told.is_some() || !Arc::ptr_eq(&self.tree.files, &other.tree.files) {
            return Ok(told);
        }
        let resolved = self.tree.files.resolve(path, last).await;
        Ok(Some(EntryIdentity::InTree {
            tree: TreeIdentity::of(&self.tree.files),
            path: self.tree.errors(resolved)?,
        }))
    }

    /// Whether `own` here and `theirs` in `other` are one entry; links themselves, not what they lead to.
    pub(super) async fn compare(
        &self,
        own: &WorkspacePath,
        other: &End<'_>,
        theirs: &WorkspacePath,
    ) -> Result<Entries, FileSystemError> {
        let keep = LastLink::Keep;
        let one = self.identity_in_one_tree(other, own, keep).await?;
        let two = other.identity_in_one_tree(self, theirs, keep).await?;
        Ok(match (one, two) {
            (Some(one), Some(two)) if one == two => Entries::One,
            (Some(_), Some(_)) => Entries::Two,
            _ => Entries::Unknown,
        })
    }

    /// Whether both could be one entry for all that can be seen of them.
    pub(super) async fn looks_like(&self, other: &End<'_>) -> Result<bool, FileSystemError> {
        let kinds = (
            self.stat(&self.path).await?.kind,
            other.stat(&other.path).await?.kind,
        );
        match kinds {
            (FileKind::File, FileKind::File) => {
                let content = async |end: &End<'_>| {
                    let read = end.tree.files.read(&end.path, ReadRange::ALL).await;
                    end.tree.errors(read).map(|content| content.version())
                };
                Ok(content(self).await? == content(other).await?)
            }
            (FileKind::Symlink, FileKind::Symlink) => {
                Ok(self.read_link(&self.path).await? == other.read_link(&other.path).await?)
            }
            _ => Ok(false),
        }
    }

    /// Whether the folder at this end is, or holds, the folder that `other` lies in or would be made in.
    pub(super) async fn holds(&self, other: &End<'_>) -> Result<bool, FileSystemError> {
        let Some(sought) = self.folder_around(other).await? else {
            return Ok(false);
        };
        let mut open = vec![self.path.clone()];
        while let Some(folder) = open.pop() {
            let found = self.identity_in_one_tree(other, &folder, LastLink::Keep);
            if found.await?.as_ref() == Some(&sought) {
                return Ok(true);
            }
            let mut request = PageRequest::default();
            loop {
                let page = self.tree.files.list(&folder, request.clone()).await;
                let page = self.tree.errors(page)?;
                for entry in page.entries {
                    if entry.stat.kind == FileKind::Directory {
                        open.push(folder.join(&entry.name)?);
                    }
                }
                match page.next {
                    Some(next) => request.after = Some(next),
                    None => break,
                }
            }
        }
        Ok(false)
    }

    /// The nearest folder above `other` that exists.
    async fn folder_around(
        &self,
        other: &End<'_>,
    ) -> Result<Option<EntryIdentity>, FileSystemError> {
        let mut above = other.path.parent();
        while let Some(folder) = above {
            match other
                .identity_in_one_tree(self, &folder, LastLink::Follow)
                .await
            {
                Err(FileSystemError::NotFound { .. }) => above = folder.parent(),
                other => return other,
            }
        }
        Ok(None)
    }
}
