use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

use everruns_core::path::WorkspacePath;

/// Words of the filter: 2 KiB, in which one of fifty paths that are not in it is taken for one of 1,600 that are.
const WORDS: usize = 256;
/// Of so many the hashes are kept, which take less.
const FEW: usize = 128;
/// How many bits stand for a path.
const BITS_EACH: u32 = 3;

/// The files that were seen and of which nothing else is known any more. It never denies one of them; that a file is
/// taken for one of them wrongly costs one more reading.
#[derive(Debug, Default)]
pub(super) enum Forgotten {
    /// None was forgotten.
    #[default]
    None,
    /// The hashes of few.
    Few(Vec<u64>),
    /// A Bloom filter, which takes the same however many there are.
    Many(Box<[u64; WORDS]>),
}

impl Forgotten {
    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Self::None)
    }

    pub(super) fn add(&mut self, path: &WorkspacePath) {
        let new = hash(path);
        match self {
            Self::None => *self = Self::Few(vec![new]),
            Self::Few(few) if few.contains(&new) => {}
            Self::Few(few) if few.len() < FEW => few.push(new),
            Self::Few(few) => {
                let mut words = Box::new([0; WORDS]);
                for hash in few.iter().chain([&new]) {
                    set(&mut words, *hash);
                }
                *self = Self::Many(words);
            }
            Self::Many(words) => set(words, new),
        }
    }

    /// Whatever may have been seen under any name.
    pub(super) fn add_all(&mut self) {
        *self = Self::Many(Box::new([u64::MAX; WORDS]));
    }

    pub(super) fn may_hold(&self, path: &WorkspacePath) -> bool {
        let hash = hash(path);
        match self {
            Self::None => false,
            Self::Few(few) => few.contains(&hash),
            Self::Many(words) => places(hash).all(|(word, bit)| words[word] & bit != 0),
        }
    }
}

fn hash(path: &WorkspacePath) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(path)
}

fn set(words: &mut [u64; WORDS], hash: u64) {
    for (word, bit) in places(hash) {
        words[word] |= bit;
    }
}

/// The words, and the bit in each, that stand for a path's hash.
fn places(hash: u64) -> impl Iterator<Item = (usize, u64)> {
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
        assert!(matches!(forgotten, Forgotten::Many(_)));
        let wrong = (2_000..12_000).filter(|number| forgotten.may_hold(&path(*number)));
        let wrong = wrong.count();
        assert!(wrong < 500, "{wrong} of 10,000");
        forgotten.add_all();
        assert!(forgotten.may_hold(&path(99_999)));
    }

    #[test]
    fn few_take_little_and_become_many_with_none_lost() {
        let mut forgotten = Forgotten::default();
        let few = u32::try_from(FEW).unwrap();
        for number in (0..few).chain(0..few) {
            forgotten.add(&path(number));
        }
        let Forgotten::Few(hashes) = &forgotten else {
            panic!("{forgotten:?}");
        };
        assert_eq!(hashes.len(), FEW);
        assert!(!(few..10_000).any(|number| forgotten.may_hold(&path(number))));
        forgotten.add(&path(few));
        assert!(matches!(forgotten, Forgotten::Many(_)));
        assert!((0..=few).all(|number| forgotten.may_hold(&path(number))));
    }
}
