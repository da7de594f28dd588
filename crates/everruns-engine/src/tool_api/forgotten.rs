use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

use everruns_core::path::WorkspacePath;

/// Words of the filter: 2 KiB, in which one of fifty paths that are not in it is taken for one of 1,600 that are.
const WORDS: usize = 256;
/// How many bits stand for a path.
const BITS_EACH: u32 = 3;

/// The files that were seen and of which nothing else is known any more: a Bloom filter. It takes the same however many
/// there are, and never denies one of them; that a file is taken for one of them wrongly costs one more reading.
#[derive(Debug, Default)]
pub(super) struct Forgotten {
    /// There once a file was forgotten.
    bits: Option<Box<[u64; WORDS]>>,
}

impl Forgotten {
    pub(super) fn is_empty(&self) -> bool {
        self.bits.is_none()
    }

    pub(super) fn add(&mut self, path: &WorkspacePath) {
        let words = self.bits.get_or_insert_with(|| Box::new([0; WORDS]));
        for (word, bit) in places(path) {
            words[word] |= bit;
        }
    }

    /// Whatever may have been seen under any name.
    pub(super) fn add_all(&mut self) {
        self.bits = Some(Box::new([u64::MAX; WORDS]));
    }

    pub(super) fn may_hold(&self, path: &WorkspacePath) -> bool {
        self.bits
            .as_ref()
            .is_some_and(|words| places(path).all(|(word, bit)| words[word] & bit != 0))
    }
}

/// The words, and the bit in each, that stand for a path.
fn places(path: &WorkspacePath) -> impl Iterator<Item = (usize, u64)> {
    let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(path);
    (0..BITS_EACH).map(move |number| {
        let [low, high, ..] = (hash >> (16 * number)).to_le_bytes();
        let place = usize::from(u16::from_le_bytes([low, high]));
        ((place >> 6) % WORDS, 1 << (place & 63))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(number: u32) -> WorkspacePath {
        WorkspacePath::parse(&format!("some/folder/file-{number}.txt")).unwrap()
    }

    #[test]
    fn none_is_denied_and_few_others_are_taken_for_them() {
        let mut forgotten = Forgotten::default();
        assert!(forgotten.is_empty() && !forgotten.may_hold(&path(0)));
        for number in 0..1_600 {
            forgotten.add(&path(number));
        }
        assert!((0..1_600).all(|number| forgotten.may_hold(&path(number))));
        let wrong = (2_000..12_000).filter(|number| forgotten.may_hold(&path(*number)));
        let wrong = wrong.count();
        assert!(wrong < 500, "{wrong} of 10,000");
        forgotten.add_all();
        assert!(forgotten.may_hold(&path(99_999)));
    }
}
