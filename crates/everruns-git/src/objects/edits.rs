//! Changes to trees.

use std::cell::RefCell;
use std::collections::HashSet;

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::objs::tree::EntryKind;
use gix::objs::{Data, Find, FindExt, Tree, Write as _};
use gix::odb::memory::Storage;
use gix::validate::path::component::{Mode, Options};

use crate::error::{GitError, GitStep as _, Result};
use crate::names::path_text;

/// Which names no tree may hold: those of Git's own folder, in all spellings that some system takes for them.
const NAMES: Options = Options {
    protect_windows: cfg!(windows),
    protect_hfs: true,
    protect_ntfs: true,
};

/// What a tree was made of.
#[derive(Debug, Clone, Default)]
pub(crate) struct Material {
    /// The objects that were upserted, and the trees that were made.
    pub(crate) made: HashSet<ObjectId>,
    /// The trees that were there before.
    pub(crate) read: Storage,
}

/// Takes down which objects are read.
struct Recorder<'a> {
    objects: &'a gix::OdbHandle,
    read: RefCell<Storage>,
}

impl Find for Recorder<'_> {
    fn try_find<'a>(
        &self,
        id: &gix::oid,
        buffer: &'a mut Vec<u8>,
    ) -> gix::Result<Option<Data<'a>>> {
        let found = self.objects.try_find(id, buffer)?;
        if let Some(found) = &found {
            let object = (found.kind, found.data.to_vec());
            self.read.borrow_mut().insert(id.to_owned(), object);
        }
        Ok(found)
    }
}

/// Changes to a tree. Removals go first, so that a file can make room for a folder.
#[derive(Default)]
pub(crate) struct Edits {
    pub(crate) removed: Vec<BString>,
    upserted: Vec<(BString, EntryKind, ObjectId)>,
}

impl Edits {
    pub(crate) fn upsert(&mut self, path: &BStr, kind: EntryKind, id: ObjectId) {
        self.upserted.push((path.to_owned(), kind, id));
    }

    /// All paths, removed and upserted.
    pub(crate) fn paths(&self) -> impl Iterator<Item = BString> {
        let upserted = self.upserted.iter().map(|(path, _, _)| path);
        self.removed.iter().chain(upserted).cloned()
    }

    /// The tree that `tree` becomes, stored in `repository`.
    ///
    /// What is new must have a name that Git takes, and be there. The library's own editor asks that of each entry of
    /// each tree that it writes, which takes longer than all the rest.
    pub(crate) fn apply(self, repository: &gix::Repository, tree: ObjectId) -> Result<ObjectId> {
        self.edited(repository, &repository.objects, tree, |tree| {
            repository.write_object(tree).map(gix::Id::detach)
        })
    }

    /// As [`apply`](Self::apply), where `repository` holds back what is new. What the tree is made of goes to `material`.
    ///
    /// Whether the repository has it already is asked when it is stored.
    pub(crate) fn apply_held(
        self,
        repository: &gix::Repository,
        tree: ObjectId,
        material: &mut Material,
    ) -> Result<ObjectId> {
        let upserted = self.upserted.iter();
        let stored = upserted.filter(|(_, kind, _)| *kind != EntryKind::Commit);
        material.made.extend(stored.map(|(_, _, id)| *id));
        let recorder = Recorder {
            objects: &repository.objects,
            read: RefCell::default(),
        };
        let made = &mut material.made;
        let result = self.edited(repository, &recorder, tree, |tree| {
            let id = repository.objects.write(tree)?;
            made.insert(id);
            Ok(id)
        });
        material.read.extend(recorder.read.into_inner().drain());
        result
    }

    fn edited(
        self,
        repository: &gix::Repository,
        find: &dyn FindExt,
        tree: ObjectId,
        out: impl FnMut(&Tree) -> std::result::Result<ObjectId, gix::Error>,
    ) -> Result<ObjectId> {
        if self.removed.is_empty() && self.upserted.is_empty() {
            return Ok(tree);
        }
        let step = "begin a tree";
        let root = if tree.is_empty_tree() {
            Tree::empty()
        } else {
            let mut buffer = Vec::new();
            let root = find.find_tree(&tree, &mut buffer).git(step)?;
            root.into_owned()
        };
        let mut editor = gix::objs::tree::Editor::new(root, find, repository.object_hash());
        for path in &self.removed {
            editor
                .remove(path.split_str("/").map(BStr::new))
                .git("remove from a tree")?;
        }
        for (path, kind, id) in &self.upserted {
            expect_storable(repository, path.as_bstr(), *kind, *id)?;
            editor
                .upsert(path.split_str("/").map(BStr::new), *kind, *id)
                .git("add to a tree")?;
        }
        editor.write(out).git("write a tree")
    }
}

/// Fails unless a tree can hold `path`, and the object is there.
fn expect_storable(
    repository: &gix::Repository,
    path: &BStr,
    kind: EntryKind,
    id: ObjectId,
) -> Result<()> {
    let mut names = path.split_str("/").peekable();
    while let Some(name) = names.next() {
        let is_link = kind == EntryKind::Link && names.peek().is_none();
        gix::validate::path::component(BStr::new(name), is_link.then_some(Mode::Symlink), NAMES)
            .map_err(gix::Error::from_error)
            .git("add to a tree")?;
    }
    if kind == EntryKind::Commit || repository.has_object(id) {
        return Ok(());
    }
    Err(GitError::ObjectMissing {
        id: id.to_string(),
        path: path_text(path),
    })
}

/// Whether no tree may hold a symbolic link at `path`: Git would take it for a file of its own.
pub(crate) fn is_no_name_of_a_link(path: &BStr) -> bool {
    let name = path.rsplit_str("/").next().unwrap_or_default();
    gix::validate::path::component(BStr::new(name), Some(Mode::Symlink), NAMES).is_err()
}
