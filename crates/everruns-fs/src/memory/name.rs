use std::cmp::Ordering;
use std::sync::Arc;

/// The bytes of a name that are kept beside it.
const START_BYTES: usize = 16;

/// A name with its beginning beside it: most comparisons need not follow the pointer to the whole, which would have to
/// be fetched from memory for each.
#[derive(Clone, Debug)]
pub(super) struct Name {
    start: Start,
    pub(super) whole: Arc<str>,
}

/// The first bytes of a name, in the order of names. A name has no NUL, so a shorter one is less and is told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Start(u128);

impl Start {
    fn of(name: &str) -> Self {
        let mut bytes = [0; START_BYTES];
        for (byte, of_name) in bytes.iter_mut().zip(name.bytes()) {
            *byte = of_name;
        }
        Self(u128::from_be_bytes(bytes))
    }
}

/// A name that is looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'a> {
    pub(super) start: Start,
    pub(super) whole: &'a str,
}

impl<'a> Wanted<'a> {
    pub(super) fn new(whole: &'a str) -> Self {
        Self {
            start: Start::of(whole),
            whole,
        }
    }
}

impl Name {
    pub(super) fn new(whole: &str) -> Self {
        Self {
            start: Start::of(whole),
            whole: Arc::from(whole),
        }
    }

    pub(super) fn start(&self) -> Start {
        self.start
    }

    /// In byte order.
    pub(super) fn compare(&self, wanted: Wanted<'_>) -> Ordering {
        match self.start.cmp(&wanted.start) {
            Ordering::Equal if wanted.whole.len() < START_BYTES => Ordering::Equal,
            Ordering::Equal => self.whole.as_ref().cmp(wanted.whole),
            other => other,
        }
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Name {}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_start = self.start.cmp(&other.start);
        by_start.then_with(|| self.whole.cmp(&other.whole))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn names_compare_as_texts(one in "[ab\u{e9}]{0,20}", two in "[ab\u{e9}]{0,20}") {
            prop_assert_eq!(Name::new(&one).compare(Wanted::new(&two)), one.cmp(&two));
            prop_assert_eq!(Name::new(&one).compare(Wanted::new(&one)), Ordering::Equal);
        }
    }
}
