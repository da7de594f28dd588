//! What heads in memory keep of their past: plans, ranges, and forgetting.

use std::sync::Arc;

use everruns_core::file_system::SessionFileSystemExt as _;
use everruns_core::workspace::{
    DiffBase, DiffRequest, FileChange, MergeOutcome, Workspace, WorkspaceBackend,
    WorkspaceCheckpoint, WorkspaceError, WorkspaceHead,
};
use everruns_fs::MemoryWorkspaceBackend;

use crate::support::text;

async fn head() -> (Workspace, WorkspaceHead) {
    let backend: Arc<dyn WorkspaceBackend> = Arc::new(MemoryWorkspaceBackend::new());
    let workspace = Workspace::open(backend, "project").await.unwrap();
    let head = workspace.head("work").create().await.unwrap();
    (workspace, head)
}

async fn put(head: &WorkspaceHead, at: &str, content: &str) {
    let files = head.file_system();
    files.write_all(at, content.to_owned()).await.unwrap();
}

/// A checkpoint after each of these contents of one file.
async fn kept(head: &WorkspaceHead, contents: &[&str]) -> Vec<WorkspaceCheckpoint> {
    let mut all = Vec::new();
    for content in contents {
        put(head, "file", content).await;
        all.push(head.checkpoint().await.unwrap());
    }
    all
}

async fn numbers(head: &WorkspaceHead) -> Vec<u64> {
    let all = head.checkpoints().await.unwrap();
    all.iter().map(|kept| kept.number).collect()
}

#[tokio::test]
async fn a_plan_says_what_a_restore_does() {
    let (_, head) = head().await;
    put(&head, "stays", "1").await;
    put(&head, "back", "1").await;
    let then = head.checkpoint().await.unwrap();
    let files = head.file_system();
    files
        .rename(
            &crate::support::path("back"),
            &crate::support::path("new/goes"),
            everruns_core::file_system::Replace::Never,
        )
        .await
        .unwrap();
    let plan = head.plan_restore(&then).await.unwrap();
    let steps: Vec<_> = plan
        .steps
        .iter()
        .map(|step| (step.path.as_str(), step.removes))
        .collect();
    assert_eq!(steps, [("back", false), ("new/goes", true)]);
    assert_eq!((plan.blocked, plan.branch_to), (vec![], None));
    assert!(text(files.as_ref(), "new/goes").await.is_ok());
    let receipt = head.restore(&then).await.unwrap();
    assert_eq!(receipt.changed, ["back", "new/goes"]);
    assert!(head.plan_restore(&then).await.unwrap().steps.is_empty());
}

#[tokio::test]
async fn any_two_states_are_compared() {
    let (workspace, head) = head().await;
    let all = kept(&head, &["one\n", "two\n", "three\n"]).await;
    let between = head.diff_between(&all[0], &all[1]).await.unwrap();
    assert_eq!((between.added(), between.removed()), (1, 1));
    assert!(between.to_string().contains("-one\n+two\n"));
    let back = head.diff_between(&all[1], &all[0]).await.unwrap();
    assert!(back.to_string().contains("-two\n+one\n"));
    let own = head.diff_between(DiffBase::HeadBase, &all[2]).await;
    assert_eq!(own.unwrap().files[0].change, FileChange::Added);

    let merged = head.merge_into("main").await.unwrap();
    assert!(matches!(merged, MergeOutcome::Merged { .. }));
    let later = workspace.head("later").create().await.unwrap();
    put(&later, "file", "four\n").await;
    let main = |name: &str| DiffRequest {
        from: DiffBase::Revision(name.to_owned()),
        ..DiffRequest::default()
    };
    let since = later.diff_range(main("main")).await.unwrap();
    assert!(since.to_string().contains("-three\n+four\n"));
    let since = later.diff_range(main(&all[0].revision)).await.unwrap();
    assert!(since.to_string().contains("-one\n+four\n"));
    let unknown = later.diff_range(main("--output=x")).await;
    assert!(matches!(
        unknown,
        Err(WorkspaceError::UnknownRevision { .. })
    ));
}

#[tokio::test]
async fn differences_come_in_pages() {
    let (_, head) = head().await;
    for number in 0..25 {
        put(&head, &format!("{number:02}"), "text\n").await;
    }
    let (mut seen, mut skip) = (Vec::new(), Some(0));
    while let Some(from) = skip {
        let request = DiffRequest {
            skip: from,
            limit: Some(10),
            ..DiffRequest::default()
        };
        let page = head.diff_range(request).await.unwrap();
        assert!(page.changed && page.files.len() <= 10);
        assert_eq!(page.truncated, page.next.is_some());
        seen.extend(page.files.into_iter().map(|file| file.path));
        skip = page.next;
    }
    let expected: Vec<String> = (0..25).map(|number| format!("{number:02}")).collect();
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn old_checkpoints_are_forgotten_and_needed_ones_stay() {
    let (workspace, head) = head().await;
    let all = kept(&head, &["1", "2", "3", "4", "5", "6"]).await;
    head.fork_from("fork", &all[1]).await.unwrap();
    let other = workspace.head("other").create().await.unwrap();
    let same = kept(&other, &["3"]).await;
    let doomed = head.fork_from("doomed", &all[5]).await.unwrap();
    put(&doomed, "file", "4").await;
    let receipt = doomed.destroy().await.unwrap();
    assert_eq!(receipt.checkpoint.unwrap().revision, all[3].revision);

    let pruned = head.prune_checkpoints(2).await.unwrap();
    assert_eq!(pruned.removed, [all[0].clone(), all[2].clone()]);
    assert_eq!(pruned.kept, 4);
    assert_eq!(numbers(&head).await, [2, 4, 5, 6]);
    assert!(matches!(
        head.restore(&all[0]).await,
        Err(WorkspaceError::CheckpointNotFound { .. })
    ));
    // Another head's checkpoint has the same state, and what a receipt or a fork needs is there.
    for here in [&all[1], &same[0], &all[3], &all[4], &all[5]] {
        head.restore(here).await.unwrap();
    }
    let again = head.prune_checkpoints(100).await.unwrap();
    assert_eq!((again.removed, again.kept), (vec![], 5));
}

/// The latest checkpoint always stays, so no number is given twice, and a state that was forgotten is kept anew.
#[tokio::test]
async fn numbers_go_on_after_pruning() {
    let (_, head) = head().await;
    let all = kept(&head, &["1", "2", "3"]).await;
    let pruned = head.prune_checkpoints(0).await.unwrap();
    assert_eq!(pruned.removed, all[..2]);
    let again = kept(&head, &["1"]).await;
    assert_eq!((again[0].number, &again[0].revision), (4, &all[0].revision));
    put(&head, "file", "3").await;
    assert_eq!(head.checkpoint().await.unwrap(), all[2]);
    assert_eq!(numbers(&head).await, [3, 4]);
}

/// What a branch pointed to is no checkpoint's to forget.
#[tokio::test]
async fn bases_and_merged_states_are_never_forgotten() {
    let (workspace, head) = head().await;
    let all = kept(&head, &["1", "2"]).await;
    let outcome = head.merge_into("main").await.unwrap();
    let MergeOutcome::Merged { revision } = outcome else {
        panic!("the merge gave {outcome:?}")
    };
    assert_eq!(revision, all[1].revision);
    kept(&head, &["3", "4"]).await;
    let pruned = head.prune_checkpoints(1).await.unwrap();
    assert_eq!(pruned.removed.len(), 3);
    let builder = workspace.head("again").from_revision(&revision);
    let again = builder.create().await.unwrap();
    assert_eq!(
        text(again.file_system().as_ref(), "file").await.unwrap(),
        "2"
    );
    let gone = workspace.head("gone").from_revision(&all[0].revision);
    assert!(matches!(
        gone.create().await,
        Err(WorkspaceError::UnknownRevision { .. })
    ));
}
