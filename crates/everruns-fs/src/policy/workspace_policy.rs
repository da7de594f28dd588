use std::sync::{Arc, LazyLock};

use everruns_core::file_system::{FileAccess, FileSystemError};
use everruns_core::path::WorkspacePath;

use super::decision::{Judgement, Refusal};
use super::layer::Layer;
use super::{PolicyDecision, WorkspacePolicyBuilder};
use crate::swap_folder::swap_folder;

static READ_ONLY: LazyLock<WorkspacePolicy> =
    LazyLock::new(|| preset(WorkspacePolicyBuilder::new().allow_read("**")));
static READ_WRITE: LazyLock<WorkspacePolicy> =
    LazyLock::new(|| preset(WorkspacePolicyBuilder::new().allow_write("**")));

fn preset(builder: WorkspacePolicyBuilder) -> WorkspacePolicy {
    builder.build().expect("`**` is a glob")
}

/// What may be read and written, by path, over any file system.
///
/// * Denials win over allowances, and composing can only narrow.
/// * What may not be read may not be written.
/// * `.git`, in every spelling, is always denied.
/// * Files that hold credentials by convention (`.env` and `.env.*`, `*.pem`, `*.key`, `id_rsa*`, `.ssh`, `.aws`,
///   `.netrc`, `.npmrc`, `.pypirc`, `.git-credentials`, `.docker/config.json` and their kin) are denied unless
///   [`allow_sensitive`](WorkspacePolicyBuilder::allow_sensitive); `.env.example` and the like are ordinary files.
/// * Other hidden files, such as `.gitignore` and `.github`, are ordinary files unless
///   [`allow_hidden(false)`](WorkspacePolicyBuilder::allow_hidden).
/// * Folders that builds fill, such as `target` and `node_modules`, are ordinary folders unless
///   [`protect_build_folders`](WorkspacePolicyBuilder::protect_build_folders).
///
/// A policy only judges paths, on the files that file tools see. It confines no process.
/// It is cheap to clone, and judging a path costs no I/O.
///
/// ```
/// use everruns_core::path::WorkspacePath;
/// use everruns_fs::WorkspacePolicy;
///
/// let policy = WorkspacePolicy::builder()
///     .allow_read("**")
///     .allow_write("src")
///     .deny_read("src/secret/**")
///     .build()?;
/// let path = |text| WorkspacePath::parse(text).unwrap();
/// assert!(policy.permits_write(&path("src/lib.rs")));
/// assert!(policy.permits_read(&path("Cargo.toml")) && !policy.permits_write(&path("Cargo.toml")));
/// assert!(!policy.permits_read(&path("src/secret/plan.md")));
/// # Ok::<(), everruns_fs::PolicyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct WorkspacePolicy {
    layers: Arc<[Arc<Layer>]>,
    /// Pairs of folders that are one.
    same: Arc<[(WorkspacePath, WorkspacePath)]>,
}

impl WorkspacePolicy {
    /// Everything may be read, apart from what is always protected; nothing may be written. The default.
    pub fn read_only() -> Self {
        READ_ONLY.clone()
    }

    /// Everything may be read and written, apart from what is always protected. Folders are removed entry by
    /// entry; allow more with [`allow_recursive_delete`](WorkspacePolicyBuilder::allow_recursive_delete).
    pub fn read_write() -> Self {
        READ_WRITE.clone()
    }

    /// A policy that allows nothing until told.
    pub fn builder() -> WorkspacePolicyBuilder {
        WorkspacePolicyBuilder::new()
    }

    pub(super) fn of(layer: Arc<Layer>) -> Self {
        Self {
            layers: Arc::new([layer]),
            same: Arc::new([]),
        }
    }

    /// Takes each pair for two names of one folder: what is denied or protected by one name is so by the other, too,
    /// whichever rule it is: a glob, or `.git`, hidden and credential names, and build folders. It can only narrow: what
    /// one name allows must be allowed by the name that is asked for.
    ///
    /// [`PolicyFileSystem::over_mounts`](super::PolicyFileSystem::over_mounts) does this for mounts that overlap.
    #[must_use]
    pub fn with_other_names(&self, names: &[(WorkspacePath, WorkspacePath)]) -> Self {
        Self {
            layers: Arc::clone(&self.layers),
            same: self.same.iter().chain(names).cloned().collect(),
        }
    }

    /// Permits what both permit.
    #[must_use]
    pub fn compose(&self, other: &Self) -> Self {
        let is_new = |layer: &&Arc<Layer>| !self.layers.iter().any(|own| Arc::ptr_eq(own, layer));
        let added = other.layers.iter().filter(is_new);
        Self {
            layers: self.layers.iter().chain(added).map(Arc::clone).collect(),
            same: self.same.iter().chain(other.same.iter()).cloned().collect(),
        }
    }

    /// Whether `path` may be read.
    pub fn permits_read(&self, path: &WorkspacePath) -> bool {
        self.refusal(path, FileAccess::Read).is_none()
    }

    /// Whether `path` may be written, removed or moved.
    pub fn permits_write(&self, path: &WorkspacePath) -> bool {
        self.refusal(path, FileAccess::Write).is_none()
    }

    /// Whether the folder `path` may be listed: it may be read, or something below it may be. A listing
    /// still shows only what may be read.
    pub fn permits_list(&self, path: &WorkspacePath) -> bool {
        self.folder_refusal(path).is_none()
    }

    /// Whether folders may be removed with all below them at once.
    pub fn permits_recursive_delete(&self) -> bool {
        self.layers.iter().all(|layer| layer.recursive_delete)
    }

    /// Checks that `path` may be read.
    ///
    /// # Errors
    /// [`FileSystemError::Denied`] names the rule; [`FileSystemError::GitInternal`] for Git's own folder.
    pub fn check_read(&self, path: &WorkspacePath) -> Result<(), FileSystemError> {
        fail(self.refusal(path, FileAccess::Read), path, FileAccess::Read)
    }

    /// Checks that `path` may be written, removed or moved.
    ///
    /// # Errors
    /// As [`check_read`](Self::check_read).
    pub fn check_write(&self, path: &WorkspacePath) -> Result<(), FileSystemError> {
        fail(
            self.refusal(path, FileAccess::Write),
            path,
            FileAccess::Write,
        )
    }

    /// Checks that the folder `path` may be listed.
    ///
    /// # Errors
    /// As [`check_read`](Self::check_read).
    pub fn check_list(&self, path: &WorkspacePath) -> Result<(), FileSystemError> {
        fail(self.folder_refusal(path), path, FileAccess::Read)
    }

    /// What the policy says about `path`, and which rule decides.
    pub fn explain(&self, path: &WorkspacePath, access: FileAccess) -> PolicyDecision {
        match self.refusal(path, access) {
            Some(judgement) => PolicyDecision {
                allowed: false,
                rule: judgement.to_string(),
            },
            None => PolicyDecision {
                allowed: true,
                rule: self.allowances(path, access),
            },
        }
    }

    fn allowances(&self, path: &WorkspacePath, access: FileAccess) -> String {
        let globs = self
            .layers
            .iter()
            .filter_map(|layer| layer.allowance(path, access));
        let globs: Vec<String> = globs
            .map(|glob| format!("`{}`", glob.escape_debug()))
            .collect();
        format!("allowed to {access} by {}", globs.join(" and "))
    }

    fn refusal(&self, path: &WorkspacePath, access: FileAccess) -> Option<Judgement<'_>> {
        self.layers
            .iter()
            .find_map(|layer| layer.refusal(path, access))
            .map(Judgement::from)
            .or_else(|| self.denial_by_other_name(path, access))
    }

    /// The rule that denies `path` by another name of the folder that it lies in.
    fn denial_by_other_name(
        &self,
        path: &WorkspacePath,
        access: FileAccess,
    ) -> Option<Judgement<'_>> {
        let names = self.same.iter();
        names
            .flat_map(|(one, other)| [swap_folder(path, one, other), swap_folder(path, other, one)])
            .flatten()
            .find_map(|name| {
                let mut layers = self.layers.iter();
                let refusal = layers.find_map(|layer| layer.denial(&name, access))?;
                Some(Judgement {
                    refusal,
                    other_name: Some(name),
                })
            })
    }

    fn folder_refusal(&self, path: &WorkspacePath) -> Option<Judgement<'_>> {
        self.layers
            .iter()
            .find_map(|layer| layer.folder_refusal(path))
            .map(Judgement::from)
            .or_else(|| self.denial_by_other_name(path, FileAccess::Read))
    }
}

impl Default for WorkspacePolicy {
    fn default() -> Self {
        Self::read_only()
    }
}

fn fail(
    judgement: Option<Judgement<'_>>,
    path: &WorkspacePath,
    access: FileAccess,
) -> Result<(), FileSystemError> {
    match judgement {
        None => Ok(()),
        Some(Judgement {
            refusal: Refusal::GitInternal,
            ..
        }) => Err(FileSystemError::GitInternal { path: path.clone() }),
        Some(judgement) => Err(FileSystemError::Denied {
            path: path.clone(),
            access,
            rule: judgement.to_string(),
        }),
    }
}
