//! Files and folders that nobody may read, or write into. Root may do everything, so these run as an ordinary user.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use everruns_core::workspace::{WorkspaceCheckpoint, WorkspaceError};
use everruns_testkit::ordinary::{command, is_root};

use crate::fixture::{Scene, git, porcelain, read, told, write};

const AS_ORDINARY: &str = "EVERRUNS_GIT_TEST_ORDINARY";

/// Runs `work` at once, or the test of that name again in a process of an ordinary user when this one is root's.
async fn as_ordinary_user<F: Future<Output = ()>>(name: &str, work: impl FnOnce() -> F) {
    if !is_root().unwrap() {
        return work().await;
    }
    assert!(
        std::env::var_os(AS_ORDINARY).is_none(),
        "still root: the test would prove nothing"
    );
    // Built programs may lie where only root can read.
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("test");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let output = command(&program, folder.path())
        .unwrap()
        .args(["--exact", &format!("unreadable::{name}"), "--nocapture"])
        .env(AS_ORDINARY, "1")
        .env("TMPDIR", folder.path())
        .output()
        .unwrap();
    let words = [output.stdout, output.stderr].concat();
    let words = String::from_utf8_lossy(&words);
    let has_run = output.status.success() && words.contains("1 passed");
    assert!(has_run, "{words}");
}

fn allow(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn uncaptured(taken: &WorkspaceCheckpoint) -> Vec<&str> {
    let entries = taken.uncaptured.iter();
    entries.map(|entry| entry.path.as_str()).collect()
}

/// Proves C09 and the promise of checkpoints for what may not be read: Git warns and goes on, and so does everything
/// here; what is not kept is listed, and keeps the head from being destroyed.
#[tokio::test]
async fn c09_what_may_not_be_read_is_told_and_stops_nothing_else() {
    as_ordinary_user(
        "c09_what_may_not_be_read_is_told_and_stops_nothing_else",
        async || {
            let scene = Scene::new();
            let project = &scene.repository.path;
            let head = scene.head("one").await;
            let folder = scene.folder(&head);
            let closed = [
                (folder.join("secret.txt"), 0o600),
                (folder.join("private"), 0o700),
                (folder.join("src/deep"), 0o755),
            ];
            write(&folder.join("secret.txt"), "secret\n");
            write(&folder.join("private/notes.txt"), "private\n");
            write(&folder.join("README.md"), "changed\n");
            write(&folder.join("work.txt"), "work\n");
            for (path, _) in &closed {
                allow(path, 0);
            }
            let status = head.status().await.unwrap();
            let expected = [" M README.md", "?? secret.txt", "?? work.txt"];
            assert_eq!(told(&status), expected);
            assert_eq!(porcelain(&folder), expected, "as Git tells it");
            let degraded = status.degraded.iter();
            let degraded = degraded.filter(|fact| fact.kind == "unreadable");
            let degraded: Vec<_> = degraded.filter_map(|fact| fact.path.as_deref()).collect();
            assert_eq!(degraded, ["private", "src/deep", "src/deep/er/file.txt"]);

            let taken = head.checkpoint().await.unwrap();
            let missing = uncaptured(&taken);
            for path in ["secret.txt", "private", "src/deep/er/file.txt"] {
                assert!(missing.contains(&path), "{path} in {missing:?}");
            }
            let kept = taken.location.clone().unwrap();
            let show = |file: &str| git(project, &["show", &format!("{kept}:{file}")]);
            assert_eq!(
                (show("README.md"), show("work.txt")),
                ("changed".into(), "work".into())
            );
            assert_eq!(
                show("src/deep/er/file.txt"),
                "deep",
                "not taken for deleted"
            );
            let fork = head.fork("two").await.unwrap();
            assert_eq!(read(&scene.folder(&fork).join("work.txt")), "work\n");

            let refused = head.destroy().await.unwrap_err().to_string();
            assert!(refused.contains("can't be read"), "{refused}");
            assert!(folder.join("work.txt").exists());
            for (path, mode) in &closed {
                allow(path, *mode);
            }
            let receipt = head.destroy().await.unwrap().kept_ref.unwrap();
            for name in ["secret.txt", "private/notes.txt"] {
                git(project, &["cat-file", "-e", &format!("{receipt}:{name}")]);
            }
        },
    )
    .await;
}

/// A commit is refused as Git refuses it, rather than recording a file that can't be read as deleted.
#[tokio::test]
async fn a_file_that_may_not_be_read_is_not_committed_as_deleted() {
    as_ordinary_user(
        "a_file_that_may_not_be_read_is_not_committed_as_deleted",
        async || {
            let scene = Scene::new();
            let head = scene.head("one").await;
            let folder = scene.folder(&head);
            write(&folder.join("README.md"), "changed, and closed\n");
            allow(&folder.join("README.md"), 0);
            assert_eq!(told(&head.status().await.unwrap()), porcelain(&folder));
            let request = everruns_core::workspace::CommitRequest::new("all");
            let refused = head.commit(request).await.unwrap_err();
            assert!(refused.to_string().contains("README.md"), "{refused}");
            assert_eq!(git(&folder, &["rev-parse", "HEAD"]), head.base());
            // What was there when it could be read is not written over by a restore.
            allow(&folder.join("README.md"), 0o600);
            let before = head.checkpoint().await.unwrap();
            write(&folder.join("README.md"), "closed work\n");
            allow(&folder.join("README.md"), 0);
            let blocked = head.restore(&before).await.unwrap_err();
            assert!(
                matches!(blocked, WorkspaceError::HeadUnavailable { .. }),
                "{blocked}"
            );
            allow(&folder.join("README.md"), 0o600);
            assert_eq!(read(&folder.join("README.md")), "closed work\n");
        },
    )
    .await;
}

/// Folders that nobody may write into, such as those of Go's module cache, go with the head all the same.
#[tokio::test]
async fn folders_that_are_read_only_are_deleted() {
    as_ordinary_user("folders_that_are_read_only_are_deleted", async || {
        let scene = Scene::new();
        let head = scene.head("one").await;
        let folder = scene.folder(&head);
        let outside = scene.root.path().join("outside");
        write(&outside.join("file.txt"), "outside\n");
        let cache = folder.join("ignored/cache");
        write(&cache.join("module/deep/code.go"), "package code\n");
        std::os::unix::fs::symlink(&outside, cache.join("link")).unwrap();
        allow(&outside, 0o555);
        allow(&cache.join("module/deep"), 0);
        for read_only in [cache.join("module"), cache.clone()] {
            allow(&read_only, 0o555);
        }
        head.destroy().await.unwrap();
        scene.trash_is_emptied().await;
        assert_eq!(read(&outside.join("file.txt")), "outside\n");
        let mode = std::fs::metadata(&outside).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o555, "links are not followed");
        allow(&outside, 0o755);
    })
    .await;
}

/// Without the rules it can't be told what is ignored, so whoever asks is told which file it is; nothing is kept of what
/// may be ignored.
#[tokio::test]
async fn rules_that_may_not_be_read_are_named() {
    as_ordinary_user("rules_that_may_not_be_read_are_named", async || {
        let scene = Scene::new();
        let head = scene.head("one").await;
        let rules = scene.folder(&head).join("sub/.gitignore");
        write(&rules, "*.txt\n");
        write(&rules.with_file_name("a.txt"), "a\n");
        allow(&rules, 0);
        for failure in [
            head.status().await.unwrap_err(),
            head.checkpoint().await.unwrap_err(),
            head.destroy().await.unwrap_err(),
        ] {
            let is_named = matches!(
                &failure,
                WorkspaceError::PermissionDenied { path, .. } if path.ends_with("sub/.gitignore")
            );
            assert!(is_named, "{failure:?}");
        }
        allow(&rules, 0o600);
        assert_eq!(told(&head.status().await.unwrap()), ["?? sub/.gitignore"]);
        head.destroy().await.unwrap();
    })
    .await;
}
