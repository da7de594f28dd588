use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use everruns_core::file_system::ContentVersion;
use everruns_core::ids::{WorkspaceHeadId, WorkspaceId};
use everruns_core::workspace::WorkspaceError;
use serde::{Deserialize, Serialize};

/// A directory by its exact canonical path, and what tells it from one that takes its place later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    /// The path as text; only such paths can be persisted.
    pub(super) text: String,
    pub(super) identity: Identity,
}

/// What the host knows a directory by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Identity {
    pub(super) device: u64,
    pub(super) inode: u64,
    /// When it was made; `None` where the file system does not tell.
    pub(super) born: Option<Birth>,
}

/// A time of birth, as exact as the file system keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Birth {
    pub(super) seconds: u64,
    pub(super) nanoseconds: u32,
}

impl Identity {
    fn read(path: &Path) -> std::io::Result<Self> {
        let metadata = std::fs::metadata(path)?;
        let born = metadata.created().ok();
        let since_epoch = born.and_then(|born| born.duration_since(UNIX_EPOCH).ok());
        Ok(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            born: since_epoch.map(|since| Birth {
                seconds: since.as_secs(),
                nanoseconds: since.subsec_nanos(),
            }),
        })
    }

    /// Whether both are one directory. Device numbers may change when the host starts again, so they count
    /// only where the time of birth is not known.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.inode == other.inode
            && match (self.born, other.born) {
                (Some(own), Some(others)) => own == others,
                _ => self.device == other.device,
            }
    }
}

impl Place {
    /// Finds the directory that `path` leads to.
    #[expect(
        clippy::disallowed_methods,
        reason = "the canonical path is what is persisted; containment is the disk file system's"
    )]
    pub(super) fn find(path: &Path) -> Result<Self, WorkspaceError> {
        let canonical = path.canonicalize().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => WorkspaceError::NotFound {
                path: path.to_owned(),
            },
            _ => WorkspaceError::io("open the directory", path, error),
        })?;
        let invalid = |reason: &str| WorkspaceError::InvalidLocator {
            locator: path.to_string_lossy().into_owned(),
            reason: reason.to_owned(),
        };
        if !canonical.is_dir() {
            return Err(invalid("it is not a directory"));
        }
        let text = canonical
            .to_str()
            .ok_or_else(|| invalid("its path is not Unicode, so that it cannot be recorded"))?
            .to_owned();
        let identity = Identity::read(&canonical)
            .map_err(|error| WorkspaceError::io("look at the directory", &canonical, error))?;
        Ok(Self {
            path: canonical,
            text,
            identity,
        })
    }

    /// What is at the path now; `None` when it is no directory any more.
    pub(super) fn present(&self) -> Option<Identity> {
        let found = Self::find(&self.path).ok()?;
        (found.path == self.path).then_some(found.identity)
    }

    /// The lineage is the path's.
    pub(super) fn workspace_id(&self) -> WorkspaceId {
        WorkspaceId::new(format!("dir_{}", digest(&self.text)))
            .expect("hexadecimal digits and a prefix are an id")
    }

    /// The head is this very directory: one that takes its place has another id.
    pub(super) fn head_id(&self) -> WorkspaceHeadId {
        let born = self.identity.born.map_or_else(
            || format!("device {}", self.identity.device),
            |born| format!("{}.{:09}", born.seconds, born.nanoseconds),
        );
        let which = format!("{}\0{}\0{born}", self.text, self.identity.inode);
        WorkspaceHeadId::new(format!("dirhead_{}", digest(&which)))
            .expect("hexadecimal digits and a prefix are an id")
    }

    /// A name for people.
    pub(super) fn name(&self) -> String {
        let name = self.path.file_name().and_then(|name| name.to_str());
        name.unwrap_or(&self.text).to_owned()
    }
}

/// 128 bits of the text's hash.
fn digest(text: &str) -> String {
    let hash = ContentVersion::of(text.as_bytes()).to_string();
    hash.chars().take(32).collect()
}
