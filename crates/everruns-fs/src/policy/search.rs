use std::sync::Arc;

use everruns_core::file_system::{FileSystemError, SearchQuery, SearchStream};
use everruns_core::path::WorkspacePath;

use super::PolicyFileSystem;
use crate::swap_folder::swap_folder;

impl PolicyFileSystem {
    /// Searches only what may be read. Refused folders are not entered and refused files not opened; links
    /// are not followed by any search, so what is judged is what is read.
    pub(super) async fn search_permitted(
        &self,
        query: SearchQuery,
        resolved: Option<WorkspacePath>,
    ) -> Result<SearchStream, FileSystemError> {
        let (this, folder) = (self.clone(), query.folder.clone());
        let through = resolved.filter(|resolved| *resolved != folder);
        let permitted = move |path: &WorkspacePath, is_folder: bool| {
            let really = match &through {
                None => None,
                Some(resolved) => match swap_folder(path, &folder, resolved) {
                    None => return false,
                    really => really,
                },
            };
            this.may_see(path, is_folder)
                && really.is_none_or(|path| this.may_see(&path, is_folder))
        };
        self.inner
            .search(query.also_filter(Arc::new(permitted)))
            .await
    }
}
