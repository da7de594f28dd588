//! What is at a path, as Git would store it, without storing it.

use gix::ObjectId;
use gix::bstr::BStr;
use gix::filter::plumbing::pipeline::convert::ToGitOutcome;
use gix::objs::tree::EntryKind;

use crate::error::{GitError, GitStep as _, IoStep as _, Result};
use crate::files::{Files, Found};
use crate::worktree::conversion;

/// Looks at the files of one worktree.
pub(crate) struct Contents<'repo> {
    files: Files,
    pipeline: gix::filter::Pipeline<'repo>,
    index: gix::worktree::IndexPersistedOrInMemory,
    hash: gix::hash::Kind,
    executable_bit: bool,
}

impl<'repo> Contents<'repo> {
    /// Looks at the files of `worktree`.
    pub(crate) fn new(worktree: &'repo gix::Repository, files: Files) -> Result<Self> {
        let (pipeline, index) = conversion(worktree)?;
        Ok(Self {
            files,
            pipeline,
            index,
            hash: worktree.object_hash(),
            executable_bit: worktree
                .config_snapshot()
                .boolean("core.fileMode")
                .unwrap_or(true),
        })
    }

    /// Whether `wanted` is at `path`; whether a file can be executed only counts where files tell.
    pub(crate) fn is(
        &mut self,
        path: &BStr,
        wanted: Option<(EntryKind, ObjectId)>,
    ) -> Result<bool> {
        let executable_bit = self.executable_bit;
        let kind = |kind| match kind {
            EntryKind::BlobExecutable if !executable_bit => EntryKind::Blob,
            kind => kind,
        };
        let plain = |entry: Option<(EntryKind, ObjectId)>| entry.map(|(of, id)| (kind(of), id));
        Ok(plain(self.at(path)?) == plain(wanted))
    }

    /// What is at `path`; `None` for nothing, and for a folder.
    fn at(&mut self, path: &BStr) -> Result<Option<(EntryKind, ObjectId)>> {
        let hash = self.hash;
        let id_of = |bytes: &[u8]| {
            gix::objs::compute_hash(hash, gix::objs::Kind::Blob, bytes).git("look at a file")
        };
        match self.files.read(path)? {
            Found::Nothing | Found::Folder => Ok(None),
            Found::Link(target) => Ok(Some((EntryKind::Link, id_of(&target)?))),
            Found::File {
                content,
                executable,
            } => {
                let kind = if executable {
                    EntryKind::BlobExecutable
                } else {
                    EntryKind::Blob
                };
                let native = gix::path::from_bstr(path).git("convert a path")?;
                let converted =
                    self.pipeline
                        .convert_to_git(content.as_slice(), &native, &self.index);
                let id = match converted {
                    Ok(ToGitOutcome::Buffer(bytes)) => id_of(bytes)?,
                    Ok(ToGitOutcome::Process(mut stream)) => {
                        let mut bytes = Vec::new();
                        std::io::copy(&mut stream, &mut bytes).step("convert", &native)?;
                        id_of(&bytes)?
                    }
                    Ok(ToGitOutcome::Unchanged(_)) | Err(_) => id_of(&content)?,
                };
                Ok(Some((kind, id)))
            }
            Found::TooLarge | Found::Special => Err(GitError::NotStorable {
                paths: vec![crate::names::path_text(path)],
            }),
        }
    }
}
