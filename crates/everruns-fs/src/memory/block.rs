use std::cmp::Ordering;
use std::mem;
use std::sync::Arc;

use super::looked::Looked;
use super::name::{Name, Start, Wanted};
use super::node::Node;

/// The most entries of one block, and the most blocks. Few, because copying a block touches all that it has.
const MAX: usize = 64;

pub(super) type Entry = (Name, Node);

/// A part of a folder's entries, sorted by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    parts: Parts,
    looked: Looked,
}

#[derive(Clone, Debug)]
pub(super) enum Parts {
    Entries(Vec<Entry>),
    /// Smaller parts of one height, none of them empty.
    Blocks(Vec<Listed>),
}

/// A block in a larger one.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    /// The beginning of the first name, so that the right block is found without looking into the others.
    start: Start,
    pub(super) block: Arc<Block>,
}

impl Default for Parts {
    fn default() -> Self {
        Self::Entries(Vec::new())
    }
}

impl Listed {
    /// `None` for a block of nothing.
    fn new(block: Arc<Block>) -> Option<Self> {
        Some(Self {
            start: block.first()?.start(),
            block,
        })
    }

    fn starts_after(&self, name: Wanted<'_>) -> bool {
        match self.start.cmp(&name.start) {
            Ordering::Less => false,
            Ordering::Greater => true,
            Ordering::Equal => {
                let first = self.block.first();
                first.is_some_and(|first| first.compare(name).is_gt())
            }
        }
    }
}

impl Block {
    fn new(parts: Parts) -> Self {
        Self {
            parts,
            looked: Looked::default(),
        }
    }

    pub(super) fn parts(&self) -> &Parts {
        self.looked.note();
        &self.parts
    }

    fn parts_mut(&mut self) -> &mut Parts {
        self.looked.note();
        &mut self.parts
    }

    pub(super) fn is_empty(&self) -> bool {
        match &self.parts {
            Parts::Entries(entries) => entries.is_empty(),
            Parts::Blocks(blocks) => blocks.is_empty(),
        }
    }

    /// The first name.
    pub(super) fn first(&self) -> Option<&Name> {
        match &self.parts {
            Parts::Entries(entries) => entries.first().map(|(name, _)| name),
            Parts::Blocks(blocks) => blocks.first()?.block.first(),
        }
    }

    /// How many blocks deep the entries are.
    pub(super) fn height(&self) -> usize {
        match &self.parts {
            Parts::Entries(_) => 0,
            Parts::Blocks(blocks) => 1 + blocks.first().map_or(0, |first| first.block.height()),
        }
    }

    pub(super) fn get(&self, name: Wanted<'_>) -> Option<&Node> {
        match self.parts() {
            Parts::Entries(entries) => {
                let at = position(entries, name).ok()?;
                entries.get(at).map(|(_, node)| node)
            }
            Parts::Blocks(blocks) => blocks.get(block_of(blocks, name))?.block.get(name),
        }
    }

    /// The node of `name`, to be changed; the blocks that it is in become this folder's own.
    pub(super) fn get_mut(&mut self, name: Wanted<'_>) -> Option<&mut Node> {
        match self.parts_mut() {
            Parts::Entries(entries) => {
                let at = position(entries, name).ok()?;
                entries.get_mut(at).map(|(_, node)| node)
            }
            Parts::Blocks(blocks) => {
                let at = block_of(blocks, name);
                Arc::make_mut(&mut blocks.get_mut(at)?.block).get_mut(name)
            }
        }
    }

    /// Inserts into the whole of a folder, and gives the node that had the name.
    pub(super) fn insert(&mut self, name: Wanted<'_>, node: Node) -> Option<Node> {
        let (replaced, second) = self.insert_part(name, node, true);
        if let Some(second) = second {
            let first = Listed::new(Arc::new(mem::take(self)));
            *self = Self::new(Parts::Blocks(first.into_iter().chain([second]).collect()));
        }
        replaced
    }

    /// Also gives the block that has to come after this one, when this one became too large.
    fn insert_part(
        &mut self,
        name: Wanted<'_>,
        node: Node,
        is_last: bool,
    ) -> (Option<Node>, Option<Listed>) {
        match self.parts_mut() {
            Parts::Entries(entries) => match position(entries, name) {
                Ok(at) => (Some(mem::replace(&mut entries[at].1, node)), None),
                Err(at) => {
                    entries.insert(at, (Name::new(name.whole), node));
                    (None, split(entries, at, is_last, Parts::Entries))
                }
            },
            Parts::Blocks(blocks) => {
                let at = block_of(blocks, name);
                let is_last = is_last && at + 1 == blocks.len();
                let Some(listed) = blocks.get_mut(at) else {
                    return (None, None);
                };
                listed.start = listed.start.min(name.start);
                let block = Arc::make_mut(&mut listed.block);
                let (replaced, second) = block.insert_part(name, node, is_last);
                let third = second.and_then(|second| {
                    blocks.insert(at + 1, second);
                    split(blocks, at + 1, is_last, Parts::Blocks)
                });
                (replaced, third)
            }
        }
    }

    /// Removes from the whole of a folder.
    pub(super) fn remove(&mut self, name: Wanted<'_>) -> Option<Node> {
        self.get(name)?;
        let removed = self.remove_part(name);
        while let Parts::Blocks(blocks) = &mut self.parts {
            match blocks.as_slice() {
                [] => *self = Self::default(),
                [_] => {
                    let only = blocks.pop()?;
                    *self = Arc::unwrap_or_clone(only.block);
                }
                _ => break,
            }
        }
        removed
    }

    fn remove_part(&mut self, name: Wanted<'_>) -> Option<Node> {
        match self.parts_mut() {
            Parts::Entries(entries) => {
                let at = position(entries, name).ok()?;
                Some(entries.remove(at).1)
            }
            Parts::Blocks(blocks) => {
                let at = block_of(blocks, name);
                let listed = blocks.get_mut(at)?;
                let removed = Arc::make_mut(&mut listed.block).remove_part(name);
                match listed.block.first() {
                    Some(first) => listed.start = first.start(),
                    None => drop(blocks.remove(at)),
                }
                removed
            }
        }
    }

    /// Checks what holds of every block, and counts the blocks.
    #[cfg(test)]
    pub(super) fn check(&self) -> usize {
        match &self.parts {
            Parts::Entries(entries) => {
                assert!(entries.len() <= MAX);
                assert!(entries.is_sorted_by(|(one, _), (two, _)| one < two));
                1
            }
            Parts::Blocks(blocks) => {
                assert!((1..=MAX).contains(&blocks.len()));
                let of_listed = |listed: &Listed| {
                    assert_eq!(Some(listed.start), listed.block.first().map(Name::start));
                    assert_eq!(listed.block.height() + 1, self.height());
                    listed.block.check()
                };
                1 + blocks.iter().map(of_listed).sum::<usize>()
            }
        }
    }

    /// How many blocks of this one and of all folders in it were looked at since this was last asked.
    #[cfg(test)]
    pub(super) fn take_looked(&self) -> usize {
        let below: usize = match &self.parts {
            Parts::Entries(entries) => entries
                .iter()
                .map(|(_, node)| match node {
                    Node::Folder(folder) => folder.children().take_looked(),
                    Node::File(_) => 0,
                })
                .sum(),
            Parts::Blocks(blocks) => blocks.iter().map(|listed| listed.block.take_looked()).sum(),
        };
        usize::from(self.looked.take()) + below
    }
}

/// Takes the second part of what became too large by an insertion. Names that come in order fill what they leave behind.
fn split<T>(
    parts: &mut Vec<T>,
    inserted: usize,
    is_last: bool,
    of: impl FnOnce(Vec<T>) -> Parts,
) -> Option<Listed> {
    if parts.len() <= MAX {
        return None;
    }
    let comes_in_order = is_last && inserted + 1 == parts.len();
    let second = parts.split_off(if comes_in_order { inserted } else { MAX / 2 });
    Listed::new(Arc::new(Block::new(of(second))))
}

/// The block that holds `name`, or would: the last one that does not start after it.
pub(super) fn block_of(blocks: &[Listed], name: Wanted<'_>) -> usize {
    let after = blocks.partition_point(|listed| !listed.starts_after(name));
    after.saturating_sub(1)
}

pub(super) fn position(entries: &[Entry], name: Wanted<'_>) -> Result<usize, usize> {
    entries.binary_search_by(|(other, _)| other.compare(name))
}
