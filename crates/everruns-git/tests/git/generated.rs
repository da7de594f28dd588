//! Generated edits: status, checkpoint, fork and restore beside the real `git`.

use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, FileFailurePersistence};

use crate::fixture::{Scene, git, git_raw, make_executable, porcelain, told, try_git};

/// One thing that somebody does to a working tree. Paths are chosen by number, so that edits meet.
#[derive(Debug, Clone)]
pub(crate) enum Edit {
    Write(usize, u8),
    Delete(usize),
    Move(usize, usize),
    Link(usize, usize),
    Executable(usize),
    Stage(usize),
    StageAll,
    Unstage(usize),
    Announce(usize),
    Forget(usize),
    Ignore(usize),
    Commit,
}

pub(crate) const PATHS: [&str; 12] = [
    "README.md",
    "src/lib.rs",
    "src/two.rs",
    "src/deep/er/file.txt",
    "tools/run.sh",
    "link",
    "new",
    "src",
    "src/deep",
    "folder/x",
    "folder/y z",
    "README.md/below",
];

pub(crate) fn edit() -> impl Strategy<Value = Edit> {
    let path = || 0..PATHS.len();
    prop_oneof![
        4 => (path(), 0..4_u8).prop_map(|(path, content)| Edit::Write(path, content)),
        2 => path().prop_map(Edit::Delete),
        2 => (path(), path()).prop_map(|(from, to)| Edit::Move(from, to)),
        1 => (path(), path()).prop_map(|(path, target)| Edit::Link(path, target)),
        1 => path().prop_map(Edit::Executable),
        3 => path().prop_map(Edit::Stage),
        1 => Just(Edit::StageAll),
        1 => path().prop_map(Edit::Unstage),
        1 => path().prop_map(Edit::Announce),
        1 => path().prop_map(Edit::Forget),
        1 => path().prop_map(Edit::Ignore),
        1 => Just(Edit::Commit),
    ]
}

/// Does an edit as far as it can be done; what can't, such as a file below a file, is left out.
pub(crate) fn perform(folder: &Path, edit: &Edit) {
    let at = |path: &usize| folder.join(PATHS[*path]);
    match edit {
        Edit::Write(path, content) => {
            let path = at(path);
            drop(std::fs::create_dir_all(path.parent().unwrap()));
            if !path.is_dir() {
                drop(std::fs::write(
                    path,
                    format!("{content}\n").repeat(usize::from(*content)),
                ));
            }
        }
        Edit::Delete(path) => {
            let path = at(path);
            drop(std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(&path)));
        }
        Edit::Move(from, to) => {
            drop(std::fs::create_dir_all(at(to).parent().unwrap()));
            drop(std::fs::rename(at(from), at(to)));
        }
        Edit::Link(path, target) => {
            drop(std::os::unix::fs::symlink(PATHS[*target], at(path)));
        }
        Edit::Executable(path) => {
            let path = at(path);
            if path.is_file() && !path.is_symlink() {
                make_executable(&path);
            }
        }
        Edit::Stage(path) => drop(try_git(folder, &["add", "-A", "--", PATHS[*path]])),
        Edit::StageAll => drop(try_git(folder, &["add", "-A"])),
        Edit::Unstage(path) => drop(try_git(folder, &["reset", "-q", "--", PATHS[*path]])),
        Edit::Announce(path) => drop(try_git(folder, &["add", "-N", "--", PATHS[*path]])),
        Edit::Forget(path) => drop(try_git(
            folder,
            &["rm", "-rq", "--cached", "--", PATHS[*path]],
        )),
        Edit::Ignore(path) => {
            drop(std::fs::write(
                folder.join(".gitignore"),
                format!("/{}\n", PATHS[*path]),
            ));
        }
        Edit::Commit => drop(try_git(folder, &["commit", "-qm", "generated"])),
    }
}

/// Everything Git says of a working tree.
pub(crate) fn everything(folder: &Path) -> [String; 4] {
    let run = |args: &[&str]| {
        let mut all = vec!["--no-optional-locks"];
        all.extend_from_slice(args);
        String::from_utf8_lossy(&git_raw(folder, &all)).into_owned()
    };
    [
        run(&["status", "--porcelain=v2", "-uall"]),
        run(&["diff", "--binary"]),
        run(&["diff", "--cached", "--binary"]),
        run(&["ls-files", "-s"]),
    ]
}

/// Compares everything with Git after `edits`, and goes to and fro between the two states.
async fn compare(scene: &Scene, before: &[Edit], after: &[Edit]) {
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    for edit in before {
        perform(&folder, edit);
    }
    let first = everything(&folder);
    assert_eq!(
        told(&head.status().await.unwrap()),
        porcelain(&folder),
        "status"
    );
    let kept = head.checkpoint().await.unwrap();
    assert_eq!(everything(&folder), first, "the checkpoint left no trace");
    let fork = head.fork("fork").await.unwrap();
    assert_eq!(everything(&scene.folder(&fork)), first, "fork");

    for edit in after {
        perform(&folder, edit);
    }
    let second = everything(&folder);
    let ignored = git(
        &folder,
        &[
            "--no-optional-locks",
            "ls-files",
            "-o",
            "-i",
            "--exclude-standard",
        ],
    );
    let ignored: Vec<&str> = ignored.lines().collect();
    if head.restore(&kept).await.is_err() {
        // Ignored files were in the way: nothing has changed.
        assert_eq!(everything(&folder), second);
        return;
    }
    // Ignored files stay; where the ignore rules went back, Git now shows them.
    let stayed = git_raw(
        &folder,
        &[
            "--no-optional-locks",
            "ls-files",
            "-o",
            "--exclude-standard",
        ],
    );
    let stayed = String::from_utf8_lossy(&stayed).into_owned();
    let later = head.checkpoints().await.unwrap().pop().unwrap();
    let shown: Vec<&str> = stayed
        .lines()
        .filter(|path| ignored.contains(path))
        .collect();
    let mut restored = everything(&folder);
    restored[0] = restored[0]
        .split_inclusive('\n')
        .filter(|line| {
            !shown
                .iter()
                .any(|path| line.trim_end() == format!("? {path}"))
        })
        .collect();
    assert_eq!(restored, first, "restore");
    head.restore(&later).await.unwrap();
    assert_eq!(everything(&folder), second, "and back");
    git(&folder, &["fsck", "--strict"]);
}

#[test]
fn c09_c10_generated_edits_are_the_same_to_git_and_us() {
    let seeds = FileFailurePersistence::Direct("tests/git/generated.seeds");
    let config = Config {
        cases: std::env::var("PROPTEST_CASES").map_or(16, |cases| cases.parse().unwrap()),
        failure_persistence: Some(Box::new(seeds)),
        max_shrink_iters: 60,
        ..Config::default()
    };
    let edits = || prop::collection::vec(edit(), 1..14);
    proptest!(config, |(before in edits(), after in edits())| {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(compare(&Scene::new(), &before, &after));
    });
}
