use std::path::Path;

use anyhow::{Context as _, ensure};
use everruns::WorkspaceHeadId;
use everruns_testkit::git::{GitFixture, GitOutput};

use crate::clash::side_of_branch;
use crate::files::Files;
use crate::place::START;

/// The branch for the updates of a child.
pub(crate) fn upstream(seed: u64) -> String {
    format!("upstream-{seed}")
}

/// The file that such a branch adds.
pub(crate) fn upstream_file(branch: &str) -> (String, String) {
    (format!("{branch}.txt"), format!("of {branch}\n"))
}

/// What the names of branches and files begin with on which heads do not agree with a branch.
const CLASH: &str = "clash-";

/// The branch that conflicts with the head of a child.
pub(crate) fn clashing(seed: u64) -> String {
    format!("{CLASH}{seed}")
}

/// The file that such a branch adds.
pub(crate) fn clash_file(branch: &str) -> (String, String) {
    (format!("{branch}.txt"), side_of_branch(branch))
}

/// Whether the record of a session says what is in this file. It knows nothing of conflicts, which have a check of their
/// own.
pub(crate) fn is_followed(path: &str) -> bool {
    !path.starts_with(CLASH)
}

/// The repository as its user has it, looked at with the real `git`.
#[derive(Debug)]
pub(crate) struct Project {
    fixture: GitFixture,
    folder: std::path::PathBuf,
    target: String,
}

impl Project {
    pub(crate) fn new() -> anyhow::Result<Self> {
        let fixture = GitFixture::sample();
        let parent = fixture.path();
        let parent = parent.parent().context("a project is in a folder")?;
        let folder = parent.join("project");
        std::fs::rename(fixture.path(), &folder)?;
        let project = Self {
            fixture,
            folder,
            target: "main".to_owned(),
        };
        project.git(&["tag", START])?;
        Ok(project)
    }

    /// Where the project's folder is in.
    pub(crate) fn parent(&self) -> &Path {
        self.folder.parent().unwrap_or(&self.folder)
    }

    /// Makes a branch for the merges of a child, and checks it out when `followed`; two with one more file each, for its
    /// updates; and packs the references when `packed`.
    pub(crate) fn prepare(
        &mut self,
        seed: u64,
        followed: bool,
        packed: bool,
    ) -> anyhow::Result<()> {
        let (upstream, clashing) = (upstream(seed), clashing(seed));
        self.branch(&upstream, upstream_file(&upstream))?;
        self.branch(&clashing, clash_file(&clashing))?;
        self.target = format!("merged-{seed}");
        self.git(&["branch", &self.target, START])?;
        let shown = if followed { &self.target } else { "main" };
        self.git(&["checkout", "-q", shown])?;
        if packed {
            self.git(&["pack-refs", "--all"])?;
        }
        Ok(())
    }

    /// Makes a branch with one more file, and checks it out.
    fn branch(&self, name: &str, (path, text): (String, String)) -> anyhow::Result<()> {
        self.git(&["checkout", "-q", "-b", name, START])?;
        std::fs::write(self.folder.join(&path), text)?;
        self.git(&["add", &path])?;
        self.git(&["commit", "-q", "-m", name]).map(drop)
    }

    /// What `git fsck` finds missing, broken or leading nowhere.
    pub(crate) fn faults(&self) -> String {
        let arguments = [
            "fsck",
            "--connectivity-only",
            "--no-dangling",
            "--no-progress",
        ];
        let output = self.fixture.try_git_in(&self.folder, &arguments);
        let mut told = output.text();
        if !output.status.success() {
            told.push_str(&output.stderr);
        }
        told
    }

    /// The branch for merges.
    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    /// What `git status` says of the project's own worktree.
    pub(crate) fn changes(&self) -> anyhow::Result<String> {
        Ok(self.git(&["status", "--porcelain"])?.text())
    }

    pub(crate) fn resolves(&self, revision: &str) -> bool {
        self.succeeds(&["rev-parse", "--verify", "-q", revision])
    }

    /// Whether a branch leads to this commit.
    pub(crate) fn contains(&self, branch: &str, revision: &str) -> bool {
        self.succeeds(&["merge-base", "--is-ancestor", revision, branch])
    }

    /// The refs that keep something of a head.
    pub(crate) fn refs_of(&self, head: &WorkspaceHeadId) -> anyhow::Result<Vec<String>> {
        let under = format!("refs/everruns/heads/{head}");
        let listed = self.git(&["for-each-ref", "--format=%(refname)", &under])?;
        Ok(listed.text().lines().map(str::to_owned).collect())
    }

    /// The files of a commit, links aside.
    pub(crate) fn files_of(&self, revision: &str) -> anyhow::Result<Files> {
        let listed = self.git(&["ls-tree", "-r", "-z", revision])?;
        let text = String::from_utf8(listed.stdout)?;
        let mut files = Files::new();
        for line in text.split_terminator('\0') {
            let (entry, path) = line.split_once('\t').context("`git ls-tree` changed")?;
            let mut entry = entry.split(' ');
            if entry.next() == Some("120000") {
                continue;
            }
            let id = entry.nth(1).context("`git ls-tree` changed")?;
            let blob = self.git(&["cat-file", "blob", id])?;
            let content = String::from_utf8_lossy(&blob.stdout).into_owned();
            if is_followed(path) {
                files.insert(path.to_owned(), content);
            }
        }
        Ok(files)
    }

    /// The files that are no links in the project.
    pub(crate) fn without_links(&self, files: &Files) -> Files {
        let mut files = files.clone();
        files.retain(|path, _| !self.folder.join(path).is_symlink());
        files
    }

    fn succeeds(&self, arguments: &[&str]) -> bool {
        self.succeeds_in(&self.folder, arguments)
    }

    pub(crate) fn succeeds_in(&self, folder: &Path, arguments: &[&str]) -> bool {
        let output = self.fixture.try_git_in(folder, arguments);
        output.status.success()
    }

    fn git(&self, arguments: &[&str]) -> anyhow::Result<GitOutput> {
        self.git_in(&self.folder, arguments)
    }

    /// The real `git` in a worktree.
    pub(crate) fn git_in(&self, folder: &Path, arguments: &[&str]) -> anyhow::Result<GitOutput> {
        let output = self.fixture.try_git_in(folder, arguments);
        ensure!(
            output.status.success(),
            "git {arguments:?}: {}",
            output.stderr
        );
        Ok(output)
    }
}
