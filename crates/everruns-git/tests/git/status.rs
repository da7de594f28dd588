//! Status beside `git status`.

use std::path::Path;

use crate::fixture::{Repository, Scene, git, porcelain, read, told, try_git, write};

/// Does to a working tree everything that `git status` has a letter for, apart from conflicts.
pub(crate) fn disturb(folder: &Path) {
    write(&folder.join("README.md"), "# Project\nunstaged\n");
    write(&folder.join("src/lib.rs"), "staged\n");
    git(folder, &["add", "src/lib.rs"]);
    write(&folder.join("src/lib.rs"), "staged, then unstaged\n");
    git(folder, &["mv", "src/two.rs", "src/moved.rs"]);
    write(&folder.join("untracked.txt"), "untracked\n");
    write(&folder.join("folder/deep/untracked.txt"), "untracked\n");
    write(&folder.join("ignored/cache"), "ignored\n");
    write(&folder.join("noise.log"), "ignored\n");
    write(&folder.join("added.txt"), "added\n");
    git(folder, &["add", "added.txt"]);
    write(&folder.join("announced.txt"), "announced\n");
    git(folder, &["add", "-N", "announced.txt"]);
    std::fs::remove_file(folder.join("src/deep/er/file.txt")).unwrap();
    git(folder, &["update-index", "--chmod=-x", "tools/run.sh"]);
    std::fs::remove_file(folder.join("link")).unwrap();
    write(&folder.join("link"), "no link any more\n");
    std::os::unix::fs::symlink("nowhere", folder.join("dangling")).unwrap();
    std::fs::create_dir_all(folder.join("empty")).unwrap();
}

/// Leaves conflicts of several kinds in a working tree.
pub(crate) fn conflict(folder: &Path) {
    let commit = |message: &str| {
        git(folder, &["add", "-A"]);
        git(folder, &["commit", "-q", "-m", message]);
    };
    git(folder, &["checkout", "-q", "-b", "side"]);
    write(&folder.join("README.md"), "# Theirs\n");
    std::fs::remove_file(folder.join("src/lib.rs")).unwrap();
    write(&folder.join("src/two.rs"), "theirs\n");
    write(&folder.join("both.txt"), "theirs\n");
    commit("theirs");
    git(folder, &["checkout", "-q", "-"]);
    write(&folder.join("README.md"), "# Ours\n");
    write(&folder.join("src/lib.rs"), "ours\n");
    std::fs::remove_file(folder.join("src/two.rs")).unwrap();
    write(&folder.join("both.txt"), "ours\n");
    commit("ours");
    assert!(!try_git(folder, &["merge", "side"]).status.success());
}

/// Proves C09: status is Git's.
#[tokio::test]
async fn c09_status_is_what_git_prints() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let status = head.status().await.unwrap();
    assert!(
        !status.dirty && status.entries.is_empty() && status.degraded.is_empty(),
        "{status:?}"
    );
    disturb(&folder);
    let status = head.status().await.unwrap();
    assert!(status.dirty && !status.conflicted);
    assert_eq!(told(&status), porcelain(&folder));
}

#[tokio::test]
async fn c09_conflicts_are_what_git_prints() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    conflict(&folder);
    let status = head.status().await.unwrap();
    assert!(status.conflicted);
    assert_eq!(told(&status), porcelain(&folder));
}

#[tokio::test]
async fn c09_ignore_rules_of_every_kind_hold() {
    let scene = Scene::new();
    let exclude = scene.root.path().join("exclude");
    write(&exclude, "*.global\n");
    git(
        &scene.repository.path,
        &["config", "core.excludesFile", exclude.to_str().unwrap()],
    );
    write(&scene.repository.path.join(".git/info/exclude"), "*.info\n");
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    write(&folder.join("src/.gitignore"), "*.local\n!keep.local\n");
    for name in [
        "a.global",
        "b.info",
        "src/c.local",
        "src/keep.local",
        "d.txt",
    ] {
        write(&folder.join(name), "x");
    }
    assert_eq!(told(&head.status().await.unwrap()), porcelain(&folder));
}

/// H28: line endings and modes as Git would check them out, and clean afterwards.
#[tokio::test]
async fn h28_line_endings_and_modes_are_as_git_checks_them_out() {
    let root = tempfile::tempdir().unwrap();
    let repository = Repository::empty(&root.path().join("project"));
    write(
        &repository.path.join(".gitattributes"),
        "*.crlf text eol=crlf\n*.lf text eol=lf\n*.bin -text\n* text=auto\n",
    );
    for name in ["a.crlf", "b.lf", "c.bin", "d.txt"] {
        write(&repository.path.join(name), "one\ntwo\n");
    }
    git(&repository.path, &["config", "core.autocrlf", "true"]);
    repository.commit_all("first");
    let scene = Scene::around(root, repository);
    let head = scene.head("one").await;
    let (folder, theirs) = (scene.folder(&head), scene.root.path().join("theirs"));
    git(
        &scene.repository.path,
        &["worktree", "add", "-q", theirs.to_str().unwrap()],
    );
    for name in ["a.crlf", "b.lf", "c.bin", "d.txt", ".gitattributes"] {
        assert_eq!(read(&folder.join(name)), read(&theirs.join(name)), "{name}");
    }
    assert!(porcelain(&folder).is_empty());
    assert!(head.status().await.unwrap().entries.is_empty());
}

/// H27: what isn't handled fully is said.
#[tokio::test]
async fn h27_degraded_facts_are_told() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    let library = Repository::small(&scene.root.path().join("library"));
    git(
        project,
        &[
            "submodule",
            "add",
            "-q",
            library.path.to_str().unwrap(),
            "vendor/library",
        ],
    );
    write(
        &project.join(".gitattributes"),
        "*.bin filter=lfs diff=lfs merge=lfs -text\n",
    );
    scene.repository.commit_all("submodule");
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let status = head.status().await.unwrap();
    assert_eq!(told(&status), porcelain(&folder));
    let kinds: Vec<&str> = status
        .degraded
        .iter()
        .map(|fact| fact.kind.as_str())
        .collect();
    assert_eq!(kinds, ["submodule-not-initialised", "filter-not-run"]);
    git(&folder, &["checkout", "-q", "-b", "elsewhere"]);
    Repository::empty(&folder.join("nested"));
    let status = head.status().await.unwrap();
    let kinds: Vec<&str> = status
        .degraded
        .iter()
        .map(|fact| fact.kind.as_str())
        .collect();
    assert_eq!(
        kinds,
        [
            "branch-switched",
            "submodule-not-initialised",
            "nested-repository",
            "filter-not-run"
        ]
    );
    assert_eq!(told(&status), porcelain(&folder));
}

/// H16: a pipe where an executable file was blocks nothing, and a link there is not followed.
#[tokio::test]
async fn h16_what_took_an_executable_files_place_is_not_opened() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let script = folder.join("tools/run.sh");
    std::fs::remove_file(&script).unwrap();
    std::os::unix::fs::symlink("/nonexistent/secret", &script).unwrap();
    assert_eq!(told(&head.status().await.unwrap()), [" T tools/run.sh"]);
    assert_eq!(porcelain(&folder), [" T tools/run.sh"]);
    head.checkpoint().await.unwrap();
    std::fs::remove_file(&script).unwrap();
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        &script,
        rustix::fs::Mode::from_raw_mode(0o600),
    )
    .unwrap();
    let status = tokio::time::timeout(std::time::Duration::from_secs(10), head.status()).await;
    assert_eq!(told(&status.unwrap().unwrap()), [" T tools/run.sh"]);
    assert_eq!(
        head.checkpoint().await.unwrap().uncaptured[0].path,
        "tools/run.sh"
    );
}

/// H16 and H44: a file of patterns that configuration names is read only if it is one, and no larger than is bearable.
#[tokio::test]
async fn h16_h44_what_is_named_as_a_file_of_patterns_is_looked_at_first() {
    for run_filters in [false, true] {
        let mut scene = Scene::new();
        let backend = everruns_git::LocalGitWorkspace::builder(&scene.state)
            .user_settings(false)
            .run_filters(run_filters)
            .build()
            .unwrap();
        scene.backend = std::sync::Arc::new(backend);
        let head = scene.head("one").await;
        let folder = scene.folder(&head);
        write(&folder.join("new.txt"), "new\n");
        let at = |name: &str| scene.root.path().join(name);
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), mode).unwrap();
        write(&at("large"), "new.txt\n");
        let file = std::fs::OpenOptions::new().write(true).open(at("large"));
        file.unwrap().set_len(1 << 40).unwrap();
        write(&at("patterns"), "new.txt\n");
        std::os::unix::fs::symlink("patterns", at("link")).unwrap();
        for (name, is_read) in [("pipe", false), ("large", false), ("link", true)] {
            for key in ["core.attributesFile", "core.excludesFile"] {
                let named = at(name);
                let named = named.to_str().unwrap();
                git(&scene.repository.path, &["config", key, named]);
            }
            let limit = std::time::Duration::from_secs(20);
            let status = tokio::time::timeout(limit, head.status()).await;
            let told = told(&status.unwrap().unwrap());
            assert_eq!(told.is_empty(), is_read, "{name}: {told:?}");
            let kept = tokio::time::timeout(limit, head.checkpoint()).await;
            kept.unwrap().unwrap();
        }
        assert!(porcelain(&folder).is_empty());
    }
}

/// Names around a slash in the order of bytes, folders where the index has files and the other way round, a repository
/// that is not tracked, and what is ignored in a folder of the index.
#[tokio::test]
async fn untracked_files_are_those_of_git_in_every_order_of_names() {
    let scene = Scene::new();
    let head = scene.head("names").await;
    let folder = scene.folder(&head);
    for name in ["a", "a-b", "a.b", "a0", "b/x", "b-c", "b.c", "b0", "c/d/e"] {
        write(&folder.join(name), "tracked\n");
    }
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "--quiet", "-m", "names"]);
    for name in [
        "a!",
        "a-",
        "a..",
        "b!",
        "b/!",
        "b/x!",
        "b/y/z",
        "c!",
        "c/d!",
        "c/d-",
        "c/d0/x",
        "c/noise.log",
    ] {
        write(&folder.join(name), "untracked\n");
    }
    std::fs::remove_file(folder.join("a")).unwrap();
    write(
        &folder.join("a/within"),
        "a folder in the place of a file\n",
    );
    std::fs::remove_dir_all(folder.join("c/d")).unwrap();
    write(&folder.join("c/d"), "a file in the place of a folder\n");
    std::fs::create_dir(folder.join("nested")).unwrap();
    git(&folder.join("nested"), &["init", "--quiet"]);
    std::fs::create_dir_all(folder.join("hollow/empty")).unwrap();
    assert_eq!(told(&head.status().await.unwrap()), porcelain(&folder));
}

/// A tree whose paths are longer than the system takes is an error that says where, and never a tree that ends there.
#[tokio::test]
async fn a_tree_that_is_too_deep_is_told() {
    use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};

    let scene = Scene::new();
    let head = scene.head("deep").await;
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut at = openat(CWD, scene.folder(&head), flags, Mode::empty()).unwrap();
    let name = "d".repeat(200);
    for _ in 0..30 {
        mkdirat(&at, &name, Mode::from_raw_mode(0o755)).unwrap();
        at = openat(&at, &name, flags, Mode::empty()).unwrap();
    }
    let failure = head.status().await.unwrap_err();
    let told = format!("{failure:?}");
    assert!(told.contains("ddd") && told.contains("too long"), "{told}");
}

/// Pipes in the places of what the library opens are told or passed over, and never waited at.
#[tokio::test]
async fn h16_no_pipe_is_waited_at() {
    let scene = Scene::new();
    let head = scene.head("pipes").await;
    let folder = scene.folder(&head);
    let pipe = |path: &str| {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o644);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    };
    pipe("nested/.git/HEAD");
    std::fs::create_dir_all(folder.join("nested/.git/objects")).unwrap();
    std::fs::create_dir_all(folder.join("nested/.git/refs")).unwrap();
    write(&folder.join("nested/work"), "work\n");
    write(&folder.join("other/.git"), "gitdir: ../nested/.git\n");
    write(&folder.join("other/work"), "work\n");
    let status = head.status().await.unwrap();
    let shown = told(&status);
    assert!(shown.contains(&"?? nested/work".to_owned()), "{shown:?}");
    assert!(shown.contains(&"?? other/work".to_owned()), "{shown:?}");
    for rules in ["rules/.gitignore", "more/.gitattributes"] {
        pipe(rules);
        write(&folder.join(rules).with_file_name("file"), "untracked\n");
        let failure = head.checkpoint().await.unwrap_err();
        assert!(format!("{failure:?}").contains(rules), "{failure:?}");
        std::fs::remove_file(folder.join(rules)).unwrap();
    }
    head.checkpoint().await.unwrap();
}
