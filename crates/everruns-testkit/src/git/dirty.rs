use super::GitFixture;

impl GitFixture {
    /// Brings the working folder of [`sample`](Self::sample) into every state that `git status` tells apart:
    /// staged, unstaged, both, untracked, ignored, removed, renamed and executable by now.
    ///
    /// # Panics
    /// When a step fails.
    pub fn make_dirty(&self) {
        self.write("src/lib.rs", "pub fn answer() -> u32 {\n    43\n}\n");
        self.git(&["add", "src/lib.rs"]);
        self.write("src/lib.rs", "pub fn answer() -> u32 {\n    44\n}\n");
        self.write("README.md", "# Sample, changed\n");
        self.write("staged.txt", "staged\n");
        self.git(&["add", "staged.txt"]);
        self.write("untracked/new file.txt", "untracked\n");
        self.write("ignored.log", "ignored\n");
        self.write("target/ignored", "ignored\n");
        self.remove("empty");
        self.git(&["mv", "data.bin", "moved.bin"]);
        self.write_executable("src/deep/er/module.rs", "// nothing\n");
    }

    /// Leaves the working folder in the middle of a merge with a conflict in `README.md`.
    ///
    /// # Panics
    /// When a step fails.
    pub fn make_conflicted(&self) {
        self.git(&["checkout", "-q", "-b", "conflicting"]);
        self.write("README.md", "# Theirs\n");
        self.commit_all("Change the title there");
        self.git(&["checkout", "-q", "main"]);
        self.write("README.md", "# Ours\n");
        self.commit_all("Change the title here");
        let merge = self.try_git_in(self.path(), &["merge", "-q", "conflicting"]);
        assert!(!merge.status.success(), "the merge has no conflict");
    }
}
