use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use everruns_core::file_system::ContentVersion;
use everruns_core::path::WorkspacePath;

/// Contents up to this size are kept, to show what changed since.
const KEPT_FILE_BYTES: usize = 64 * 1024;
/// All kept contents together.
const KEPT_TOTAL_BYTES: usize = 4 * 1024 * 1024;

/// What a session last saw of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The version.
    pub(crate) version: ContentVersion,
    /// The bytes, when they are small and few enough to be kept.
    pub(crate) bytes: Option<Bytes>,
}

/// Which version of each file a session last read or wrote itself. It lives as long as the session's handle: in
/// another process the model reads again before it writes.
#[derive(Debug, Default)]
pub(crate) struct SeenFiles {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    files: HashMap<WorkspacePath, Seen>,
    kept: usize,
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
        let seen = Seen {
            version,
            bytes: kept,
        };
        state.files.insert(path.clone(), seen);
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
    pub(crate) fn moved(&self, from: &WorkspacePath, to: &WorkspacePath) {
        self.forget(to);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        for known in state.below(from) {
            let Some(seen) = state.files.remove(&known) else {
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
                Ok(place) => {
                    state.files.insert(place, seen);
                }
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

    fn forget(&mut self, path: &WorkspacePath) {
        if let Some(seen) = self.files.remove(path) {
            self.kept -= seen.bytes.as_ref().map_or(0, Bytes::len);
        }
    }

    fn drop_contents(&mut self) {
        for seen in self.files.values_mut() {
            seen.bytes = None;
        }
        self.kept = 0;
    }
}
