//! Leftovers: listed, explained, and put right only where they are provably ours.

use std::collections::BTreeSet;
use std::path::Path;

use everruns_core::failpoint;
use everruns_core::workspace::{DoctorReport, WorkspaceBackend as _};
use everruns_git::LocalGitWorkspace;

use crate::crash::killed;
use crate::fixture::{Scene, backend, git, read, snapshot, write};

/// `kind repairable repaired` of each finding, subjects left out.
fn told(report: &DoctorReport) -> Vec<(&str, bool, bool)> {
    report
        .findings
        .iter()
        .map(|finding| (finding.kind.as_str(), finding.repairable, finding.repaired))
        .collect()
}

#[tokio::test]
async fn a_state_without_leftovers_is_well() {
    let scene = Scene::new();
    assert!(
        scene
            .backend
            .doctor(true)
            .await
            .unwrap()
            .findings
            .is_empty()
    );
    let head = scene.head("one").await;
    write(&scene.folder(&head).join("work.txt"), "work\n");
    head.fork("two").await.unwrap().archive().await.unwrap();
    head.checkpoint().await.unwrap();
    scene.head("three").await.destroy().await.unwrap();
    scene.trash_is_emptied().await;
    let report = scene.backend.doctor(true).await.unwrap();
    assert!(report.findings.is_empty(), "{report:?}");
}

/// Everything is told at once; a look changes nothing, a repair only what is ours, and work never.
#[tokio::test]
async fn leftovers_are_told_and_only_provably_own_ones_put_right() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    let workspace = scene.workspace().await;
    let (gone, pruned, locked, busy) = (
        scene.head("gone").await,
        scene.head("pruned").await,
        scene.head("locked").await,
        scene.head("busy").await,
    );
    let records = project.join(".git/worktrees");
    let worktrees = scene.state.join("worktrees").join(workspace.id().as_str());
    std::fs::remove_dir_all(scene.folder(&gone)).unwrap();
    std::fs::remove_dir_all(records.join(pruned.id().as_str())).unwrap();
    let dead = "everruns holder 1\npid 1\nstart 1\nboot another\nnamespace -\n";
    write(&records.join(locked.id().as_str()).join("index.lock"), dead);
    write(&records.join(busy.id().as_str()).join("index.lock"), "");

    // A record of a head that nobody knows, one of somebody else's worktree, and the user's own.
    let strange = records.join("head_unknown1");
    write(&strange.join("HEAD"), "ref: refs/heads/main\n");
    write(&strange.join("commondir"), "../..\n");
    let named = worktrees.join("head_unknown1/.git");
    write(&strange.join("gitdir"), &format!("{}\n", named.display()));
    write(&records.join("head_other2/HEAD"), "ref: refs/heads/main\n");
    write(
        &records.join("head_other2/gitdir"),
        "/elsewhere/head_other2/.git\n",
    );

    write(&worktrees.join("head_empty3/.git"), "gitdir: nowhere\n");
    write(&worktrees.join("head_full4/work.txt"), "work\n");
    git(project, &["branch", "everruns/alone"]);
    let lonely = "refs/everruns/heads/head_lonely5/checkpoints/1";
    git(project, &["update-ref", lonely, "HEAD"]);
    let names = scene
        .state
        .join("workspaces")
        .join(format!("{}.names", workspace.id().as_str()));
    write(&names.join("0".repeat(64)), "head_nobody6");
    write(&scene.state.join("trash/head_trashed7/a.txt"), "a\n");

    let before = (snapshot(project), snapshot(&scene.state));
    let report = scene.backend.doctor(false).await.unwrap();
    assert_eq!((snapshot(project), snapshot(&scene.state)), before);
    let expected = [
        ("branch-without-head", false),
        ("checkpoints-without-head", false),
        ("folder-without-head", true),
        ("folder-without-head", false),
        ("head-without-folder", false),
        ("head-without-record", false),
        ("index-lock", false),
        ("name-without-head", true),
        ("record-without-head", true),
        ("stale-index-lock", true),
        ("trash", true),
    ];
    let look: Vec<_> = expected
        .iter()
        .map(|&(kind, own)| (kind, own, false))
        .collect();
    assert_eq!(told(&report), look, "{report:#?}");
    assert!(
        report
            .findings
            .iter()
            .all(|finding| !finding.detail.is_empty())
    );

    let report = scene.backend.doctor(true).await.unwrap();
    let repaired: Vec<_> = expected
        .iter()
        .map(|&(kind, own)| (kind, own, own))
        .collect();
    assert_eq!(told(&report), repaired, "{report:#?}");
    let report = scene.backend.doctor(true).await.unwrap();
    let left: Vec<_> = look.into_iter().filter(|(_, own, _)| !own).collect();
    assert_eq!(told(&report), left, "{report:#?}");
    assert!(worktrees.join("head_full4/work.txt").exists());
    assert!(
        records.join("head_other2/gitdir").exists(),
        "another state's record"
    );
    git(project, &["rev-parse", "--verify", "everruns/alone"]);
    git(project, &["rev-parse", "--verify", lonely]);
    assert!(!strange.exists());
    gone.destroy().await.unwrap();
}

/// What an operation is in the middle of is no leftover.
#[tokio::test]
async fn an_operation_under_way_is_no_leftover() {
    let scene = Scene::new();
    let state = scene.state.clone();
    let workspace = scene.workspace().await;
    let (sender, receiver) = std::sync::mpsc::channel();
    failpoint::arm("git.create.after-checkout", move || {
        // Another process looks just now.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let report = runtime.block_on(backend(&state).doctor(true)).unwrap();
        sender.send(report).unwrap();
        true
    });
    let head = workspace.head("one").create().await.unwrap();
    failpoint::disarm_all();
    let report = receiver.recv().unwrap();
    assert!(report.findings.is_empty(), "{report:?}");
    assert!(head.status().await.unwrap().entries.is_empty());
}

/// Every path below `folder`, the parts of a repository that are ours included.
fn everything(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let is_file = path.symlink_metadata().unwrap().is_file();
            let content = if is_file {
                std::fs::read(&path).unwrap()
            } else {
                Vec::new()
            };
            if path.is_dir() && !path.is_symlink() {
                waiting.push(path.clone());
            }
            found.insert(format!("{} {:x?}", path.display(), content));
        }
    }
    found
}

/// Proves H30 for the doctor: a look changes nothing, and tells all that an ordinary opening would put right at once.
#[tokio::test]
async fn h30_a_look_tells_what_opening_would_put_right_and_changes_nothing() {
    let scene = Scene::new();
    let project = scene.repository.path.clone();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    write(&folder.join("work.txt"), "work\n");
    head.checkpoint().await.unwrap();
    write(&folder.join("work.txt"), "more\n");
    git(&project, &["checkout", "-q", "-b", "target"]);
    killed(&scene, "restore", "git.restore.after-files");
    let at = |name: &str| project.join(".git").join(name);
    let dead = "everruns holder 1\npid 1\nstart 1\nboot another\nnamespace -\n";
    write(&at("index.lock"), dead);
    write(&at("index.held-1-0.lock"), dead);
    write(
        &at("refs/everruns/held-1-0.lock"),
        &format!("{dead}lock refs/heads/target.lock\n"),
    );
    let aside = scene.root.path().join("aside");
    let aside = aside.to_str().unwrap();
    // Removed by others: the restore above was killed with the lock of the head's index in its hands.
    git(&project, &["worktree", "add", "-q", "-b", "aside", aside]);
    write(&at("worktrees/aside/index.lock"), "");
    for (id, state) in [("head_gone1", "/nowhere/state"), ("head_there2", aside)] {
        let record = at(&format!("worktrees/{id}"));
        write(&record.join("HEAD"), "ref: refs/heads/main\n");
        write(&record.join("commondir"), "../..\n");
        write(&record.join("gitdir"), &format!("{state}/.git\n"));
        write(
            &record.join("locked"),
            &format!("everruns head {id} (name)\n"),
        );
    }
    write(&scene.state.join("trash/head_trashed7/a.txt"), "a\n");

    let look = || {
        LocalGitWorkspace::builder(&scene.state)
            .user_settings(false)
            .recover_at_open(false)
            .build()
            .unwrap()
    };
    let before = (everything(&project), everything(&scene.state));
    let report = look().doctor(false).await.unwrap();
    let after = (everything(&project), everything(&scene.state));
    assert_eq!(
        after.0.difference(&before.0).collect::<Vec<_>>(),
        Vec::<&String>::new()
    );
    assert_eq!(
        before.0.difference(&after.0).collect::<Vec<_>>(),
        Vec::<&String>::new()
    );
    assert_eq!(
        after.1.difference(&before.1).collect::<Vec<_>>(),
        Vec::<&String>::new()
    );
    assert_eq!(
        before.1.difference(&after.1).collect::<Vec<_>>(),
        Vec::<&String>::new()
    );
    let expected = [
        ("index-lock", false),
        ("interrupted-operation", true),
        ("locked-without-head", false),
        ("stale-index-lock", true),
        ("stale-index-lock", true),
        ("stale-index-lock", true),
        ("stale-reference-lock", true),
        ("trash", true),
    ];
    let told_of: Vec<_> = expected
        .iter()
        .map(|&(kind, own)| (kind, own, false))
        .collect();
    assert_eq!(told(&report), told_of, "{report:#?}");
    let subjects: Vec<&str> = report
        .findings
        .iter()
        .map(|found| found.subject.as_str())
        .collect();
    for subject in [
        at("index.lock"),
        at("worktrees/aside/index.lock"),
        at("worktrees/head_gone1/locked"),
    ] {
        assert!(
            subjects.contains(&subject.to_str().unwrap()),
            "{subjects:#?}"
        );
    }
    let details: String = report
        .findings
        .iter()
        .map(|found| found.detail.as_str())
        .collect();
    assert!(
        details.contains("a restore of this head was cut short"),
        "{details}"
    );

    // A repair puts right what is ours and nothing else; the lock of the head's index goes with its restore.
    let report = look().doctor(true).await.unwrap();
    let mut put_right: Vec<_> = expected
        .iter()
        .map(|&(kind, own)| (kind, own, own))
        .collect();
    put_right.remove(3);
    assert_eq!(told(&report), put_right, "{report:#?}");
    let report = look().doctor(true).await.unwrap();
    let left: Vec<_> = told_of.into_iter().filter(|(_, own, _)| !own).collect();
    assert_eq!(told(&report), left, "{report:#?}");
    assert_eq!(
        read(&at("worktrees/aside/index.lock")),
        "",
        "it is left alone"
    );
    assert!(at("worktrees/head_gone1/locked").exists());
    assert!(!at("index.lock").exists());
    assert_eq!(
        read(&folder.join("work.txt")),
        "work\n",
        "the restore is finished"
    );
    assert_eq!(scene.workspace().await.heads().await.unwrap().len(), 1);
}

/// The same for a backend that stays open while others are killed.
#[tokio::test]
async fn an_open_backend_tells_of_locks_in_the_users_own_folder() {
    let scene = Scene::new();
    let lock = scene.repository.path.join(".git/index.lock");
    scene.workspace().await;
    write(&lock, "");
    let report = scene.backend.doctor(true).await.unwrap();
    assert_eq!(told(&report), [("index-lock", false, false)]);
    assert_eq!(report.findings[0].subject, lock.to_str().unwrap());
    let dead = "everruns holder 1\npid 1\nstart 1\nboot another\nnamespace -\n";
    write(&lock, dead);
    let announcement = lock.with_file_name("index.held-5-0.lock");
    write(&announcement, dead);
    let report = scene.backend.doctor(false).await.unwrap();
    let stale = ("stale-index-lock", true, false);
    assert_eq!(told(&report), [stale, stale]);
    assert!(lock.exists() && announcement.exists());
    scene.backend.doctor(true).await.unwrap();
    assert!(!lock.exists() && !announcement.exists());
}
