use std::sync::Arc;
use std::thread;

use everruns_core::file_system::{FileKind, FileSystemError};
use everruns_core::path::WorkspacePath;

use super::ahead::{Ahead, Item, Shared};
use super::collector::Collector;
use super::compile::CompiledSearch;
use super::rules::{IGNORE_FILES, IgnoreRules, MAX_IGNORE_FILE_BYTES};
use super::source::{SearchSource, SourceEntry, SourceFile};

/// Walks `folder`, which is open at the query's folder, and gives what it finds to `collector`.
pub(super) fn walk<S: SearchSource>(
    source: &S,
    search: &CompiledSearch,
    folder: S::Folder,
    collector: &mut Collector<'_>,
) {
    let shared = Shared::new();
    thread::scope(|scope| {
        let ahead = search
            .looker()
            .map(|looker| looker.until(collector.watch().clone()))
            .map(|looker| Ahead::new(scope, &shared, source, search, looker));
        let mut walk = Walk {
            source,
            search,
            rules: IgnoreRules::default(),
            ahead,
        };
        let at = search.query().folder.clone();
        if search.query().honour_ignores {
            walk.push_rules_above(&at, collector);
        }
        walk.folder(&Arc::new(folder), &at, collector);
        if let Some(ahead) = walk.ahead.take() {
            ahead.finish(collector);
        }
    });
}

struct Walk<'scope, 'env, S: SearchSource> {
    source: &'env S,
    search: &'env CompiledSearch,
    rules: IgnoreRules,
    /// Looks into the files; `None` when their paths alone are asked for.
    ahead: Option<Ahead<'scope, 'env, S>>,
}

impl<S: SearchSource> Walk<'_, '_, S> {
    /// Searches one folder; its depth is bounded because every path below is a [`WorkspacePath`].
    fn folder(
        &mut self,
        folder: &Arc<S::Folder>,
        at: &WorkspacePath,
        collector: &mut Collector<'_>,
    ) {
        let entries = match self.source.entries(folder, at) {
            Ok(entries) => entries,
            Err(error) => return collector.report(error),
        };
        let honour_ignores = self.search.query().honour_ignores;
        if honour_ignores {
            let contents = self.ignore_files(folder, at, &entries, collector);
            self.rules.push(at, &contents);
        }
        for entry in entries {
            if collector.is_over() {
                break;
            }
            // A path longer or deeper than the namespace allows cannot be named in a result.
            let Ok(path) = at.join(&entry.name) else {
                continue;
            };
            let is_folder = entry.kind == FileKind::Directory;
            if self.is_wanted(&path, &entry) {
                if is_folder {
                    self.subfolder(folder, &entry.name, &path, collector);
                } else {
                    self.file(folder, entry.name, path, collector);
                }
            } else if !is_folder
                && self.is_new(&path, false)
                && self.search.query().allows(&path, false)
            {
                self.pass_over(path, collector);
            }
        }
        if honour_ignores {
            self.rules.pop();
        }
    }

    fn is_wanted(&self, path: &WorkspacePath, entry: &SourceEntry) -> bool {
        let query = self.search.query();
        let is_folder = entry.kind == FileKind::Directory;
        if !is_folder && entry.kind != FileKind::File {
            return false;
        }
        if !query.hidden && entry.name.starts_with('.') {
            return false;
        }
        self.is_new(path, is_folder)
            && (is_folder || self.search.matches_path(path))
            && !self.rules.leaves_out(path, is_folder)
            && query.allows(path, is_folder)
    }

    /// Whether an earlier search did not come this far. A folder above the path to continue after still has
    /// entries to show.
    fn is_new(&self, path: &WorkspacePath, is_folder: bool) -> bool {
        let after = self.search.query().after.as_ref();
        self.search.is_left(path)
            || (is_folder && after.is_some_and(|after| after.starts_with(path)))
    }

    fn subfolder(
        &mut self,
        folder: &S::Folder,
        name: &str,
        path: &WorkspacePath,
        collector: &mut Collector<'_>,
    ) {
        match self.source.enter(folder, name, path) {
            Ok(Some(below)) => self.folder(&Arc::new(below), path, collector),
            Ok(None) => {}
            Err(error) => collector.report(error),
        }
    }

    fn file(
        &mut self,
        folder: &Arc<S::Folder>,
        name: String,
        path: WorkspacePath,
        collector: &mut Collector<'_>,
    ) {
        if let Some(ahead) = &mut self.ahead {
            let folder = Arc::clone(folder);
            ahead.take(Item::File { folder, name, path }, collector);
        } else {
            collector.count_file();
            collector.add_path(&path);
        }
    }

    fn pass_over(&mut self, path: WorkspacePath, collector: &mut Collector<'_>) {
        match &mut self.ahead {
            Some(ahead) => ahead.take(Item::PassedOver { path }, collector),
            None => collector.pass_over(&path),
        }
    }

    /// Rules of the folders above the searched one hold in it, too.
    fn push_rules_above(&mut self, at: &WorkspacePath, collector: &mut Collector<'_>) {
        let mut above = Vec::new();
        let mut folder = at.parent();
        while let Some(path) = folder {
            folder = path.parent();
            above.push(path);
        }
        for path in above.into_iter().rev() {
            let entries = IGNORE_FILES.map(|name| SourceEntry {
                name: name.to_owned(),
                kind: FileKind::File,
            });
            match self.source.open(&path) {
                Ok(open) => {
                    let contents = self.ignore_files(&open, &path, &entries, collector);
                    self.rules.push(&path, &contents);
                }
                Err(error) => collector.report(error),
            }
        }
    }

    fn ignore_files(
        &self,
        folder: &S::Folder,
        at: &WorkspacePath,
        entries: &[SourceEntry],
        collector: &mut Collector<'_>,
    ) -> [Vec<u8>; 2] {
        IGNORE_FILES.map(|name| {
            let is_there = entries
                .iter()
                .any(|entry| entry.name == name && entry.kind == FileKind::File);
            if !is_there {
                return Vec::new();
            }
            match self.read_rules(folder, name, at) {
                Ok(bytes) => bytes,
                Err(error) => {
                    collector.report(error);
                    Vec::new()
                }
            }
        })
    }

    fn read_rules(
        &self,
        folder: &S::Folder,
        name: &str,
        at: &WorkspacePath,
    ) -> Result<Vec<u8>, FileSystemError> {
        let path = at.join(name)?;
        match self
            .source
            .read(folder, name, &path, MAX_IGNORE_FILE_BYTES)?
        {
            SourceFile::Content(bytes) => Ok(bytes.into()),
            SourceFile::TooLarge | SourceFile::Gone => Ok(Vec::new()),
        }
    }
}
