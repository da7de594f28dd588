//! A head of 10,000 files of 2 KB under the stack that an engine builds.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use everruns::file_system::SessionFileSystem;
use everruns::path::{RootName, WorkspacePath};
use everruns::{
    LocalGitWorkspace, MemoryFileSystem, MountedFileSystem, PolicyFileSystem, RootAccess,
    SeededFileSystem, Workspace, WorkspacePolicy, WorkspaceRootSet,
};

use crate::git;

/// How many files the head has, in folders of [`IN_FOLDER`].
pub(crate) const FILES: usize = 10_000;

/// How many files a folder has.
pub(crate) const IN_FOLDER: usize = 100;

/// The files, and where they are on the host.
pub(crate) struct Stack {
    pub(crate) files: Arc<dyn SessionFileSystem>,
    pub(crate) folder: PathBuf,
    /// Every file, as the stack and as the host know it.
    pub(crate) paths: Vec<(WorkspacePath, PathBuf)>,
}

impl Stack {
    pub(crate) async fn new(scratch: &Path) -> anyhow::Result<Self> {
        let project = scratch.join("project-files");
        git::Project::generated(&project, FILES)?;
        let backend = Arc::new(LocalGitWorkspace::new(scratch.join("state-files"))?);
        let workspace = Workspace::open(backend, project.to_string_lossy()).await?;
        let head = workspace.head("files").create().await?.file_system();
        let folder = head
            .host_path(&WorkspacePath::root())
            .context("a Git head has a folder")?;
        let roots = WorkspaceRootSet::new().with_root(
            RootName::new("docs")?,
            Arc::new(MemoryFileSystem::new()),
            RootAccess::ReadOnly,
        )?;
        let mounted = MountedFileSystem::new(head, roots);
        let policy = WorkspacePolicy::builder()
            .allow_write("**")
            .deny_write("**/*.lock")
            .build()?;
        let policed = PolicyFileSystem::over_mounts(Arc::new(mounted), &policy);
        let files = Arc::new(SeededFileSystem::new(Arc::new(policed), Vec::new())?);
        let mut paths = Vec::with_capacity(FILES);
        for number in 0..FILES {
            let relative = git::path(number);
            paths.push((WorkspacePath::parse(&relative)?, folder.join(&relative)));
        }
        Ok(Self {
            files,
            folder,
            paths,
        })
    }
}
