use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use tempfile::TempDir;

use super::command::{self, GitOutput};
use super::snapshot::RepositorySnapshot;

/// The time of the first commit, in seconds since the Unix epoch.
const FIRST_SECOND: u64 = 1_700_000_000;

/// A repository in a temporary folder, made with the real `git`.
///
/// Names, dates and settings are fixed, so that the same steps give the same commit ids. Every method panics
/// with what `git` said when a step fails: a fixture that cannot be made is no test.
#[derive(Debug)]
pub struct GitFixture {
    folder: TempDir,
    commits: AtomicU64,
}

impl GitFixture {
    /// A repository without a commit, on the branch `main`.
    pub fn empty() -> Self {
        Self::init(&["-b", "main"])
    }

    /// A repository without a commit whose ids are SHA-256.
    pub fn empty_sha256() -> Self {
        Self::init(&["-b", "main", "--object-format=sha256"])
    }

    fn init(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("tests can make temporary folders");
        let fixture = Self {
            folder,
            commits: AtomicU64::new(0),
        };
        std::fs::create_dir(fixture.path()).expect("the temporary folder is new");
        let arguments: Vec<&str> = ["init", "-q"].iter().chain(options).copied().collect();
        fixture.git(&arguments);
        fixture
    }

    /// A small project with one commit on `main`, and a branch `other` with one commit more.
    ///
    /// It has text, a binary file, an executable one, a link, an empty file, nested folders and `.gitignore`.
    pub fn sample() -> Self {
        let fixture = Self::empty();
        fixture.write("README.md", "# Sample\n\nA project for tests.\n");
        fixture.write("src/lib.rs", "pub fn answer() -> u32 {\n    42\n}\n");
        fixture.write("src/deep/er/module.rs", "// nothing\n");
        fixture.write("empty", "");
        fixture.write("data.bin", [0_u8, 1, 2, 255, 0, 10]);
        fixture.write(".gitignore", "target/\n*.log\n");
        fixture.write_executable("run.sh", "#!/bin/sh\necho run\n");
        fixture.link("link", "src/lib.rs");
        fixture.commit_all("Add the sample");
        fixture.git(&["checkout", "-q", "-b", "other"]);
        fixture.write("src/other.rs", "pub fn other() {}\n");
        fixture.commit_all("Add another file");
        fixture.git(&["checkout", "-q", "main"]);
        fixture
    }

    /// The repository's working folder.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("repository")
    }

    /// A path beside the repository, such as for a state folder. It is not made.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs `git` in the repository.
    ///
    /// # Panics
    /// When it cannot be run or fails.
    pub fn git<A: AsRef<OsStr>>(&self, arguments: &[A]) -> GitOutput {
        self.git_in(self.path(), arguments)
    }

    /// Runs `git` in another folder, such as a worktree, with the same settings.
    ///
    /// # Panics
    /// When it cannot be run or fails.
    pub fn git_in<A: AsRef<OsStr>>(&self, folder: impl AsRef<Path>, arguments: &[A]) -> GitOutput {
        let output = self.try_git_in(folder, arguments);
        let shown: Vec<&OsStr> = arguments.iter().map(AsRef::as_ref).collect();
        assert!(
            output.status.success(),
            "git {shown:?} failed: {}",
            output.stderr
        );
        output
    }

    /// Runs `git` in a folder and tells how it ended.
    ///
    /// # Panics
    /// When it cannot be run.
    pub fn try_git_in<A: AsRef<OsStr>>(
        &self,
        folder: impl AsRef<Path>,
        arguments: &[A],
    ) -> GitOutput {
        let arguments: Vec<&OsStr> = arguments.iter().map(AsRef::as_ref).collect();
        let second = FIRST_SECOND + 60 * self.commits.load(Ordering::SeqCst);
        command::run(folder.as_ref(), self.folder.path(), second, &arguments)
            .expect("tests of this kind need the program git")
    }

    /// Writes a file with its missing folders.
    ///
    /// # Panics
    /// When the host refuses.
    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        let folder = path
            .parent()
            .expect("a file of the repository is in a folder");
        std::fs::create_dir_all(folder).expect("folders of the fixture can be made");
        std::fs::write(path, bytes).expect("files of the fixture can be written");
    }

    /// Writes a file that its owner may execute.
    ///
    /// # Panics
    /// When the host refuses.
    pub fn write_executable(&self, path: &str, bytes: impl AsRef<[u8]>) {
        use std::os::unix::fs::PermissionsExt as _;
        self.write(path, bytes);
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(self.path().join(path), mode).expect("modes can be set");
    }

    /// Makes a symbolic link.
    ///
    /// # Panics
    /// When the host refuses.
    pub fn link(&self, path: &str, target: impl AsRef<Path>) {
        std::os::unix::fs::symlink(target, self.path().join(path)).expect("links can be made");
    }

    /// Removes a file.
    ///
    /// # Panics
    /// When the host refuses.
    pub fn remove(&self, path: &str) {
        std::fs::remove_file(self.path().join(path)).expect("files of the fixture can be removed");
    }

    /// Commits everything and gives the commit's id. Each commit is a minute later than the one before.
    ///
    /// # Panics
    /// When `git` fails.
    pub fn commit_all(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.commits.fetch_add(1, Ordering::SeqCst);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.id_of("HEAD")
    }

    /// The object id that a revision names.
    ///
    /// # Panics
    /// When it names none.
    pub fn id_of(&self, revision: &str) -> String {
        self.git(&["rev-parse", "--verify", revision]).text()
    }

    /// Makes a branch at HEAD without switching to it.
    ///
    /// # Panics
    /// When `git` fails.
    pub fn branch(&self, name: &str) {
        self.git(&["branch", name]);
    }

    /// Everything of the repository that is the user's, to compare with a later snapshot.
    ///
    /// # Panics
    /// When a file cannot be read.
    pub fn snapshot(&self) -> RepositorySnapshot {
        RepositorySnapshot::of(&self.path()).expect("files of the fixture can be read")
    }
}
