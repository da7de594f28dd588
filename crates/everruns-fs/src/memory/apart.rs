use std::cmp::Ordering;
use std::sync::Arc;

use super::block::{Block, Entry, Parts};
use super::name::Name;
use super::node::Node;

/// What two folders have at one name.
#[derive(Debug)]
pub(super) struct Apart<'a> {
    pub(super) name: &'a Arc<str>,
    pub(super) before: Option<&'a Node>,
    pub(super) after: Option<&'a Node>,
}

/// All names of two folders in order, without those in blocks that both share, which are passed over without a look.
#[derive(Debug)]
pub(super) struct AllApart<'a> {
    before: Cursor<'a>,
    after: Cursor<'a>,
}

/// What is left of one folder, the next part last.
#[derive(Debug)]
struct Cursor<'a>(Vec<Part<'a>>);

#[derive(Clone, Copy, Debug)]
enum Part<'a> {
    Entry(&'a Entry),
    Block {
        block: &'a Arc<Block>,
        height: usize,
    },
}

impl<'a> Part<'a> {
    fn first(self) -> Option<&'a Name> {
        match self {
            Self::Entry((name, _)) => Some(name),
            Self::Block { block, .. } => block.first(),
        }
    }

    /// An entry has less than the lowest block.
    fn height(self) -> Option<usize> {
        match self {
            Self::Entry(_) => None,
            Self::Block { height, .. } => Some(height),
        }
    }

    fn is_shared(self, other: Self) -> bool {
        match (self, other) {
            (Self::Block { block: one, .. }, Self::Block { block: two, .. }) => {
                Arc::ptr_eq(one, two)
            }
            _ => false,
        }
    }
}

impl<'a> Cursor<'a> {
    fn new(folder: Option<&'a Block>) -> Self {
        let mut cursor = Self(Vec::new());
        if let Some(block) = folder {
            cursor.open(block, block.height());
        }
        cursor
    }

    fn peek(&self) -> Option<Part<'a>> {
        self.0.last().copied()
    }

    fn open(&mut self, block: &'a Block, height: usize) {
        match block.parts() {
            Parts::Entries(entries) => self.0.extend(entries.iter().rev().map(Part::Entry)),
            Parts::Blocks(blocks) => self.0.extend(blocks.iter().rev().map(|listed| Part::Block {
                block: &listed.block,
                height: height.saturating_sub(1),
            })),
        }
    }

    /// Takes the next part: an entry is given, a block is opened.
    fn step(&mut self) -> Option<&'a Entry> {
        match self.0.pop()? {
            Part::Entry(entry) => Some(entry),
            Part::Block { block, height } => {
                self.open(block, height);
                None
            }
        }
    }
}

impl<'a> AllApart<'a> {
    pub(super) fn new(before: Option<&'a Block>, after: Option<&'a Block>) -> Self {
        Self {
            before: Cursor::new(before),
            after: Cursor::new(after),
        }
    }

    /// Goes on with whichever side is behind; with both where they are alike.
    fn step(&mut self, before: Option<Part<'a>>, after: Option<Part<'a>>) -> Option<Apart<'a>> {
        let order = match (before, after) {
            (Some(before), Some(after)) => {
                // What starts with the same name is opened from the higher one down, so that shared blocks meet.
                let by_name = before.first().cmp(&after.first());
                by_name.then_with(|| after.height().cmp(&before.height()))
            }
            (Some(_), None) => Ordering::Less,
            (None, _) => Ordering::Greater,
        };
        let before = if order.is_le() {
            self.before.step()
        } else {
            None
        };
        let after = if order.is_ge() {
            self.after.step()
        } else {
            None
        };
        let (name, _) = before.or(after)?;
        Some(Apart {
            name: &name.whole,
            before: before.map(|(_, node)| node),
            after: after.map(|(_, node)| node),
        })
    }
}

impl<'a> Iterator for AllApart<'a> {
    type Item = Apart<'a>;

    fn next(&mut self) -> Option<Apart<'a>> {
        loop {
            match (self.before.peek(), self.after.peek()) {
                (None, None) => return None,
                (Some(before), Some(after)) if before.is_shared(after) => {
                    self.before.0.pop();
                    self.after.0.pop();
                }
                (before, after) => {
                    if let Some(apart) = self.step(before, after) {
                        return Some(apart);
                    }
                }
            }
        }
    }
}
