//! Where things are in the state folder.

use std::env;
use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use crate::error::{GitError, IoStep as _, Result};

/// The folders that the state folder holds.
const FOLDERS: [&str; 7] = [
    "workspaces",
    "heads",
    "worktrees",
    "locks",
    "intents",
    "leaving",
    "trash",
];

/// The state folder, absolute and free of links.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    root: PathBuf,
}

/// How the names of records end of operations that are to be taken back.
pub(super) const TURNED: &str = "back";

impl Layout {
    /// Makes the state folder at `state`, unless it would lie inside a repository or a head.
    pub(crate) fn create(state: &Path) -> Result<Self> {
        let current = env::current_dir().step("find the current folder for", state)?;
        let absolute = current.join(state);
        refuse_inside_repository(&absolute)?;
        // Heads hold what their repositories hold, so nobody else looks into a folder made here.
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&absolute)
            .step("create the state folder", &absolute)?;
        // Links are resolved once, here, so that every path recorded later is the one Git records too.
        let root = fs::canonicalize(&absolute).step("resolve the state folder", &absolute)?;
        refuse_inside_repository(&root)?;
        for folder in FOLDERS {
            let path = root.join(folder);
            fs::create_dir_all(&path).step("create", &path)?;
        }
        Ok(Self { root })
    }

    /// Makes the folders of a workspace.
    pub(crate) fn prepare(&self, workspace: &str) -> Result<()> {
        let worktrees = self.root.join("worktrees").join(workspace);
        for folder in [self.names(workspace), self.heads(workspace), worktrees] {
            fs::create_dir_all(&folder).step("create", &folder)?;
        }
        Ok(())
    }

    /// The state folder itself.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder with the records of workspaces.
    pub(crate) fn workspaces(&self) -> PathBuf {
        self.root.join("workspaces")
    }

    /// The record of a workspace.
    pub(crate) fn workspace(&self, workspace: &str) -> PathBuf {
        self.root
            .join("workspaces")
            .join(format!("{workspace}.json"))
    }

    /// The folder with the names in use in a workspace.
    pub(crate) fn names(&self, workspace: &str) -> PathBuf {
        self.root
            .join("workspaces")
            .join(format!("{workspace}.names"))
    }

    /// The folder with the records of a workspace's heads.
    pub(crate) fn heads(&self, workspace: &str) -> PathBuf {
        self.root.join("heads").join(workspace)
    }

    /// The record of a head.
    pub(crate) fn head(&self, workspace: &str, head: &str) -> PathBuf {
        self.heads(workspace).join(format!("{head}.json"))
    }

    /// The claim on an isolated head.
    pub(crate) fn claim(&self, workspace: &str, head: &str) -> PathBuf {
        self.heads(workspace).join(format!("{head}.claim"))
    }

    /// What came along of ignored files when a head was made.
    pub(crate) fn included(&self, workspace: &str, head: &str) -> PathBuf {
        self.heads(workspace).join(format!("{head}.included"))
    }

    /// The folder with the working trees of a workspace's heads.
    pub(crate) fn worktrees(&self, workspace: &str) -> PathBuf {
        self.root.join("worktrees").join(workspace)
    }

    /// The working tree of a head.
    pub(crate) fn worktree(&self, workspace: &str, head: &str) -> PathBuf {
        self.root.join("worktrees").join(workspace).join(head)
    }

    /// The lock files for writes through a head's file system.
    pub(crate) fn write_locks(&self, head: &str) -> PathBuf {
        self.root.join("locks").join(format!("{head}.files"))
    }

    /// The lock of a head.
    pub(crate) fn head_lock(&self, head: &str) -> PathBuf {
        self.root.join("locks").join(format!("{head}.lock"))
    }

    /// The lock that who uses a head shares, and who destroys it needs alone.
    pub(crate) fn use_lock(&self, head: &str) -> PathBuf {
        self.root.join("locks").join(format!("{head}.use"))
    }

    /// The lock of what Git shares among the heads of a workspace.
    pub(crate) fn repository_lock(&self, workspace: &str) -> PathBuf {
        self.root.join("locks").join(format!("{workspace}.lock"))
    }

    /// The lock of who moves a branch of a workspace that is checked out somewhere.
    pub(crate) fn branches_lock(&self, workspace: &str) -> PathBuf {
        self.root
            .join("locks")
            .join(format!("{workspace}.branches"))
    }

    /// The folder with the operations under way.
    pub(crate) fn intents(&self) -> PathBuf {
        self.root.join("intents")
    }

    /// The operation under way on a head.
    pub(crate) fn intent(&self, head: &str) -> PathBuf {
        self.intents().join(format!("{head}.json"))
    }

    /// The operation under way on a head, where that is to be taken back.
    pub(crate) fn turned_intent(&self, head: &str) -> PathBuf {
        self.intents().join(format!("{head}.{TURNED}"))
    }

    /// Where a head's working tree is, out of everybody's way, while it is looked through for the last time.
    pub(crate) fn leaving(&self, head: &str) -> PathBuf {
        self.root.join("leaving").join(head)
    }

    /// Where a head's working tree goes to be deleted.
    pub(crate) fn trash(&self, head: &str) -> PathBuf {
        self.root.join("trash").join(head)
    }

    /// The ids of the heads whose working trees wait to be deleted.
    pub(crate) fn trashed(&self) -> Result<Vec<String>> {
        let folder = self.root.join("trash");
        let mut heads = Vec::new();
        for entry in fs::read_dir(&folder).step("list", &folder)? {
            heads.extend(
                entry
                    .step("list", &folder)?
                    .file_name()
                    .to_str()
                    .map(str::to_owned),
            );
        }
        Ok(heads)
    }
}

/// Refuses a folder that a repository around it would take for its own content.
fn refuse_inside_repository(path: &Path) -> Result<()> {
    for folder in path.ancestors() {
        let is_work_tree = fs::symlink_metadata(folder.join(".git")).is_ok();
        let is_git_folder = folder.join("HEAD").is_file()
            && folder.join("objects").is_dir()
            && folder.join("refs").is_dir();
        if is_work_tree || is_git_folder {
            return Err(GitError::StateInside {
                path: path.to_owned(),
                inside: folder.to_owned(),
            });
        }
    }
    Ok(())
}
