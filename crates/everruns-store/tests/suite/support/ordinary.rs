use everruns_testkit::ordinary::{command, is_root};

const AS_ORDINARY: &str = "EVERRUNS_STORE_TEST_ORDINARY";

/// Runs `work` at once, or in a process of an ordinary user when this one is root's.
pub(crate) async fn run_as_ordinary_user<F>(test: &str, work: impl FnOnce() -> F)
where
    F: Future<Output = ()>,
{
    if std::env::var_os(AS_ORDINARY).is_some() || !is_root().unwrap() {
        assert!(
            !is_root().unwrap(),
            "still root: the test would prove nothing"
        );
        return work().await;
    }
    let (_crate, name) = test.split_once("::").unwrap();
    // Built programs may lie where only root can read.
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("test");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let status = command(&program, folder.path())
        .unwrap()
        .args(["--exact", name, "--nocapture"])
        .env(AS_ORDINARY, "1")
        .env("TMPDIR", folder.path())
        .status()
        .unwrap();
    assert!(status.success());
}
