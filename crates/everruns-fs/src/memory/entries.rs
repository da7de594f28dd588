use std::slice;

use super::block::{Block, Entry, Listed, Parts, block_of, position};
use super::name::Wanted;

/// The entries of a folder, in order. What is not asked for is not looked at.
#[derive(Debug)]
pub(super) struct Entries<'a> {
    /// The blocks that come later, the next ones last.
    later: Vec<slice::Iter<'a, Listed>>,
    entries: slice::Iter<'a, Entry>,
}

impl<'a> Entries<'a> {
    pub(super) fn all(block: &'a Block) -> Self {
        Self::from(block, None)
    }

    /// Those with names after this one.
    pub(super) fn after(block: &'a Block, name: &str) -> Self {
        Self::from(block, Some(Wanted::new(name)))
    }

    fn from(block: &'a Block, after: Option<Wanted<'_>>) -> Self {
        let mut entries = Self {
            later: Vec::new(),
            entries: [].iter(),
        };
        entries.enter(block, after);
        entries
    }

    fn enter(&mut self, block: &'a Block, after: Option<Wanted<'_>>) {
        let mut next = Some(block);
        while let Some(block) = next.take() {
            match block.parts() {
                Parts::Entries(entries) => {
                    let from = after.map_or(0, |name| match position(entries, name) {
                        Ok(at) => at + 1,
                        Err(at) => at,
                    });
                    self.entries = entries.get(from..).unwrap_or_default().iter();
                }
                Parts::Blocks(blocks) => {
                    let from = after.map_or(0, |name| block_of(blocks, name));
                    let mut blocks = blocks.get(from..).unwrap_or_default().iter();
                    next = blocks.next().map(|listed| listed.block.as_ref());
                    self.later.push(blocks);
                }
            }
        }
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = &'a Entry;

    fn next(&mut self) -> Option<&'a Entry> {
        loop {
            if let Some(entry) = self.entries.next() {
                return Some(entry);
            }
            match self.later.last_mut()?.next() {
                Some(listed) => self.enter(&listed.block, None),
                None => drop(self.later.pop()),
            }
        }
    }
}
