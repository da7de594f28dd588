//! Forks of older checkpoints, and checkpoints where people's commits belong.

use std::path::Path;

use everruns_core::workspace::{
    CommitRequest, MergeOutcome, MergeRequest, MergeStrategy, WorkspaceError,
};

use crate::fixture::{Scene, git, git_raw, porcelain, read, snapshot, write};
use crate::status::disturb;

/// What Git says of a working tree in every way that matters.
fn everything(folder: &Path) -> [String; 4] {
    let run = |args: &[&str]| {
        let args = [&["--no-optional-locks"], args].concat();
        String::from_utf8_lossy(&git_raw(folder, &args)).into_owned()
    };
    [
        run(&["status", "--porcelain=v2", "-uall"]),
        run(&["diff", "--binary"]),
        run(&["diff", "--cached", "--binary"]),
        run(&["ls-files", "--stage"]),
    ]
}

/// Proves C10 for states of before: a fork of any checkpoint says of itself what its source said when that was taken.
#[tokio::test]
async fn c10_a_fork_of_an_older_checkpoint_is_in_its_state() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let mut states = vec![(head.checkpoint().await.unwrap(), everything(&folder))];
    disturb(&folder);
    states.push((head.checkpoint().await.unwrap(), everything(&folder)));
    assert!(states[1].1.iter().all(|said| !said.is_empty()));
    head.commit(CommitRequest::new("work")).await.unwrap();
    write(&folder.join("later.txt"), "later\n");
    git(&folder, &["add", "later.txt"]);
    states.push((head.checkpoint().await.unwrap(), everything(&folder)));
    std::fs::remove_file(folder.join("later.txt")).unwrap();
    let now = everything(&folder);
    for (number, (checkpoint, said)) in states.iter().enumerate() {
        let fork = head
            .fork_from(format!("fork {number}"), checkpoint)
            .await
            .unwrap();
        assert_eq!(&everything(&scene.folder(&fork)), said, "{number}");
        assert_eq!(fork.descriptor().forked_from.as_ref(), Some(head.id()));
        assert_eq!(everything(&folder), now, "the source stays as it is");
    }
    // A checkpoint of another head of the workspace, which is no more.
    let other = scene.head("two").await;
    write(&scene.folder(&other).join("theirs.txt"), "theirs\n");
    let receipt = other.destroy().await.unwrap();
    let theirs = receipt.checkpoint.unwrap();
    let fork = head.fork_from("theirs", &theirs).await.unwrap();
    assert_eq!(porcelain(&scene.folder(&fork)), ["?? theirs.txt"]);
    // What a fork was made of stays.
    head.prune_checkpoints(1).await.unwrap();
    let left: Vec<String> = head
        .checkpoints()
        .await
        .unwrap()
        .into_iter()
        .map(|kept| kept.revision)
        .collect();
    assert!(
        states.iter().all(|(kept, _)| left.contains(&kept.revision)),
        "{left:?}"
    );
    let gone = other.fork_from("again", &theirs).await.unwrap_err();
    assert!(
        matches!(gone, WorkspaceError::HeadDestroyed { .. }),
        "{gone:?}"
    );
}

/// A head made of a checkpoint's commit would take uncommitted work for committed.
#[tokio::test]
async fn a_head_is_not_made_of_a_checkpoint_by_its_commit() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    let head = scene.head("one").await;
    let clean = head.checkpoint().await.unwrap();
    write(&scene.folder(&head).join("draft.txt"), "draft\n");
    let kept = head.checkpoint().await.unwrap();
    let reference = kept.location.clone().unwrap();
    git(project, &["branch", "mine", &reference]);
    let before = snapshot(project);
    let workspace = scene.workspace().await;
    let index = format!("{reference}^2");
    for revision in [&reference, &kept.revision, &index, "mine"] {
        let failure = workspace
            .head("wrong")
            .from_revision(revision)
            .create()
            .await
            .unwrap_err();
        let WorkspaceError::RevisionIsCheckpoint {
            revision: told,
            head: of,
        } = &failure
        else {
            panic!("{revision}: {failure:?}")
        };
        assert_eq!((told.as_str(), of.as_str()), (revision, head.id().as_str()));
        assert!(
            failure.to_string().contains("fork from the checkpoint"),
            "{failure}"
        );
    }
    assert_eq!(workspace.heads().await.unwrap().len(), 1);
    assert_eq!(snapshot(project), before);
    // The checkpoint of a clean state is a commit of the user's own.
    let own = clean.location.unwrap_or(clean.revision);
    let made = workspace
        .head("own")
        .from_revision(own)
        .create()
        .await
        .unwrap();
    assert_eq!(made.base(), git(project, &["rev-parse", "main"]));
}

/// The commits of checkpoints come into nobody's history unseen.
#[tokio::test]
async fn a_merge_brings_no_checkpoint_into_a_history() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    let source = scene.head("source").await;
    write(&scene.folder(&source).join("draft.txt"), "draft\n");
    let kept = source.checkpoint().await.unwrap();
    git(project, &["branch", "target"]);
    git(project, &["checkout", "-q", "-b", "mine", &kept.revision]);
    write(&project.join("mine.txt"), "mine\n");
    scene.repository.commit_all("on top");
    git(project, &["checkout", "-q", "main"]);
    let head = scene
        .workspace()
        .await
        .head("one")
        .from_revision("mine")
        .create()
        .await
        .unwrap();
    write(&scene.folder(&head).join("more.txt"), "more\n");
    let before = snapshot(project);
    let merge = |strategy| {
        head.merge(MergeRequest {
            branch: "target".to_owned(),
            strategy,
            ..MergeRequest::default()
        })
    };
    for strategy in [MergeStrategy::MergeCommit, MergeStrategy::FastForward] {
        let failure = merge(strategy).await.unwrap_err();
        let WorkspaceError::CheckpointInHistory { commit, into, .. } = &failure else {
            panic!("{failure:?}")
        };
        assert_eq!(into, "target");
        let subject = git(project, &["log", "-1", "--format=%s", commit]);
        assert!(subject.starts_with("everruns: "), "{subject}");
    }
    let other = scene.head("two").await;
    let failure = other.update_from("mine").await.unwrap_err();
    assert!(
        matches!(&failure, WorkspaceError::CheckpointInHistory { from, .. } if from == "mine"),
        "{failure:?}"
    );
    assert_eq!(snapshot(project), before);
    assert!(porcelain(&scene.folder(&other)).is_empty());

    let outcome = merge(MergeStrategy::Squash).await.unwrap();
    assert!(
        matches!(outcome, MergeOutcome::Merged { .. }),
        "{outcome:?}"
    );
    assert_eq!(git(project, &["show", "target:draft.txt"]), "draft");
    let subjects = git(project, &["log", "--format=%s", "target"]);
    assert!(!subjects.contains("everruns: "), "{subjects}");
    // What is in the branch's history already comes into it from nobody.
    git(project, &["branch", "after", "mine"]);
    let outcome = head.merge_into("after").await.unwrap();
    assert!(
        matches!(outcome, MergeOutcome::Merged { .. }),
        "{outcome:?}"
    );
    other.update_from("target").await.unwrap();
    assert_eq!(read(&scene.folder(&other).join("mine.txt")), "mine\n");
}
