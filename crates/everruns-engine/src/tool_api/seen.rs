use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use everruns_core::file_system::ContentVersion;
use everruns_core::path::WorkspacePath;

use super::forgotten::Forgotten;

/// Contents up to this size are kept, to show what changed since.
const KEPT_FILE_BYTES: usize = 64 * 1024;
/// All kept contents together.
const KEPT_TOTAL_BYTES: usize = 4 * 1024 * 1024;
/// What may be known of all files together, contents aside.
const KNOWN_BYTES: usize = 2 * 1024 * 1024;
/// So much of it is left when it has become too much, so that this is not so for every file from then on.
const LEFT_BYTES: usize = KNOWN_BYTES / 2;

/// What a name takes beside its text.
const NAME_BYTES: usize = 32;

/// What a session last saw of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The version.
    pub(crate) version: ContentVersion,
    /// The bytes, when they are small and few enough to be kept.
    pub(crate) bytes: Option<Bytes>,
    /// When, in the order of all that was seen.
    at: u64,
}

/// Which version of each file a session last read or wrote itself. It lives as long as the session's handle: in
/// another process the model reads again before it writes. It takes a bounded part of memory: what was seen the longest
/// ago is forgotten, and that it was seen is remembered: the model has to read it again.
#[derive(Debug, Default)]
pub(crate) struct SeenFiles {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    files: HashMap<WorkspacePath, Seen>,
    kept: usize,
    /// What the files' names take.
    names: usize,
    /// How often anything was seen.
    clock: u64,
    /// Those that were seen and are not here.
    forgotten: Forgotten,
}

impl SeenFiles {
    /// Whether contents are kept.
    pub(crate) fn has_contents(&self) -> bool {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .kept
            > 0
    }

    /// Forgets the contents, and keeps what was seen of which version.
    pub(crate) fn drop_contents(&self) {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .drop_contents();
    }

    /// Forgets what was seen the longest ago, until the rest takes no more than `bytes`.
    pub(crate) fn shrink_to(&self, bytes: usize) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.shrink_to(bytes);
        state.files.shrink_to_fit();
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = State::default();
    }
}

#[cfg_attr(
    not(feature = "tools"),
    expect(dead_code, reason = "only the file tools read and write files")
)]
impl SeenFiles {
    /// Notes that the session knows `bytes` as the whole content of `path`.
    pub(crate) fn note(&self, path: &WorkspacePath, version: ContentVersion, bytes: &Bytes) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.forget(path);
        if state.kept >= KEPT_TOTAL_BYTES {
            state.drop_contents();
        }
        let kept = (bytes.len() <= KEPT_FILE_BYTES).then(|| bytes.clone());
        state.kept += kept.as_ref().map_or(0, Bytes::len);
        state.clock += 1;
        let seen = Seen {
            version,
            bytes: kept,
            at: state.clock,
        };
        state.insert(path.clone(), seen);
        if state.takes() > KNOWN_BYTES {
            state.shrink_to(LEFT_BYTES);
        }
    }

    /// Whether the session may have seen `path`, and it is not known any more in which version.
    pub(crate) fn may_have_forgotten(&self, path: &WorkspacePath) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        !state.files.contains_key(path) && state.forgotten.may_hold(path)
    }

    /// Whether there are such files at all.
    pub(crate) fn has_forgotten(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        !state.forgotten.is_empty()
    }

    /// What the session last saw of `path`.
    pub(crate) fn get(&self, path: &WorkspacePath) -> Option<Seen> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.files.get(path).cloned()
    }

    /// The files below `path`, or at it, that the session has seen, sorted.
    pub(crate) fn below(&self, path: &WorkspacePath) -> Vec<WorkspacePath> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut below = state.below(path);
        below.sort_unstable();
        below
    }

    /// Forgets `path` and all below it.
    pub(crate) fn forget(&self, path: &WorkspacePath) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        for known in state.below(path) {
            state.forget(&known);
        }
    }

    /// Takes over for `to` and all below it what is known of `from`, which is gone.
    pub(crate) fn moved(&self, from: &WorkspacePath, to: &WorkspacePath, is_folder: bool) {
        self.forget(to);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if is_folder && !state.forgotten.is_empty() {
            // Which names those below it had that were forgotten, nobody knows.
            state.forgotten.add_all();
        } else if state.forgotten.may_hold(from) {
            state.forgotten.add(to);
        }
        for known in state.below(from) {
            let Some(seen) = state.remove(&known) else {
                continue;
            };
            let rest = known
                .relative()
                .strip_prefix(from.relative())
                .unwrap_or_default()
                .trim_start_matches('/');
            let place = if rest.is_empty() {
                Ok(to.clone())
            } else {
                to.join(rest)
            };
            match place {
                Ok(place) => state.insert(place, seen),
                Err(_) => state.kept -= seen.bytes.as_ref().map_or(0, Bytes::len),
            }
        }
    }
}

impl State {
    fn below(&self, path: &WorkspacePath) -> Vec<WorkspacePath> {
        let below = self.files.keys().filter(|known| known.starts_with(path));
        below.cloned().collect()
    }

    /// What all but the contents takes, about.
    fn takes(&self) -> usize {
        // The table of a map is never full.
        self.files.len() * size_of::<(WorkspacePath, Seen)>() * 8 / 7 + self.names
    }

    fn insert(&mut self, path: WorkspacePath, seen: Seen) {
        self.names += NAME_BYTES + path.relative().len();
        self.files.insert(path, seen);
    }

    fn remove(&mut self, path: &WorkspacePath) -> Option<Seen> {
        let seen = self.files.remove(path)?;
        self.names -= NAME_BYTES + path.relative().len();
        Some(seen)
    }

    fn forget(&mut self, path: &WorkspacePath) {
        if let Some(seen) = self.remove(path) {
            self.kept -= seen.bytes.as_ref().map_or(0, Bytes::len);
        }
    }

    fn shrink_to(&mut self, bytes: usize) {
        if self.takes() <= bytes {
            return;
        }
        let seen = self.files.iter().map(|(path, seen)| (seen.at, path));
        let mut oldest: Vec<_> = seen.map(|(at, path)| (at, path.clone())).collect();
        oldest.sort_unstable_by_key(|(at, _)| *at);
        for (_, path) in oldest {
            if self.takes() <= bytes {
                return;
            }
            self.forgotten.add(&path);
            self.forget(&path);
        }
    }

    fn drop_contents(&mut self) {
        for seen in self.files.values_mut() {
            seen.bytes = None;
        }
        self.kept = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(number: usize) -> WorkspacePath {
        WorkspacePath::parse(&format!("folder/file-{number}.txt")).unwrap()
    }

    fn seen(files: std::ops::Range<usize>) -> SeenFiles {
        let seen = SeenFiles::default();
        for number in files {
            seen.note(
                &path(number),
                ContentVersion::of(b"text"),
                &Bytes::from_static(b"text"),
            );
        }
        seen
    }

    fn known(seen: &SeenFiles) -> usize {
        seen.state.lock().unwrap().files.len()
    }

    #[test]
    fn what_was_seen_the_longest_ago_is_forgotten_first_and_that_is_remembered() {
        let seen = seen(0..100);
        let version = ContentVersion::of(b"text");
        seen.note(&path(0), version, &Bytes::from_static(b"text"));
        seen.shrink_to(usize::MAX);
        assert!(!seen.has_forgotten() && known(&seen) == 100);
        assert!(!seen.may_have_forgotten(&path(1)));
        seen.shrink_to(2_000);
        let left = known(&seen);
        assert!((5..20).contains(&left), "{left}");
        assert!(seen.has_forgotten());
        assert!(seen.may_have_forgotten(&path(1)) && !seen.may_have_forgotten(&path(99)));
        assert!(seen.get(&path(0)).is_some() && seen.get(&path(99)).is_some());
        assert!(seen.get(&path(1)).is_none());
        seen.shrink_to(0);
        assert!(known(&seen) == 0 && !seen.has_contents());
        seen.clear();
        assert!(
            !seen.may_have_forgotten(&path(1)),
            "the session has gone back to a place before"
        );
    }

    #[test]
    fn what_was_forgotten_is_forgotten_under_its_new_name() {
        let seen = seen(0..3);
        seen.shrink_to(0);
        let other = WorkspacePath::parse("other.txt").unwrap();
        seen.moved(&path(1), &other, false);
        assert!(seen.may_have_forgotten(&other) && !seen.may_have_forgotten(&path(7)));
        let (folder, place) = (path(1).parent().unwrap(), other);
        seen.moved(&folder, &place, true);
        assert!(seen.may_have_forgotten(&place.join("file-2.txt").unwrap()));
    }

    #[test]
    fn a_session_that_works_on_and_on_takes_a_bounded_part_of_memory() {
        let seen = seen(0..30_000);
        let left = known(&seen);
        assert!((5_000..15_000).contains(&left), "{left}");
        assert!(seen.has_forgotten() && seen.get(&path(29_999)).is_some());
        seen.forget(&path(0).parent().unwrap());
        let state = seen.state.lock().unwrap();
        assert_eq!((state.files.len(), state.names, state.kept), (0, 0, 0));
    }
}
