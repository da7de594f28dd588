//! Generated histories: commit, merge, update and patch beside the real `git`.

use std::path::{Path, PathBuf};

use everruns_core::workspace::{
    CommitRequest, DiffRequest, MergeOutcome, UpdateOutcome, WorkspaceError, WorkspaceHead,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, FileFailurePersistence};

use crate::fixture::{Scene, git, git_raw, make_executable, porcelain, read, try_git, write};
use crate::generated::{self, PATHS, edit, everything};
use crate::patch::applied;

/// How many cases of each kind are tried.
fn config() -> Config {
    let seeds = FileFailurePersistence::Direct("tests/git/home_generated.seeds");
    Config {
        cases: std::env::var("PROPTEST_CASES").map_or(12, |cases| cases.parse().unwrap()),
        failure_persistence: Some(Box::new(seeds)),
        max_shrink_iters: 40,
        ..Config::default()
    }
}

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(test);
}

/// Two heads with the same edits, of which the second is Git's.
async fn twins(scene: &Scene, edits: &[generated::Edit]) -> (WorkspaceHead, PathBuf, PathBuf) {
    let (ours, theirs) = (scene.head("ours").await, scene.head("theirs").await);
    let folders = [scene.folder(&ours), scene.folder(&theirs)];
    for folder in &folders {
        for edit in edits {
            generated::perform(folder, edit);
        }
    }
    let [mine, other] = folders;
    (ours, mine, other)
}

async fn compare_commit(edits: &[generated::Edit], path: Option<&str>) {
    let scene = Scene::new();
    let (head, mine, other) = twins(&scene, edits).await;
    let request = CommitRequest {
        paths: path.map(str::to_owned).into_iter().collect(),
        resolve_conflicts: true,
        ..CommitRequest::new("the same  \n\nfor both\n")
    };
    let outcome = head.commit(request).await;
    let only: Vec<&str> = path.map_or_else(Vec::new, |path| vec!["--", path]);
    let add = [&["add", "-A"][..], &only].concat();
    let commit = [&["commit", "-qm", "the same  \n\nfor both\n"][..], &only].concat();
    // Of chosen paths, Git puts a file back that was taken out of the index and is ignored.
    if path.is_some() && forgets_ignored(&other) {
        return;
    }
    // A path whose deletion is staged already is nothing to add, and can be committed.
    drop(try_git(&other, &add));
    let theirs = try_git(&other, &commit);
    if !theirs.status.success() {
        let words = String::from_utf8_lossy(&theirs.stderr).into_owned();
        // Git can't commit a chosen file that became a folder.
        let unable = path.is_some() && words.contains("updating files failed");
        assert!(
            outcome.is_err() || unable,
            "Git refuses ({words}), and so do we: {outcome:?}"
        );
        return;
    }
    outcome.unwrap();
    assert_eq!(everything(&mine), everything(&other));
    let shown = ["log", "-1", "--format=%T%n%B%an%ae"];
    assert_eq!(git(&mine, &shown), git(&other, &shown));
    git(&mine, &["fsck", "--strict"]);
}

/// Whether an ignored file is in the last commit, and not in the index.
fn forgets_ignored(folder: &Path) -> bool {
    let ignored = git(folder, &["ls-files", "-o", "-i", "--exclude-standard"]);
    let committed = git(folder, &["ls-tree", "-r", "--name-only", "HEAD"]);
    let committed: Vec<&str> = committed.lines().collect();
    ignored.lines().any(|path| committed.contains(&path))
}

/// `git commit` of everything and of single paths makes the same commit, and leaves the same.
#[test]
fn generated_commits_are_the_same_to_git_and_us() {
    let paths = prop::option::of(0..PATHS.len());
    proptest!(config(), |(edits in prop::collection::vec(edit(), 1..12), path in paths)| {
        run(compare_commit(&edits, path.map(|path| PATHS[path])));
    });
}

async fn compare_patch(edits: &[generated::Edit]) {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    for edit in edits {
        generated::perform(&folder, edit);
    }
    let patch = head.patch(DiffRequest::default()).await.unwrap();
    let kept = head.checkpoint().await.unwrap().revision;
    let tree = git(&folder, &["rev-parse", &format!("{kept}^{{tree}}")]);
    let found = applied(&scene, head.base(), &patch.bytes, "ours");
    if found.is_none() {
        // What Git's own patch can't do either, such as going through a link, is not asked of ours.
        let args = ["diff", "--binary", "--full-index", "-M", head.base(), &kept];
        let theirs = git_raw(&folder, &args);
        assert_eq!(applied(&scene, head.base(), &theirs, "theirs"), None);
        return;
    }
    assert_eq!(found, Some(tree));
}

/// `git apply` of our patch makes the same tree.
#[test]
fn generated_patches_are_applied_by_git() {
    proptest!(config(), |(edits in prop::collection::vec(edit(), 1..14))| {
        run(compare_patch(&edits));
    });
}

/// What one side does to a project of files with many lines, where merges are no matter of taste.
#[derive(Debug, Clone)]
enum Work {
    Line(usize, usize, u8),
    Delete(usize),
    Rename(usize, usize),
    Add(usize, u8),
    Executable(usize),
}

fn work() -> impl Strategy<Value = Vec<Work>> {
    let file = || 0..4_usize;
    let one = prop_oneof![
        6 => (file(), 0..20_usize, 0..3_u8).prop_map(|(file, line, text)| Work::Line(file, line, text)),
        1 => file().prop_map(Work::Delete),
        1 => (file(), 0..3_usize).prop_map(|(file, to)| Work::Rename(file, to)),
        2 => (0..3_usize, 0..3_u8).prop_map(|(file, text)| Work::Add(file, text)),
        1 => file().prop_map(Work::Executable),
    ];
    prop::collection::vec(one, 0..5)
}

fn text(file: usize) -> String {
    let lines: Vec<String> = (0..20)
        .map(|line| format!("file {file} has a line {line}"))
        .collect();
    lines.join("\n") + "\n"
}

fn perform(folder: &Path, work: &[Work]) {
    for work in work {
        match work {
            Work::Line(file, line, text) => {
                let path = folder.join(format!("f{file}"));
                if path.is_file() {
                    let content = read(&path);
                    let mut lines: Vec<String> = content.lines().map(str::to_owned).collect();
                    lines[*line] = format!("changed to {text}");
                    write(&path, &(lines.join("\n") + "\n"));
                }
            }
            Work::Delete(file) => drop(std::fs::remove_file(folder.join(format!("f{file}")))),
            Work::Rename(file, to) => {
                let to = folder.join(format!("moved/{file}-{to}"));
                std::fs::create_dir_all(to.parent().unwrap()).unwrap();
                drop(std::fs::rename(folder.join(format!("f{file}")), to));
            }
            Work::Add(file, content) => {
                let content = text(10 + usize::from(*content));
                write(&folder.join(format!("added/{file}")), &content);
            }
            Work::Executable(file) => {
                let path = folder.join(format!("f{file}"));
                if path.is_file() {
                    make_executable(&path);
                }
            }
        }
    }
}

/// A scene with the files, a branch `side` with work of its own, and two heads with the same work, one committed.
async fn divided(side: &[Work], committed: &[Work]) -> (Scene, WorkspaceHead, PathBuf, PathBuf) {
    let scene = Scene::new();
    let project = scene.repository.path.clone();
    // Renames of whole folders are a matter of taste, in which we differ.
    git(&project, &["config", "merge.directoryRenames", "false"]);
    for file in 0..4 {
        write(&project.join(format!("f{file}")), &text(file));
    }
    scene.repository.commit_all("files");
    let (ours, theirs) = (scene.head("ours").await, scene.head("theirs").await);
    let (mine, other) = (scene.folder(&ours), scene.folder(&theirs));
    git(&project, &["checkout", "-q", "-b", "side"]);
    perform(&project, side);
    git(&project, &["add", "-A"]);
    git(&project, &["commit", "-q", "--allow-empty", "-m", "side"]);
    git(&project, &["checkout", "-q", "main"]);
    for folder in [&mine, &other] {
        perform(folder, committed);
        git(folder, &["add", "-A"]);
        if !committed.is_empty() {
            git(folder, &["commit", "-q", "--allow-empty", "-m", "work"]);
        }
    }
    (scene, ours, mine, other)
}

async fn compare_merge(side: &[Work], committed: &[Work]) {
    let (scene, head, mine, _) = divided(side, committed).await;
    let project = &scene.repository.path;
    let branch = head.descriptor().branch.clone().unwrap();
    let theirs = try_git(project, &["merge-tree", "--write-tree", "side", &branch]);
    let printed = String::from_utf8(theirs.stdout).unwrap();
    let tree = printed.lines().next().unwrap().to_owned();
    match head.merge_into("side").await.unwrap() {
        MergeOutcome::Conflicts(conflicts) => {
            assert_eq!(theirs.status.code(), Some(1), "{conflicts:?}");
            let mut listed: Vec<&str> = printed
                .lines()
                .skip(1)
                .take_while(|line| !line.is_empty())
                .filter_map(|line| line.split_once('\t').map(|(_, path)| path))
                .collect();
            listed.dedup();
            let told: Vec<&str> = conflicts.iter().map(|found| found.path.as_str()).collect();
            assert_eq!(told, listed);
        }
        MergeOutcome::Merged { .. } => {
            assert_eq!(theirs.status.code(), Some(0), "{printed}");
            assert_eq!(git(project, &["rev-parse", "side^{tree}"]), tree);
        }
        MergeOutcome::UpToDate => {
            assert_eq!(git(project, &["rev-parse", "side^{tree}"]), tree);
        }
        other => panic!("{other:?}"),
    }
    assert!(porcelain(&mine).is_empty());
}

/// `git merge-tree` comes to the same trees and the same conflicts.
#[test]
fn generated_merges_are_the_same_to_git_and_us() {
    proptest!(config(), |(side in work(), committed in work())| {
        run(compare_merge(&side, &committed));
    });
}

async fn compare_update(side: &[Work], committed: &[Work], loose: &[Work]) {
    let (_scene, head, mine, other) = divided(side, committed).await;
    for folder in [&mine, &other] {
        perform(folder, loose);
    }
    let before = everything(&mine);
    let outcome = head.update_from("side").await;
    let theirs = try_git(&other, &["merge", "-q", "--no-edit", "side"]);
    let merging = try_git(&other, &["rev-parse", "-q", "--verify", "MERGE_HEAD"]);
    match (&outcome, theirs.status.success(), merging.status.success()) {
        (Err(WorkspaceError::LocalChanges { .. }), false, false) => {
            assert_eq!(everything(&mine), before, "a refusal changes nothing");
        }
        (Ok(UpdateOutcome::Conflicts(_)), false, true) => {}
        (Ok(UpdateOutcome::Conflicts(_)) | Err(_), ..) | (Ok(_), false, _) => {
            let words = String::from_utf8_lossy(&theirs.stderr).into_owned();
            panic!("ours: {outcome:?}, Git's: {words}")
        }
        (Ok(_), true, _) => {}
    }
    assert_eq!(everything(&mine), everything(&other));
    for path in files(&mine) {
        assert_eq!(
            std::fs::read(mine.join(&path)).unwrap(),
            std::fs::read(other.join(&path)).unwrap(),
            "{path}"
        );
    }
    let shown = ["log", "-1", "--format=%T"];
    assert_eq!(git(&mine, &shown), git(&other, &shown));
    let parents = ["rev-list", "--parents", "-1", "HEAD"];
    let count = |folder: &Path| git(folder, &parents).split(' ').count();
    assert_eq!(count(&mine), count(&other));
}

/// The tracked files that are there.
fn files(folder: &Path) -> Vec<String> {
    let listed = git(folder, &["ls-files"]);
    let mut paths: Vec<String> = listed
        .lines()
        .filter(|path| folder.join(path).is_file())
        .map(str::to_owned)
        .collect();
    paths.dedup();
    paths
}

/// `git merge` leaves the same files, index, conflicts and history, also over changes that are not committed.
#[test]
fn generated_updates_are_the_same_to_git_and_us() {
    proptest!(config(), |(side in work(), committed in work(), loose in work())| {
        run(compare_update(&side, &committed, &loose));
    });
}
