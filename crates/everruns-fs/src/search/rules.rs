use everruns_core::path::WorkspacePath;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// The files that name what a search leaves out; the first overrules the second.
pub(super) const IGNORE_FILES: [&str; 2] = [".ignore", ".gitignore"];

/// The largest ignore file that is honoured, in bytes.
pub(super) const MAX_IGNORE_FILE_BYTES: u64 = 1 << 20;

/// The ignore files of the folders from the top down to where the walk stands.
#[derive(Debug, Default)]
pub(super) struct IgnoreRules {
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    folder: WorkspacePath,
    /// In the order of [`IGNORE_FILES`].
    files: [Gitignore; 2],
}

impl IgnoreRules {
    /// Adds the rules of `folder`, given the bytes of its [`IGNORE_FILES`].
    pub(super) fn push(&mut self, folder: &WorkspacePath, contents: &[Vec<u8>; 2]) {
        self.levels.push(Level {
            folder: folder.clone(),
            files: contents.each_ref().map(|bytes| parse(bytes)),
        });
    }

    /// Forgets the rules of the folder pushed last.
    pub(super) fn pop(&mut self) {
        self.levels.pop();
    }

    /// Whether the entry at `path` is left out. Its folders are taken to be in.
    pub(super) fn leaves_out(&self, path: &WorkspacePath, is_folder: bool) -> bool {
        for file in 0..IGNORE_FILES.len() {
            for level in self.levels.iter().rev() {
                let below = path
                    .relative()
                    .strip_prefix(level.folder.relative())
                    .unwrap_or_default()
                    .trim_start_matches('/');
                match level.files[file].matched(below, is_folder) {
                    Match::None => {}
                    Match::Ignore(_) => return true,
                    Match::Whitelist(_) => return false,
                }
            }
        }
        false
    }
}

/// Lines that are no pattern are passed over, as Git does.
fn parse(bytes: &[u8]) -> Gitignore {
    if bytes.is_empty() {
        return Gitignore::empty();
    }
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut builder = GitignoreBuilder::new(".");
    for line in text.lines() {
        if let Err(error) = builder.add_line(None, line) {
            tracing::debug!(%error, "a line of an ignore file is no pattern");
        }
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}
