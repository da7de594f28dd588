use std::fmt;
use std::ops::Index;
use std::sync::Arc;

use super::Message;

/// Messages that are shared together. Larger ones make clones cheaper, and additions to a shared list dearer.
const CHUNK: usize = 128;

/// A vector, since a chunk grows in place while nobody shares it.
type Chunk = Vec<Arc<Message>>;

/// A conversation, oldest message first. Cheap to clone however long it is: clones share the messages, and adding to
/// one copies none of them.
#[derive(Clone, Default)]
pub struct Messages {
    /// All chunks but the last are full; none is empty.
    chunks: Vec<Arc<Chunk>>,
}

impl Messages {
    /// No messages.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self.chunks.split_last() {
            None => 0,
            Some((last, full)) => full.len() * CHUNK + last.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// The message at `index`, counted from 0.
    pub fn get(&self, index: usize) -> Option<&Message> {
        let chunk = self.chunks.get(index / CHUNK)?;
        chunk.get(index % CHUNK).map(Arc::as_ref)
    }

    /// The newest message.
    pub fn last(&self) -> Option<&Message> {
        self.chunks.last()?.last().map(Arc::as_ref)
    }

    /// The messages, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Message> {
        self.chunks
            .iter()
            .flat_map(|chunk| chunk.iter().map(Arc::as_ref))
    }

    /// Adds a message at the end.
    pub fn push(&mut self, message: impl Into<Arc<Message>>) {
        let message = message.into();
        match self.chunks.last_mut() {
            Some(last) if last.len() < CHUNK => Arc::make_mut(last).push(message),
            _ => self.chunks.push(Arc::new(vec![message])),
        }
    }

    /// Keeps the oldest `len` messages.
    pub fn truncate(&mut self, len: usize) {
        self.chunks.truncate(len.div_ceil(CHUNK));
        let full = self.chunks.len().saturating_sub(1) * CHUNK;
        if let Some(last) = self.chunks.last_mut()
            && full + last.len() > len
        {
            Arc::make_mut(last).truncate(len - full);
        }
    }
}

impl Index<usize> for Messages {
    type Output = Message;

    /// # Panics
    /// When there are not so many messages.
    fn index(&self, index: usize) -> &Message {
        self.get(index)
            .unwrap_or_else(|| panic!("there is no message {index} of {}", self.len()))
    }
}

impl<T: Into<Arc<Message>>> Extend<T> for Messages {
    fn extend<I: IntoIterator<Item = T>>(&mut self, messages: I) {
        for message in messages {
            self.push(message);
        }
    }
}

impl<T: Into<Arc<Message>>> FromIterator<T> for Messages {
    fn from_iter<I: IntoIterator<Item = T>>(messages: I) -> Self {
        let mut all = Self::new();
        all.extend(messages);
        all
    }
}

impl From<Vec<Message>> for Messages {
    fn from(messages: Vec<Message>) -> Self {
        messages.into_iter().collect()
    }
}

impl PartialEq for Messages {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl Eq for Messages {}

impl PartialEq<Vec<Message>> for Messages {
    fn eq(&self, other: &Vec<Message>) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<const N: usize> PartialEq<[Message; N]> for Messages {
    fn eq(&self, other: &[Message; N]) -> bool {
        self.iter().eq(other.iter())
    }
}

impl fmt::Debug for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(count: usize) -> Messages {
        (0..count).map(|n| Message::user(n.to_string())).collect()
    }

    #[test]
    fn it_is_a_list_across_chunks() {
        for count in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK] {
            let all = numbered(count);
            let plain: Vec<_> = (0..count).map(|n| Message::user(n.to_string())).collect();
            assert_eq!(all, plain);
            assert_eq!(all.len(), count);
            assert_eq!(all.last(), plain.last());
            assert_eq!(all.get(count), None);
            assert_eq!(all.get(count / 2), plain.get(count / 2));
            for kept in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 4 * CHUNK] {
                let mut cut = all.clone();
                cut.truncate(kept);
                assert_eq!(cut, plain[..kept.min(count)].to_vec());
                cut.push(Message::user("more"));
                assert_eq!(cut.len(), kept.min(count) + 1);
                assert_eq!(all, plain, "the original is left alone");
            }
        }
    }

    #[test]
    fn clones_share_their_messages() {
        let all = numbered(1_000);
        let mut longer = all.clone();
        longer.push(Message::user("more"));
        for index in 0..all.len() {
            assert!(std::ptr::eq(
                &raw const all[index],
                &raw const longer[index]
            ));
        }
        let shared = all.chunks.iter().zip(&longer.chunks);
        let copied = shared.filter(|(one, other)| !Arc::ptr_eq(one, other));
        assert_eq!(
            copied.count(),
            1,
            "only the last chunk's pointers are copied"
        );
    }
}
