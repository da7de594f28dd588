//! Checkpoints and forks hold everything that isn't ignored.

use std::path::Path;

use everruns_core::workspace::WorkspaceError;

use crate::fixture::{Repository, Scene, git, porcelain, read, write};
use crate::status::{conflict, disturb};

/// What Git says of a working tree in every way that matters.
fn everything(folder: &Path) -> [String; 5] {
    let run = |args: &[&str]| {
        let mut all = vec!["--no-optional-locks"];
        all.extend_from_slice(args);
        String::from_utf8_lossy(&crate::fixture::git_raw(folder, &all)).into_owned()
    };
    [
        run(&["status", "--porcelain=v2", "-uall"]),
        run(&["diff", "--binary"]),
        run(&["diff", "--cached", "--binary"]),
        run(&["ls-files", "-s"]),
        run(&["rev-parse", "HEAD"]),
    ]
}

/// Proves C10: a fork is the source's state, staged, unstaged and untracked told apart.
#[tokio::test]
async fn c10_a_fork_is_the_same_to_git() {
    let scene = Scene::new();
    let head = scene.head("source").await;
    let folder = scene.folder(&head);
    git(
        &folder,
        &["commit", "-q", "--allow-empty", "-m", "in the head"],
    );
    disturb(&folder);
    let before = everything(&folder);
    let fork = head.fork("fork").await.unwrap();
    assert_eq!(everything(&folder), before, "the source is not touched");
    assert_eq!(everything(&scene.folder(&fork)), before);
    assert_eq!(fork.descriptor().forked_from.as_ref(), Some(head.id()));
    assert!(!scene.folder(&fork).join("noise.log").exists());
    assert_ne!(fork.descriptor().branch, head.descriptor().branch);

    write(
        &scene.folder(&fork).join("untracked.txt"),
        "only in the fork\n",
    );
    assert_eq!(read(&folder.join("untracked.txt")), "untracked\n");
}

#[tokio::test]
async fn c10_conflicts_survive_a_fork() {
    let scene = Scene::new();
    let head = scene.head("source").await;
    let folder = scene.folder(&head);
    conflict(&folder);
    let before = everything(&folder);
    let fork = head.fork("fork").await.unwrap();
    assert_eq!(everything(&scene.folder(&fork)), before);
}

#[tokio::test]
async fn c10_files_may_become_folders_and_folders_files() {
    let scene = Scene::new();
    let head = scene.head("source").await;
    let folder = scene.folder(&head);
    std::fs::remove_file(folder.join("README.md")).unwrap();
    write(&folder.join("README.md/inside"), "a folder now\n");
    std::fs::remove_dir_all(folder.join("src")).unwrap();
    write(&folder.join("src"), "a file now\n");
    let before = everything(&folder);
    let fork = head.fork("fork").await.unwrap();
    assert_eq!(everything(&scene.folder(&fork)), before);
}

/// A checkpoint changes nothing in the head, and what is kept already is not kept again.
#[tokio::test]
async fn c11_a_checkpoint_touches_nothing() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let record = scene
        .repository
        .path
        .join(".git/worktrees")
        .join(head.id().as_str());
    let clean = head.checkpoint().await.unwrap();
    assert!(!clean.uncommitted);
    assert_eq!(
        clean.revision,
        git(&folder, &["rev-parse", "HEAD"]),
        "a clean state is its commit"
    );

    disturb(&folder);
    let index = std::fs::read(record.join("index")).unwrap();
    let before = everything(&folder);
    let dirty = head.checkpoint().await.unwrap();
    assert!(dirty.uncommitted);
    assert_eq!(everything(&folder), before);
    assert_eq!(std::fs::read(record.join("index")).unwrap(), index);

    let objects = || git(&folder, &["count-objects"]);
    let counted = objects();
    assert_eq!(
        head.checkpoint().await.unwrap(),
        dirty,
        "an unchanged state is kept already"
    );
    assert_eq!(objects(), counted, "and writes no object");

    let tree = git(
        &folder,
        &["rev-parse", &format!("{}^{{tree}}", dirty.revision)],
    );
    git(&folder, &["add", "-A"]);
    assert_eq!(
        tree,
        git(&folder, &["write-tree"]),
        "the tree is what git would make of the files"
    );
    git(&folder, &["fsck", "--strict"]);
    git(&folder, &["gc", "-q", "--prune=now"]);
    let listed = head.checkpoints().await.unwrap();
    assert_eq!(listed, [clean, dirty]);
}

/// Every file below the repository's objects, packs included.
fn object_files(scene: &Scene) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![scene.repository.path.join(".git/objects")];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// C11: a state that is kept already writes no file among the objects, whatever kind of state it is.
#[tokio::test]
async fn c11_an_unchanged_state_writes_no_object() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let states: [&dyn Fn(); 5] = [
        &|| {},
        &|| disturb(&folder),
        &|| {
            git(&folder, &["add", "-A"]);
        },
        &|| {
            git(&folder, &["commit", "-qm", "work"]);
            git(&folder, &["gc", "-q"]);
        },
        &|| {
            git(&folder, &["reset", "-q", "--hard", "main"]);
            conflict(&folder);
        },
    ];
    for (number, change) in states.into_iter().enumerate() {
        change();
        let first = head.checkpoint().await.unwrap();
        let objects = object_files(&scene);
        // The same bytes, written again at another time.
        for path in ["src/lib.rs", "untracked.txt"] {
            if let Ok(content) = std::fs::read(folder.join(path)) {
                std::fs::write(folder.join(path), content).unwrap();
            }
        }
        assert_eq!(head.checkpoint().await.unwrap(), first, "state {number}");
        assert_eq!(object_files(&scene), objects, "state {number}");
        // Looking stores nothing either.
        head.status().await.unwrap();
        head.diff().await.unwrap();
        head.plan_restore(&first).await.unwrap();
        assert_eq!(object_files(&scene), objects, "state {number}");
    }
}

#[tokio::test]
async fn checkpoints_have_labels_and_numbers() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let first = head
        .checkpoint_labelled("before\nthe change")
        .await
        .unwrap();
    write(&scene.folder(&head).join("a.txt"), "a\n");
    let second = head.checkpoint().await.unwrap();
    assert_eq!((first.number, second.number), (1, 2));
    assert_eq!(first.label.as_deref(), Some("before the change"));
    assert!(!first.uncommitted);
    assert_eq!(head.checkpoints().await.unwrap(), [first, second]);
}

/// H23: what can't be kept is said, and keeps the head from being destroyed.
#[tokio::test]
async fn h23_nested_repositories_are_reported_and_never_lost() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    Repository::empty(&folder.join("nested/empty"));
    Repository::small(&folder.join("nested/full"));
    let made = std::os::unix::net::UnixListener::bind(folder.join("socket")).unwrap();
    let checkpoint = head.checkpoint().await.unwrap();
    let paths: Vec<&str> = checkpoint
        .uncaptured
        .iter()
        .map(|entry| entry.path.as_str())
        .collect();
    assert_eq!(paths, ["nested/empty", "nested/full", "socket"]);
    assert_eq!(
        head.checkpoints().await.unwrap()[0].uncaptured,
        checkpoint.uncaptured
    );
    drop(made);

    let failure = head.destroy().await.unwrap_err();
    assert!(
        matches!(failure, WorkspaceError::HeadUnavailable { .. }),
        "{failure}"
    );
    assert!(folder.join("nested/full/README.md").exists());
    assert!(porcelain(&folder).len() == 2);
    std::fs::remove_dir_all(folder.join("nested")).unwrap();
    head.destroy().await.unwrap();
}

/// H42: names that are no text are kept byte for byte.
#[tokio::test]
async fn h42_names_that_are_no_text_survive() {
    use std::os::unix::ffi::OsStrExt as _;
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let name = std::ffi::OsStr::from_bytes(b"not\xfftext\n");
    std::fs::write(folder.join(name), "x").unwrap();
    let status = head.status().await.unwrap();
    assert_eq!(status.entries[0].path, "not\\xfftext\n");
    let fork = head.fork("fork").await.unwrap();
    assert!(scene.folder(&fork).join(name).exists());
}

/// H44: a huge sparse file is not read, is told, and keeps the head from being destroyed.
#[tokio::test]
async fn h44_a_huge_file_is_told_and_not_read() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let path = scene.folder(&head).join("huge");
    let file = std::fs::OpenOptions::new()
        .create_new(true)
        .write(true)
        .open(&path)
        .unwrap();
    file.set_len(1 << 40).unwrap();
    drop(file);
    let checkpoint = head.checkpoint().await.unwrap();
    assert_eq!(checkpoint.uncaptured[0].reason, "a file of more than 1 GiB");
    assert!(head.destroy().await.is_err());
    assert!(path.exists());
}

/// Retention is explicit, and leaves what a fork or a receipt still needs.
#[tokio::test]
async fn pruning_keeps_the_latest_and_what_is_needed() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let mut taken = Vec::new();
    for number in 1..=6 {
        write(&folder.join("README.md"), &format!("{number}\n"));
        write(&folder.join(format!("new-{number}")), "new\n");
        taken.push(
            head.checkpoint_labelled(&format!("step {number}"))
                .await
                .unwrap(),
        );
        if number == 2 {
            head.fork("fork").await.unwrap();
        }
    }
    assert_eq!(
        taken
            .iter()
            .map(|kept| kept.changed_paths)
            .collect::<Vec<_>>(),
        (2..=7).map(Some).collect::<Vec<_>>()
    );
    let receipt = head.prune_checkpoints(2).await.unwrap();
    let numbers = |kept: &[everruns_core::workspace::WorkspaceCheckpoint]| {
        kept.iter().map(|kept| kept.number).collect::<Vec<_>>()
    };
    assert_eq!(numbers(&receipt.removed), [1, 3, 4]);
    assert_eq!(receipt.removed[0], taken[0]);
    let left = head.checkpoints().await.unwrap();
    assert_eq!((numbers(&left), receipt.kept), (vec![2, 5, 6], 3));
    assert!(head.restore(&taken[2]).await.is_err());
    head.restore(&taken[1]).await.unwrap();
    write(&folder.join("README.md"), "last\n");
    let destroyed = head.destroy().await.unwrap();
    let kept = destroyed.checkpoint.clone().unwrap();
    head.prune_checkpoints(0).await.unwrap();
    assert_eq!(
        numbers(&head.checkpoints().await.unwrap()),
        [2, kept.number]
    );
    assert_eq!(head.destroy().await.unwrap(), destroyed);
}

/// A checkpoint that could not be read back is not taken: the index names an object that the repository doesn't have.
#[tokio::test]
async fn a_missing_object_is_told() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let missing = "100644,1234567890123456789012345678901234567890,absent.txt";
    git(&folder, &["update-index", "--add", "--cacheinfo", missing]);
    let failure = head.checkpoint().await.unwrap_err();
    let words = format!("{failure:?}");
    assert!(
        words.contains("ObjectMissing") && words.contains("absent.txt"),
        "{words}"
    );
    assert!(head.checkpoints().await.unwrap().is_empty());
}

/// A checkpoint of a clean head is its commit itself, and is nevertheless listed with the time at which it was taken, also
/// once its reference is packed. It costs no object.
#[tokio::test]
async fn a_clean_checkpoint_has_the_time_at_which_it_was_taken() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let date = "2001-01-01T00:00:00Z";
    write(&folder.join("README.md"), "long ago\n");
    git(&folder, &["commit", "-qam", "long ago", "--date", date]);
    let tree = git(&folder, &["rev-parse", "HEAD^{tree}"]);
    let old = ["commit-tree", "-p", "HEAD~1", "-m", "long ago", &tree];
    #[expect(clippy::disallowed_methods, reason = "a commit with a date of its own")]
    let made = std::process::Command::new("git")
        .args(old)
        .current_dir(&folder)
        .env("GIT_COMMITTER_DATE", date)
        .output()
        .unwrap();
    let commit = String::from_utf8(made.stdout).unwrap();
    git(&folder, &["reset", "-q", "--hard", commit.trim()]);
    let objects = git(project, &["count-objects"]);
    // What was made just before is not younger.
    let before = head.descriptor().created_at.as_millis().div_euclid(1000) * 1000;
    let taken = head.checkpoint().await.unwrap();
    assert_eq!(taken.revision, commit.trim());
    assert!(taken.created_at.as_millis() >= before, "{taken:?}");
    assert_eq!(git(project, &["count-objects"]), objects);
    let listed = async || head.checkpoints().await.unwrap();
    assert_eq!(listed().await, std::slice::from_ref(&taken));
    assert_eq!(head.checkpoint().await.unwrap(), taken, "the same again");
    git(project, &["pack-refs", "--all"]);
    git(project, &["gc", "-q", "--prune=now"]);
    assert_eq!(listed().await, std::slice::from_ref(&taken));
    write(&folder.join("README.md"), "now\n");
    head.checkpoint().await.unwrap();
    let pruned = head.prune_checkpoints(1).await.unwrap().removed;
    assert_eq!(pruned, std::slice::from_ref(&taken));
    let log = project.join(".git/logs").join(taken.location.unwrap());
    assert!(!log.exists(), "the log goes with the reference");
}
