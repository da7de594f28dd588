//! Patches that the real `git apply` takes, and differences in pages.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use everruns_core::workspace::{DiffBase, DiffRequest};

use crate::fixture::{Scene, git, make_executable, write};

/// Applies `patch` to a worktree at `base`, and returns the tree that comes of it.
pub(crate) fn applied(scene: &Scene, base: &str, patch: &[u8], name: &str) -> Option<String> {
    let folder = scene.root.path().join(name);
    let args = [
        "worktree",
        "add",
        "-q",
        "--detach",
        folder.to_str().unwrap(),
        base,
    ];
    git(&scene.repository.path, &args);
    let file = scene.root.path().join(format!("{name}.patch"));
    std::fs::write(&file, patch).unwrap();
    if patch.is_empty() {
        return Some(git(&folder, &["write-tree"]));
    }
    let output = crate::fixture::try_git(&folder, &["apply", "--index", file.to_str().unwrap()]);
    if !output.status.success() {
        return None;
    }
    assert_eq!(
        git(&folder, &["status", "--porcelain"])
            .lines()
            .filter(|line| !line.starts_with(|c: char| c.is_ascii_uppercase()))
            .count(),
        0
    );
    Some(git(&folder, &["write-tree"]))
}

fn put(folder: &Path, name: &[u8], content: &[u8]) {
    let path = folder.join(std::ffi::OsStr::from_bytes(name));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

/// Proves H41, H42 and H45 for patches: names and contents survive byte for byte.
#[tokio::test]
async fn h45_patches_are_applied_byte_for_byte() {
    let scene = Scene::new();
    let project = scene.repository.path.clone();
    let numbers = (1..=60)
        .map(|n| "line ".to_owned() + &n.to_string() + "\n")
        .collect::<String>();
    put(&project, b"crlf.txt", b"one\r\ntwo\r\nthree\r\n");
    put(&project, b"latin.txt", b"caf\xe9\nplain\n");
    put(&project, b"no-end", b"a\nb");
    put(&project, b"numbers", numbers.as_bytes());
    put(&project, b"binary", b"a\0b\0c");
    put(&project, b"binary-gone", &[0; 3000]);
    put(&project, b"with \"quote\"\n\xff", b"x\n");
    put(&project, b"space d", b"x\n");
    put(&project, b"becomes-link", b"x\n");
    put(&project, b"folder/becomes-file", b"x\n");
    put(&project, b"mode", b"#!/bin/sh\n");
    scene.repository.commit_all("all");
    let head = scene.head("one").await;
    let folder = scene.folder(&head);

    put(&folder, b"crlf.txt", b"one\r\nTWO\r\nthree\r\n\xff\xfe\r");
    put(&folder, b"latin.txt", b"caf\xe9\npl\xe4in\n\n");
    put(&folder, b"no-end", b"a\nb\n");
    put(&folder, b"README.md", b"# Project, no end");
    std::fs::remove_file(folder.join("numbers")).unwrap();
    put(
        &folder,
        "moved/nümbers".as_bytes(),
        numbers.replace("line 30\n", "thirty\n").as_bytes(),
    );
    put(&folder, b"binary", b"a\0b\0changed");
    std::fs::remove_file(folder.join("binary-gone")).unwrap();
    let noise: Vec<u8> = (0..70_000_u32)
        .map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()[2])
        .collect();
    put(&folder, b"binary-new", &noise);
    put(&folder, b"with \"quote\"\n\xff", b"y\n");
    put(&folder, b"space d", b"y\n");
    put(&folder, b"new space d", b"y\n");
    put(&folder, b"empty", b"");
    std::fs::remove_file(folder.join("becomes-link")).unwrap();
    std::os::unix::fs::symlink("README.md", folder.join("becomes-link")).unwrap();
    std::fs::remove_dir_all(folder.join("folder")).unwrap();
    put(&folder, b"folder", b"a file now\n");
    make_executable(&folder.join("mode"));
    put(&folder, b"tools/run.sh", b"#!/bin/sh\necho ho\n");

    let tree = head.checkpoint().await.unwrap().revision + "^{tree}";
    let expected = git(&folder, &["rev-parse", &tree]);
    let patch = head.patch(DiffRequest::default()).await.unwrap();
    assert!(patch.omitted.is_empty() && !patch.truncated);
    let found = applied(&scene, head.base(), &patch.bytes, "applied");
    assert_eq!(found.as_deref(), Some(expected.as_str()));

    // The way back.
    let checkpoint = head.checkpoint().await.unwrap();
    let back = DiffRequest {
        from: DiffBase::from(&checkpoint),
        to: Some(DiffBase::HeadBase),
        ..DiffRequest::default()
    };
    let patch = head.patch(back).await.unwrap();
    let found = applied(&scene, &checkpoint.revision, &patch.bytes, "back");
    let base = git(
        &folder,
        &["rev-parse", &format!("{}^{{tree}}", head.base())],
    );
    assert_eq!(found, Some(base));
}

#[tokio::test]
async fn differences_between_any_states_come_in_pages() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    for number in 0..25 {
        write(&folder.join(format!("file-{number:02}")), "x\n");
    }
    let first = head.checkpoint().await.unwrap();
    write(&folder.join("file-00"), "y\n");
    let second = head.checkpoint().await.unwrap();
    let between = head.diff_between(&first, &second).await.unwrap();
    assert_eq!(between.files.len(), 1);
    assert_eq!((between.added(), between.removed()), (1, 1));
    let revision = |text: &str| DiffBase::Revision(text.to_owned());
    let none = head
        .diff_between(revision("main"), DiffBase::HeadBase)
        .await;
    assert!(!none.unwrap().changed);
    let failure = head.diff_between(revision("--output=x"), &first).await;
    assert!(failure.is_err());

    let (mut seen, mut patches) = (Vec::new(), Vec::new());
    loop {
        let request = DiffRequest {
            skip: seen.len(),
            limit: Some(10),
            ..DiffRequest::default()
        };
        let page = head.diff_range(request.clone()).await.unwrap();
        let patch = head.patch(request).await.unwrap();
        assert_eq!(patch.files, page.files.len());
        patches.extend_from_slice(&patch.bytes);
        assert_eq!(patch.truncated, page.truncated);
        seen.extend(page.files.into_iter().map(|file| file.path));
        if !page.truncated {
            break;
        }
    }
    assert_eq!(seen.len(), 25);
    let tree = git(&folder, &["rev-parse", &(second.revision + "^{tree}")]);
    assert_eq!(applied(&scene, head.base(), &patches, "paged"), Some(tree));
}
