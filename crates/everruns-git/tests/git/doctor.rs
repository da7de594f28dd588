//! Leftovers: listed, explained, and put right only where they are provably ours.

use everruns_core::failpoint;
use everruns_core::workspace::DoctorReport;

use crate::fixture::{Scene, backend, git, snapshot, write};

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
