use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

/// `nobody` on every system that has one.
const NOBODY: u32 = 65_534;

#[cfg(feature = "sqlite")]
const AS_ORDINARY: &str = "EVERRUNS_STORE_TEST_ORDINARY";

/// Whether this process may do everything.
pub(crate) fn is_root() -> bool {
    // What a process makes belongs to its user.
    let file = tempfile::NamedTempFile::new().unwrap();
    file.path().metadata().unwrap().uid() == 0
}

/// A command that runs in `folder`, which is made its own, as an ordinary user.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place where tests start programs as another user"
)]
pub(crate) fn command(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder);
    if is_root() {
        chown(folder, Some(NOBODY), Some(NOBODY)).unwrap();
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

/// Runs `work` at once, or in a process of an ordinary user when this one is root's.
#[cfg(feature = "sqlite")]
pub(crate) async fn run_as_ordinary_user<F>(test: &str, work: impl FnOnce() -> F)
where
    F: Future<Output = ()>,
{
    if std::env::var_os(AS_ORDINARY).is_some() || !is_root() {
        assert!(!is_root(), "still root: the test would prove nothing");
        return work().await;
    }
    let (_crate, name) = test.split_once("::").unwrap();
    // Built programs may lie where only root can read.
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("test");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let status = command(&program, folder.path())
        .args(["--exact", name, "--nocapture"])
        .env(AS_ORDINARY, "1")
        .env("TMPDIR", folder.path())
        .status()
        .unwrap();
    assert!(status.success());
}
