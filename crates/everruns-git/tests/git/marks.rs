//! What Git passes over is not lost all the same: files that the index says not to look at, and repositories in the way
//! of tracked paths.

use everruns_core::workspace::{CommitRequest, WorkspaceError};

use crate::fixture::{Scene, git, git_raw, porcelain, read, write};

/// What Git says of a working tree, and what its index is told.
fn everything(folder: &std::path::Path) -> [String; 4] {
    let run = |args: &[&str]| {
        let args = [&["--no-optional-locks"], args].concat();
        String::from_utf8(git_raw(folder, &args)).unwrap()
    };
    [
        run(&["status", "--porcelain=v2", "-uall"]),
        run(&["diff", "--binary"]),
        run(&["diff", "--cached", "--binary"]),
        run(&["ls-files", "-v"]),
    ]
}

/// A fork says of itself what its source says, and a restored head what it said: the marks of an index stay what they are.
#[tokio::test]
async fn c10_forks_and_restores_keep_what_the_index_is_told_to_ignore() {
    for mark in ["--assume-unchanged", "--skip-worktree"] {
        let scene = Scene::new();
        let head = scene.head("one").await;
        let folder = scene.folder(&head);
        let marked = ["README.md", "src/lib.rs", "src/two.rs", "tools/run.sh"];
        for path in marked {
            git(&folder, &["update-index", mark, path]);
        }
        // A clean state, apart from the marks.
        let fork = head.fork("clean").await.unwrap();
        assert_eq!(
            everything(&scene.folder(&fork)),
            everything(&folder),
            "{mark}"
        );
        write(&folder.join("README.md"), "my own settings\n");
        std::fs::remove_file(folder.join("src/two.rs")).unwrap();
        write(&folder.join("src/deep/er/file.txt"), "staged\n");
        git(&folder, &["add", "src/deep/er/file.txt"]);
        write(&folder.join("src/deep/er/file.txt"), "unstaged\n");
        write(&folder.join("new.txt"), "new\n");
        let before = everything(&folder);
        let kept = head.checkpoint().await.unwrap();
        let fork = head.fork("dirty").await.unwrap();
        assert_eq!(everything(&scene.folder(&fork)), before, "{mark}");
        assert_eq!(
            read(&scene.folder(&fork).join("README.md")),
            "my own settings\n"
        );

        head.restore(&kept).await.unwrap();
        assert_eq!(everything(&folder), before, "{mark}: nothing differs");
        write(&folder.join("README.md"), "other settings\n");
        write(&folder.join("new.txt"), "newer\n");
        head.restore(&kept).await.unwrap();
        assert_eq!(everything(&folder), before, "{mark}");
        assert_eq!(
            read(&folder.join("README.md")),
            "my own settings\n",
            "{mark}"
        );
        assert_eq!(read(&folder.join("new.txt")), "new\n");
    }
}

/// An edit under `assume-unchanged` is nothing that Git would commit, and nothing that is written over.
#[tokio::test]
async fn c09_edits_that_the_index_is_told_to_ignore_are_kept() {
    for mark in ["--assume-unchanged", "--skip-worktree"] {
        let scene = Scene::new();
        let project = scene.repository.path.clone();
        let head = scene.head("one").await;
        let folder = scene.folder(&head);
        git(&folder, &["update-index", mark, "README.md"]);
        write(&folder.join("README.md"), "my own settings\n");
        assert_eq!(
            porcelain(&folder),
            Vec::<String>::new(),
            "Git passes over it"
        );
        assert!(!head.status().await.unwrap().dirty, "{mark}");

        let kept = head.checkpoint().await.unwrap();
        let shown = git(&folder, &["show", &format!("{}:README.md", kept.revision)]);
        assert_eq!(shown, "my own settings", "{mark}");
        let fork = head.fork("fork").await.unwrap();
        assert_eq!(
            read(&scene.folder(&fork).join("README.md")),
            "my own settings\n"
        );

        write(&folder.join("src/lib.rs"), "changed\n");
        let receipt = head.commit(CommitRequest::new("work")).await.unwrap();
        assert_eq!(receipt.changed, ["src/lib.rs"], "{mark}");

        write(&project.join("README.md"), "changed by others\n");
        scene.repository.commit_all("others");
        let refused = head.update_from("main").await.unwrap_err();
        assert!(
            matches!(&refused, WorkspaceError::LocalChanges { .. } if refused.to_string().contains("README.md")),
            "{mark}: {refused:?}"
        );
        assert_eq!(
            read(&folder.join("README.md")),
            "my own settings\n",
            "{mark}"
        );
        let receipt = head.destroy().await.unwrap();
        let kept = receipt.kept_ref.expect("the edit is kept");
        let shown = git(&project, &["show", &format!("{kept}:README.md")]);
        assert_eq!(shown, "my own settings", "{mark}");
    }
}

/// The same in the user's own folder, into which a merge would write.
#[tokio::test]
async fn h29_a_merge_does_not_write_over_edits_that_git_is_told_to_ignore() {
    let scene = Scene::new();
    let project = scene.repository.path.clone();
    let head = scene.head("one").await;
    write(
        &scene.folder(&head).join("README.md"),
        "changed in the head\n",
    );
    git(
        &project,
        &["update-index", "--assume-unchanged", "README.md"],
    );
    write(&project.join("README.md"), "my own settings\n");
    let refused = head.merge_into("main").await.unwrap_err();
    assert!(
        matches!(refused, WorkspaceError::BranchInUse { .. }),
        "{refused:?}"
    );
    assert_eq!(read(&project.join("README.md")), "my own settings\n");
}

/// Proves H23 for repositories where Git looks for something else.
#[tokio::test]
async fn h23_repositories_in_tracked_places_are_told_and_not_deleted() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let begin = |at: &str| {
        let at = folder.join(at);
        std::fs::create_dir_all(&at).unwrap();
        git(&at, &["init", "-q"]);
        git(
            &at,
            &[
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@b",
                "commit",
                "-q",
                "--allow-empty",
                "-m",
                "only here",
            ],
        );
    };
    // In the place of a tracked file, and in a folder of tracked files.
    std::fs::remove_file(folder.join("link")).unwrap();
    begin("link");
    begin("src");
    let kept = head.checkpoint().await.unwrap();
    let told: Vec<&str> = kept
        .uncaptured
        .iter()
        .map(|entry| entry.path.as_str())
        .collect();
    assert_eq!(told, ["link", "src"]);
    let refused = head.destroy().await.unwrap_err().to_string();
    assert!(
        refused.contains("2 path(s) hold what no checkpoint can keep"),
        "{refused}"
    );
    for path in ["link", "src"] {
        git(&folder.join(path), &["log", "-1"]);
    }
    for path in ["link", "src/.git"] {
        std::fs::remove_dir_all(folder.join(path)).unwrap();
    }
    head.destroy().await.unwrap();
}

/// A link that Git would take for a file of its own is told, and keeps nothing else from being kept.
#[tokio::test]
async fn h40_a_link_named_like_a_file_of_gits_is_told() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    std::os::unix::fs::symlink("README.md", folder.join(".gitmodules")).unwrap();
    write(&folder.join("new.txt"), "new\n");
    let kept = head.checkpoint().await.unwrap();
    let told: Vec<&str> = kept
        .uncaptured
        .iter()
        .map(|entry| entry.path.as_str())
        .collect();
    assert_eq!(told, [".gitmodules"]);
    git(&folder, &["show", &format!("{}:new.txt", kept.revision)]);
}

/// Where a repository says that there are no links, a file that holds a target stays one.
#[tokio::test]
async fn a_link_in_a_file_stays_a_link() {
    let scene = Scene::new();
    git(
        &scene.repository.path,
        &["config", "core.symlinks", "false"],
    );
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    assert!(!folder.join("link").is_symlink());
    std::fs::write(folder.join("link"), "src/lib.rs").unwrap();
    let kept = head.checkpoint().await.unwrap();
    let entry = git(&folder, &["ls-tree", &kept.revision, "link"]);
    assert!(entry.starts_with("120000 blob"), "{entry}");
    assert_eq!(
        git(&folder, &["show", &format!("{}:link", kept.revision)]),
        "src/lib.rs"
    );
}
