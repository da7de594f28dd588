//! Names that are hostile, or no text, through every operation, beside the real `git`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use everruns_core::failpoint;
use everruns_core::workspace::{CommitRequest, WorkspaceError};

use crate::fixture::{Scene, git, git_raw, porcelain, told, write};

/// Names with line feeds, escape sequences, overrides of the direction of writing, quotes, backslashes and bytes that are
/// no text.
const NAMES: [&[u8]; 9] = [
    b"line\nfeed",
    b"\x1b[31mred\x1b[0m",
    "\u{202e}txt.exe".as_bytes(),
    b"quo\"te and \\ back",
    b" leading and trailing ",
    b"not\xfftext",
    b"not\\xfftext",
    b"-option",
    b"folder\xc3/inner\xe2\x82",
];

fn at(folder: &Path, name: &[u8]) -> PathBuf {
    folder.join(OsStr::from_bytes(name))
}

/// Everything that git lists of a commit or of the index, by its bytes.
fn listed(folder: &Path, args: &[&str]) -> Vec<Vec<u8>> {
    let printed = git_raw(folder, args);
    let lines = printed.split(|byte| *byte == 0);
    lines
        .filter(|line| !line.is_empty())
        .map(<[u8]>::to_vec)
        .collect()
}

/// Proves H41 and H42: every name is told exactly or by a lossless escape, kept byte for byte, and never another's.
#[tokio::test]
async fn h41_h42_hostile_names_come_through_every_operation() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    for (number, name) in NAMES.into_iter().enumerate() {
        let path = at(&folder, name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("{number}\n")).unwrap();
    }
    let before = git_raw(&folder, &["status", "--porcelain=v2", "-z", "-uall"]);
    let status = head.status().await.unwrap();
    let paths: Vec<&str> = status
        .entries
        .iter()
        .map(|entry| entry.path.as_str())
        .collect();
    assert_eq!(paths.len(), NAMES.len());
    for name in NAMES
        .into_iter()
        .filter_map(|name| std::str::from_utf8(name).ok())
    {
        assert!(paths.contains(&name), "{name:?} in {paths:?}");
    }
    for escaped in ["not\\xfftext", "folder\\xc3/inner\\xe2\\x82"] {
        assert!(paths.contains(&escaped), "{escaped:?} in {paths:?}");
    }
    // As an application sends it on: exact, and harmless to who looks at it.
    let json = serde_json::to_string(&status.entries).unwrap();
    assert!(!json.contains('\u{1b}') && !json.contains('\n'), "{json}");

    let checkpoint = head.checkpoint().await.unwrap();
    let names = ["ls-tree", "-r", "-z", "--name-only"];
    let kept = listed(
        &folder,
        &[&names[..], &[checkpoint.revision.as_str()]].concat(),
    );
    for name in NAMES {
        assert!(kept.iter().any(|kept| kept == name), "{name:?}");
    }
    let fork = head.fork("fork").await.unwrap();
    let there = scene.folder(&fork);
    assert_eq!(
        git_raw(&there, &["status", "--porcelain=v2", "-z", "-uall"]),
        before
    );
    for (number, name) in NAMES.into_iter().enumerate() {
        let content = std::fs::read(at(&there, name)).unwrap();
        assert_eq!(content, format!("{number}\n").as_bytes(), "{name:?}");
        std::fs::write(at(&folder, name), "wrong\n").unwrap();
    }
    head.restore(&checkpoint).await.unwrap();
    for (number, name) in NAMES.into_iter().enumerate() {
        let content = std::fs::read(at(&folder, name)).unwrap();
        assert_eq!(content, format!("{number}\n").as_bytes(), "{name:?}");
    }
    let diff = head.diff().await.unwrap();
    assert_eq!(diff.files.len(), NAMES.len());
    let patch = head.patch(everruns_core::workspace::DiffRequest::default());
    let patch = patch.await.unwrap();
    let file = scene.root.path().join("patch");
    std::fs::write(&file, patch.bytes).unwrap();
    git(project, &["apply", "--index", file.to_str().unwrap()]);
    let applied = git(project, &["write-tree"]);
    git(project, &["reset", "-q", "--hard"]);

    let receipt = head.commit(CommitRequest::new("names")).await.unwrap();
    assert_eq!(receipt.changed.len(), NAMES.len());
    let tree = format!("{}^{{tree}}", receipt.revision);
    assert_eq!(git(project, &["rev-parse", &tree]), applied);
    assert!(porcelain(&folder).is_empty());
    head.merge_into("main").await.unwrap();
    assert!(porcelain(project).is_empty());
    for name in NAMES {
        assert!(at(project, name).exists(), "{name:?}");
    }
    let updated = fork.status().await.unwrap();
    assert_eq!(told(&updated).len(), NAMES.len());
    // One of two names that look alike when one is escaped: git's own file, by the text that we told for it.
    write(&at(&folder, b"not\\xfftext"), "changed\n");
    let request = CommitRequest {
        paths: vec!["not\\xfftext".to_owned()],
        ..CommitRequest::new("one of them")
    };
    head.commit(request).await.unwrap();
    assert!(porcelain(&folder).is_empty());
    head.destroy().await.unwrap();
    git(project, &["fsck", "--strict"]);
}

/// H40: names on the disk that some systems take for `.git` are kept out of what is stored, and are not lost.
#[tokio::test]
async fn h40_files_named_like_git_are_told_and_never_lost() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let names = [".GIT", "git~1", ".git ", ".g\u{200c}it", "src/.Git"];
    for name in names {
        write(&folder.join(name), "not Git's\n");
    }
    write(&folder.join("fine.txt"), "fine\n");
    let checkpoint = head.checkpoint().await.unwrap();
    let mut told: Vec<&str> = checkpoint
        .uncaptured
        .iter()
        .map(|entry| entry.path.as_str())
        .collect();
    let mut expected = names.to_vec();
    told.sort_unstable();
    expected.sort_unstable();
    assert_eq!(told, expected);
    git(&folder, &["fsck", "--strict"]);
    let receipt = head.commit(CommitRequest::new("work")).await.unwrap();
    assert_eq!(receipt.changed, ["fine.txt"]);
    assert_eq!(receipt.uncaptured.len(), names.len());
    let failure = head.destroy().await.unwrap_err();
    assert!(
        matches!(failure, WorkspaceError::HeadUnavailable { .. }),
        "{failure:?}"
    );
    for name in names {
        assert!(folder.join(name).exists(), "{name:?}");
        std::fs::remove_file(folder.join(name)).unwrap();
    }
    head.destroy().await.unwrap();
}

/// H23: a bare repository among the files is files to git, and nothing in it is run or lost.
#[tokio::test]
async fn h23_a_nested_bare_repository_is_not_lost() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    git(&folder, &["init", "-q", "--bare", "nested.git"]);
    write(
        &folder.join("nested.git/config"),
        "[core]\n\tbare = true\n\tfsmonitor = touch ran\n",
    );
    assert_eq!(told(&head.status().await.unwrap()), porcelain(&folder));
    let checkpoint = head.checkpoint().await.unwrap();
    let told: Vec<&str> = checkpoint
        .uncaptured
        .iter()
        .map(|entry| entry.path.as_str())
        .collect();
    let listed = git(
        &folder,
        &["ls-tree", "-r", "--name-only", &checkpoint.revision],
    );
    assert!(
        listed.contains("nested.git/config") || told == ["nested.git"],
        "{listed} {told:?}"
    );
    assert!(!folder.join("ran").exists());
    match head.destroy().await {
        Ok(receipt) => {
            let name = format!("{}:nested.git/config", receipt.kept_ref.unwrap());
            assert!(git(&scene.repository.path, &["show", &name]).contains("fsmonitor"));
        }
        Err(failure) => assert!(
            matches!(failure, WorkspaceError::HeadUnavailable { .. }),
            "{failure:?}"
        ),
    }
}

/// H43: what is at the place of a file before it is checked out, as on a disk where two names are one, is told by its
/// name; nothing is written over it, and nothing is left.
#[tokio::test]
async fn h43_a_file_in_the_way_of_a_new_head_is_told() {
    let scene = Scene::new();
    let workspace = scene.workspace().await;
    let worktrees = scene.state.join("worktrees").join(workspace.id().as_str());
    failpoint::arm("git.create.after-record", move || {
        for entry in std::fs::read_dir(&worktrees).unwrap() {
            write(&entry.unwrap().path().join("src/lib.rs"), "the other one\n");
        }
        true
    });
    let failure = workspace.head("one").create().await.unwrap_err();
    failpoint::disarm_all();
    let words = std::error::Error::source(&failure).map(ToString::to_string);
    assert!(
        format!("{failure} {words:?}").contains("src/lib.rs"),
        "{failure:?}"
    );
    assert!(workspace.heads().await.unwrap().is_empty());
    let listed = git(&scene.repository.path, &["worktree", "list"]);
    assert_eq!(listed.lines().count(), 1);
    assert!(
        scene
            .reopened()
            .doctor(false)
            .await
            .unwrap()
            .findings
            .is_empty()
    );
}
