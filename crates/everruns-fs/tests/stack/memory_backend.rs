//! Workspaces in memory, beyond what the conformance suite checks.

use std::sync::Arc;

use everruns_core::file_system::{Precondition, Removal, Replace, SessionFileSystemExt as _};
use everruns_core::ids::SessionId;
use everruns_core::workspace::{
    DiffLineKind, EntryState, FileChange, MergeOutcome, Workspace, WorkspaceBackend,
    WorkspaceError, WorkspaceHead,
};
use everruns_fs::MemoryWorkspaceBackend;
use proptest::prelude::*;

use crate::support::{path, text};

async fn workspace() -> Workspace {
    let backend: Arc<dyn WorkspaceBackend> = Arc::new(MemoryWorkspaceBackend::new());
    Workspace::open(backend, "project").await.unwrap()
}

async fn put(head: &WorkspaceHead, at: &str, content: &str) {
    head.file_system()
        .write_all(at, content.to_owned())
        .await
        .unwrap();
}

async fn remove(head: &WorkspaceHead, at: &str) {
    let files = head.file_system();
    files
        .remove(&path(at), Removal::Recursive, Precondition::Any)
        .await
        .unwrap();
}

/// A workspace whose branch `main` holds these files.
async fn with_main(files: &[(&str, &str)]) -> Workspace {
    let workspace = workspace().await;
    let head = workspace.head("first").create().await.unwrap();
    for (at, content) in files {
        put(&head, at, content).await;
    }
    let merged = head.merge_into("main").await.unwrap();
    assert!(matches!(merged, MergeOutcome::Merged { .. }));
    workspace
}

/// Proves C15 and C16 for the memory backend: nothing is made up for a binding of another process.
#[tokio::test]
async fn c15_bindings_of_another_process_lead_nowhere() {
    let binding = workspace()
        .await
        .head("h")
        .create()
        .await
        .unwrap()
        .binding();
    let refused = MemoryWorkspaceBackend::new().reopen_head(&binding).await;
    assert!(
        matches!(refused, Err(WorkspaceError::HeadNotFound { head }) if head == binding.head_id)
    );
}

/// Proves C06 and C07 in memory
#[tokio::test]
async fn c06_c07_claims() {
    let workspace = workspace().await;
    let (one, two) = (
        SessionId::new("ses_1").unwrap(),
        SessionId::new("ses_2").unwrap(),
    );
    let isolated = workspace.head("mine").create().await.unwrap();
    isolated.claim(&one).await.unwrap();
    assert!(matches!(
        isolated.claim(&two).await,
        Err(WorkspaceError::HeadClaimed { session, .. }) if session == one
    ));
    let shared = workspace.head("ours").shared().create().await.unwrap();
    shared.claim(&one).await.unwrap();
    shared.claim(&two).await.unwrap();
}

/// Proves C08: on a shared head a stale writer is told the current version and overwrites nothing.
#[tokio::test]
async fn c08_stale_writers_conflict_on_a_shared_head() {
    use everruns_core::file_system::{ContentVersion, FileSystemError};
    let head = workspace()
        .await
        .head("ours")
        .shared()
        .create()
        .await
        .unwrap();
    let (one, two) = (head.file_system(), head.file_system());
    let read = one.write_all("a", "start").await.unwrap();
    two.write_all("a", "theirs").await.unwrap();
    let stale = one
        .write(&path("a"), "mine".into(), Precondition::Matches(read))
        .await;
    assert!(matches!(
        stale,
        Err(FileSystemError::Conflict { current, .. }) if current == Some(ContentVersion::of(b"theirs"))
    ));
    assert_eq!(text(one.as_ref(), "a").await.unwrap(), "theirs");
}

#[tokio::test]
async fn status_and_diff_tell_what_differs() {
    let lines: Vec<String> = (1..=30).map(|n| format!("line {n}\n")).collect();
    let lines = lines.concat();
    let workspace = with_main(&[
        ("edit", &lines),
        ("gone", "old\n"),
        ("move me", "same bytes\n"),
        ("bin", "a\0"),
    ])
    .await;
    let head = workspace.head("work").create().await.unwrap();
    assert!(!head.status().await.unwrap().dirty);
    put(
        &head,
        "edit",
        &lines
            .replace("line 2\n", "LINE 2\n")
            .replace("line 29\n", ""),
    )
    .await;
    put(&head, "bin", "b\0").await;
    put(&head, "new", "no newline").await;
    remove(&head, "gone").await;
    let files = head.file_system();
    files
        .rename(&path("move me"), &path("moved/here"), Replace::Never)
        .await
        .unwrap();

    let status = head.status().await.unwrap();
    let entries: Vec<_> = status
        .entries
        .iter()
        .map(|entry| (entry.path.as_str(), entry.unstaged))
        .collect();
    assert_eq!(
        entries,
        [
            ("bin", EntryState::Modified),
            ("edit", EntryState::Modified),
            ("gone", EntryState::Deleted),
            ("move me", EntryState::Deleted),
            ("moved/here", EntryState::Untracked),
            ("new", EntryState::Untracked),
        ]
    );
    let diff = head.diff().await.unwrap();
    let files: Vec<_> = diff
        .files
        .iter()
        .map(|file| (file.path.as_str(), file.change))
        .collect();
    assert_eq!(
        files,
        [
            ("bin", FileChange::Modified),
            ("edit", FileChange::Modified),
            ("gone", FileChange::Deleted),
            ("moved/here", FileChange::Renamed),
            ("new", FileChange::Added),
        ]
    );
    assert!(diff.files[0].binary && diff.files[0].hunks.is_empty());
    assert_eq!(diff.files[3].original.as_deref(), Some("move me"));
    let edit = &diff.files[1];
    assert_eq!((edit.added, edit.removed, edit.hunks.len()), (1, 2, 2));
    assert_eq!((edit.hunks[0].old_start, edit.hunks[0].old_lines), (1, 5));
    assert_eq!((edit.hunks[1].new_start, edit.hunks[1].new_lines), (26, 4));
    let new = &diff.files[4].hunks[0];
    assert_eq!((new.old_start, new.old_lines, new.new_start), (0, 0, 1));
    assert!(new.lines[0].no_newline && new.lines[0].kind == DiffLineKind::Added);
    assert!(
        diff.to_string()
            .contains("@@ -0,0 +1 @@\n+no newline\n\\ No newline at end of file\n")
    );
}

#[tokio::test]
async fn c10_forks_hold_uncommitted_work() {
    let workspace = with_main(&[("a", "1")]).await;
    let head = workspace.head("work").create().await.unwrap();
    put(&head, "b", "2").await;
    let fork = head.fork("other").await.unwrap();
    assert_eq!(fork.status().await.unwrap(), head.status().await.unwrap());
    assert_eq!(
        (fork.base(), fork.descriptor().forked_from.as_ref()),
        (head.base(), Some(head.id()))
    );
    put(&fork, "b", "3").await;
    assert_eq!(text(head.file_system().as_ref(), "b").await.unwrap(), "2");
}

#[tokio::test]
async fn checkpoints_restore_exactly() {
    let head = workspace().await.head("work").create().await.unwrap();
    put(&head, "a", "1").await;
    put(&head, "d/b", "1").await;
    let first = head.checkpoint().await.unwrap();
    assert!(first.uncommitted);
    put(&head, "a", "2").await;
    remove(&head, "d").await;
    put(&head, "c", "2").await;
    let receipt = head.restore(&first).await.unwrap();
    assert_eq!(receipt.changed, ["a", "c", "d/b"]);
    assert_eq!(head.checkpoint().await.unwrap().revision, first.revision);
    head.restore(&receipt.before).await.unwrap();
    assert_eq!(text(head.file_system().as_ref(), "c").await.unwrap(), "2");
}

/// Proves C12 in memory: what destroying keeps can be had again.
#[tokio::test]
async fn c12_destroying_keeps_uncommitted_work() {
    let workspace = workspace().await;
    let head = workspace.head("work").create().await.unwrap();
    put(&head, "a", "hours").await;
    let kept = head.destroy().await.unwrap().kept_ref.unwrap();
    let again = workspace
        .head("again")
        .from_revision(&kept)
        .create()
        .await
        .unwrap();
    assert_eq!(
        text(again.file_system().as_ref(), "a").await.unwrap(),
        "hours"
    );
    let clean = workspace.head("clean").create().await.unwrap();
    assert_eq!(clean.destroy().await.unwrap().kept_ref, None);
}

/// Proves C13 in memory
#[tokio::test]
async fn c13_archiving_does_not_revoke_a_handle() {
    let workspace = workspace().await;
    let head = workspace.head("work").create().await.unwrap();
    head.archive().await.unwrap();
    put(&head, "a", "still").await;
    let reopened = workspace.reopen(&head.binding()).await;
    assert!(matches!(reopened, Err(WorkspaceError::HeadArchived { .. })));
    workspace
        .backend()
        .unarchive_head(workspace.id(), head.id())
        .await
        .unwrap();
    let again = workspace.reopen(&head.binding()).await.unwrap();
    assert_eq!(
        text(again.file_system().as_ref(), "a").await.unwrap(),
        "still"
    );
}

#[tokio::test]
async fn merges_join_what_both_sides_changed() {
    let workspace = with_main(&[
        ("f", "1\n2\n3\n4\n5\n6\n"),
        ("gone/x", "x\n"),
        ("keep", "k\n"),
    ])
    .await;
    let one = workspace.head("one").create().await.unwrap();
    let two = workspace.head("two").create().await.unwrap();
    put(&one, "f", "ONE\n2\n3\n4\n5\n6\n").await;
    put(&two, "f", "1\n2\n3\n4\n5\nTWO\n").await;
    put(&two, "new/y", "y\n").await;
    remove(&two, "gone").await;
    assert!(matches!(
        one.merge_into("main").await.unwrap(),
        MergeOutcome::Merged { .. }
    ));
    assert!(matches!(
        two.merge_into("main").await.unwrap(),
        MergeOutcome::Merged { .. }
    ));
    let merged = workspace
        .head("merged")
        .create()
        .await
        .unwrap()
        .file_system();
    assert_eq!(
        text(merged.as_ref(), "f").await.unwrap(),
        "ONE\n2\n3\n4\n5\nTWO\n"
    );
    assert_eq!(
        crate::support::names(merged.as_ref(), ".").await,
        ["f", "keep", "new"]
    );
    // What a head merged once is where its next merge begins.
    put(&one, "f", "ONE AGAIN\n2\n3\n4\n5\n6\n").await;
    assert!(matches!(
        one.merge_into("main").await.unwrap(),
        MergeOutcome::Merged { .. }
    ));
    let merged = workspace
        .head("again")
        .create()
        .await
        .unwrap()
        .file_system();
    assert_eq!(
        text(merged.as_ref(), "f").await.unwrap(),
        "ONE AGAIN\n2\n3\n4\n5\nTWO\n"
    );
}

#[tokio::test]
async fn conflicts_are_told_and_change_nothing() {
    let files = [
        ("both", "1\n"),
        ("edited", "1\n"),
        ("deleted", "1\n"),
        ("bin", "a\0"),
    ];
    let workspace = with_main(&files).await;
    let one = workspace.head("one").create().await.unwrap();
    let two = workspace.head("two").create().await.unwrap();
    for (head, word) in [(&one, "one"), (&two, "two")] {
        put(head, "both", word).await;
        put(head, "added", word).await;
        put(head, "bin", &format!("{word}\0")).await;
    }
    put(&one, "edited", "changed").await;
    remove(&two, "edited").await;
    remove(&one, "deleted").await;
    put(&two, "deleted", "changed").await;
    put(&one, "place/file", "x").await;
    put(&two, "place", "a file where a folder is").await;
    one.merge_into("main").await.unwrap();
    let before = workspace.head("before").create().await.unwrap();
    let outcome = two.merge_into("main").await.unwrap();
    let MergeOutcome::Conflicts(conflicts) = outcome else {
        panic!("the merge gave {outcome:?}")
    };
    let paths: Vec<&str> = conflicts
        .iter()
        .map(|conflict| conflict.path.as_str())
        .collect();
    assert_eq!(
        paths,
        ["added", "bin", "both", "deleted", "edited", "place"]
    );
    let after = workspace.head("after").create().await.unwrap();
    assert_eq!(before.base(), after.base());
}

/// What both sides have of a conflict is told by content and mode.
#[tokio::test]
async fn conflicts_tell_both_sides() {
    use everruns_core::file_system::ContentVersion;
    use everruns_core::workspace::ConflictSide;
    let workspace = with_main(&[("f", "base\n")]).await;
    let one = workspace.head("one").create().await.unwrap();
    let two = workspace.head("two").create().await.unwrap();
    put(&one, "f", "one\n").await;
    put(&two, "f", "two\n").await;
    one.merge_into("main").await.unwrap();
    let outcome = two.merge_into("main").await.unwrap();
    let MergeOutcome::Conflicts(conflicts) = outcome else {
        panic!("the merge gave {outcome:?}")
    };
    let side = |text: &str| {
        Some(ConflictSide {
            revision: ContentVersion::of(text.as_bytes()).to_string(),
            mode: 0o100_644,
        })
    };
    let conflict = &conflicts[0];
    assert_eq!(
        (&conflict.base, &conflict.ours, &conflict.theirs),
        (&side("base\n"), &side("one\n"), &side("two\n"))
    );
}

#[tokio::test]
async fn a_file_in_the_place_of_a_folder_merges() {
    let workspace = with_main(&[("place/a", "1"), ("place/deep/b", "1"), ("c", "1")]).await;
    let head = workspace.head("work").create().await.unwrap();
    remove(&head, "place").await;
    put(&head, "place", "a file now").await;
    remove(&head, "c").await;
    put(&head, "c/d", "a folder now").await;
    let outcome = head.merge_into("main").await.unwrap();
    assert!(
        matches!(outcome, MergeOutcome::Merged { .. }),
        "{outcome:?}"
    );
    let merged = workspace.head("merged").create().await.unwrap();
    let files = merged.file_system();
    assert_eq!(text(files.as_ref(), "place").await.unwrap(), "a file now");
    assert_eq!(text(files.as_ref(), "c/d").await.unwrap(), "a folder now");
    assert!(!merged.status().await.unwrap().dirty);
    assert_eq!(
        head.merge_into("main").await.unwrap(),
        MergeOutcome::UpToDate
    );
}

/// A fork of an earlier state takes nothing back that its source merged since.
#[tokio::test]
async fn a_fork_of_an_earlier_state_merges_only_what_it_has() {
    let workspace = with_main(&[("base", "1")]).await;
    let head = workspace.head("work").create().await.unwrap();
    put(&head, "a", "1").await;
    let early = head.checkpoint().await.unwrap();
    put(&head, "b", "2").await;
    head.merge_into("main").await.unwrap();
    let fork = head.fork_from("fork", &early).await.unwrap();
    assert_eq!(
        fork.merge_into("main").await.unwrap(),
        MergeOutcome::UpToDate
    );
    put(&fork, "c", "3").await;
    fork.merge_into("main").await.unwrap();
    let merged = workspace.head("merged").create().await.unwrap();
    let names = crate::support::names(merged.file_system().as_ref(), ".").await;
    assert_eq!(names, ["a", "b", "base", "c"]);
}

/// Work that only a checkpoint holds is merged by a head that is made from that, whatever the branch has by then.
#[tokio::test]
async fn c12_work_that_destroying_kept_can_be_merged() {
    let workspace = with_main(&[("base", "1")]).await;
    let head = workspace.head("work").create().await.unwrap();
    put(&head, "a", "1").await;
    head.merge_into("main").await.unwrap();
    put(&head, "b", "hours").await;
    let other = workspace.head("other").create().await.unwrap();
    put(&other, "c", "3").await;
    other.merge_into("main").await.unwrap();
    let kept = head.destroy().await.unwrap().kept_ref.unwrap();
    let again = workspace.head("again").from_revision(&kept);
    let again = again.create().await.unwrap();
    let fork = again.fork("fork").await.unwrap();
    for late in [again, fork] {
        late.merge_into("main").await.unwrap();
        let name = format!("after {}", late.name());
        let merged = workspace.head(name).create().await.unwrap();
        let names = crate::support::names(merged.file_system().as_ref(), ".").await;
        assert_eq!(names, ["a", "b", "base", "c"]);
    }
}

/// What was uncommitted in a checkpoint is uncommitted in its fork, whichever head forks it.
#[tokio::test]
async fn a_fork_of_another_heads_state_keeps_what_that_was_made_from() {
    let workspace = with_main(&[("base", "1")]).await;
    let early = workspace.head("early").create().await.unwrap();
    put(&early, "a", "1").await;
    let kept = early.checkpoint().await.unwrap();
    let other = workspace.head("other").create().await.unwrap();
    put(&other, "b", "2").await;
    other.merge_into("main").await.unwrap();
    let late = workspace.head("late").create().await.unwrap();
    let fork = late.fork_from("fork", &kept).await.unwrap();
    assert_eq!(
        fork.status().await.unwrap().entries,
        early.status().await.unwrap().entries
    );
    fork.merge_into("main").await.unwrap();
    let merged = workspace.head("merged").create().await.unwrap();
    let names = crate::support::names(merged.file_system().as_ref(), ".").await;
    assert_eq!(names, ["a", "b", "base"]);
}

#[tokio::test]
async fn fast_forward_refuses_a_branch_with_changes_of_its_own() {
    use everruns_core::workspace::{MergeRequest, MergeStrategy};
    let workspace = with_main(&[("a", "1")]).await;
    let (one, two) = (
        workspace.head("one").create().await.unwrap(),
        workspace.head("two").create().await.unwrap(),
    );
    put(&one, "b", "1").await;
    put(&two, "c", "1").await;
    let request = || MergeRequest {
        branch: "main".to_owned(),
        strategy: MergeStrategy::FastForward,
        ..MergeRequest::default()
    };
    assert!(matches!(
        one.merge(request()).await.unwrap(),
        MergeOutcome::Merged { .. }
    ));
    assert!(matches!(
        two.merge(request()).await,
        Err(WorkspaceError::BranchDiverged { branch }) if branch == "main"
    ));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Two heads that change different lines merge in either order to the same branch.
    #[test]
    fn merges_of_distant_lines_commute(a in 0_usize..8, b in 12_usize..20, words in any::<[u16; 2]>()) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let base: Vec<String> = (0..20).map(|n| format!("line {n}\n")).collect();
            let edited = |at: usize, word: u16| {
                let mut lines = base.clone();
                lines[at] = format!("word {word}\n");
                lines.concat()
            };
            let mut results = Vec::new();
            for order in [[0, 1], [1, 0]] {
                let workspace = with_main(&[("f", &base.concat())]).await;
                let mut heads = Vec::new();
                for (name, at, word) in [("one", a, words[0]), ("two", b, words[1])] {
                    let head = workspace.head(name).create().await.unwrap();
                    put(&head, "f", &edited(at, word)).await;
                    heads.push(head);
                }
                for index in order {
                    heads[index].merge_into("main").await.unwrap();
                }
                let merged = workspace.head("merged").create().await.unwrap();
                results.push(text(merged.file_system().as_ref(), "f").await.unwrap());
            }
            assert_eq!(results[0], results[1]);
            assert!(results[0].contains(&format!("word {}\n", words[0])));
            assert!(results[0].contains(&format!("word {}\n", words[1])));
        });
    }
}
