//! Commits of heads in memory, and branches brought into them, beyond what the conformance suite checks.

use std::sync::Arc;

use everruns_core::file_system::{Precondition, Removal, SessionFileSystemExt as _};
use everruns_core::workspace::{
    CommitIdentity, CommitRequest, EntryState, MergeOutcome, MergeRequest, MergeStrategy,
    UpdateOutcome, UpdateRequest, Workspace, WorkspaceBackend, WorkspaceError, WorkspaceHead,
};
use everruns_fs::{MemoryOptions, MemoryWorkspaceBackend};

use crate::support::{names, path, text};

pub(crate) async fn workspace() -> (MemoryWorkspaceBackend, Workspace) {
    let backend = MemoryWorkspaceBackend::new();
    let shared: Arc<dyn WorkspaceBackend> = Arc::new(backend.clone());
    let workspace = Workspace::open(shared, "project").await.unwrap();
    (backend, workspace)
}

pub(crate) async fn head(workspace: &Workspace, name: &str) -> WorkspaceHead {
    workspace.head(name).create().await.unwrap()
}

pub(crate) async fn put(head: &WorkspaceHead, at: &str, content: &str) {
    let files = head.file_system();
    files.write_all(at, content.to_owned()).await.unwrap();
}

pub(crate) async fn remove(head: &WorkspaceHead, at: &str) {
    let files = head.file_system();
    files
        .remove(&path(at), Removal::Recursive, Precondition::Any)
        .await
        .unwrap();
}

pub(crate) async fn get(head: &WorkspaceHead, at: &str) -> String {
    text(head.file_system().as_ref(), at).await.unwrap()
}

async fn commit(head: &WorkspaceHead, message: &str) -> String {
    let receipt = head.commit(CommitRequest::new(message)).await.unwrap();
    receipt.revision
}

async fn merge(head: &WorkspaceHead, branch: &str) {
    let outcome = head.merge_into(branch).await.unwrap();
    assert!(
        matches!(outcome, MergeOutcome::Merged { .. }),
        "{outcome:?}"
    );
}

pub(crate) async fn dirty(head: &WorkspaceHead) -> Vec<String> {
    let entries = head.status().await.unwrap().entries.into_iter();
    entries.map(|entry| entry.path).collect()
}

pub(crate) async fn commit_if_any(head: &WorkspaceHead) {
    match head.commit(CommitRequest::new("step")).await {
        Ok(_) | Err(WorkspaceError::NothingToCommit { .. }) => {}
        Err(error) => panic!("{error:?}"),
    }
}

pub(crate) fn own(head: &WorkspaceHead) -> String {
    head.descriptor().branch.clone().unwrap()
}

#[tokio::test]
async fn the_log_tells_what_was_said_and_by_whom() {
    let (backend, workspace) = workspace().await;
    let head = head(&workspace, "My work").await;
    assert!(own(&head).starts_with("everruns/my-work-"));
    let log = |branch: String| backend.log(workspace.id(), &branch, 10).unwrap();
    assert!(log(own(&head)).is_empty());
    put(&head, "a", "1").await;
    let author = CommitIdentity::new("A User", "user@example.org");
    let request = CommitRequest {
        author: Some(author.clone()),
        ..CommitRequest::new("\nFirst  \n\n\nbody")
    };
    let first = head.commit(request).await.unwrap().revision;
    put(&head, "a", "2").await;
    let second = commit(&head, "Second").await;
    let told = log(own(&head));
    assert_eq!(told.len(), 2);
    assert_eq!((&told[0].revision, &told[0].author), (&second, &None));
    assert_eq!(
        (&told[1].revision, &told[1].author),
        (&first, &Some(author))
    );
    assert_eq!(told[1].message, "First\n\nbody\n");
    merge(&head, "main").await;
    let main = log("main".to_owned());
    assert_eq!(main[0].message, "Merge the head My work into main\n");
    assert_eq!(main[1..], told);
    assert_eq!(backend.log(workspace.id(), "main", 1).unwrap(), main[..1]);
    let unknown = backend.log(workspace.id(), "other", 1);
    assert!(matches!(
        unknown,
        Err(WorkspaceError::UnknownRevision { .. })
    ));
}

/// A fork, and a head that is made from a commit, are where the head was.
#[tokio::test]
async fn commits_that_no_branch_of_others_has_are_begun_with() {
    let (_, workspace) = workspace().await;
    let one = head(&workspace, "one").await;
    put(&one, "a", "1").await;
    let first = commit(&one, "first").await;
    put(&one, "b", "1").await;
    commit(&one, "second").await;
    let builder = workspace.head("from commit").from_revision(&first);
    let early = builder.create().await.unwrap();
    assert!(dirty(&early).await.is_empty());
    let outcome = early.update_from(own(&one)).await.unwrap();
    assert!(matches!(outcome, UpdateOutcome::FastForwarded { .. }));
    assert_eq!(names(early.file_system().as_ref(), ".").await, ["a", "b"]);
    merge(&early, "main").await;
    assert_eq!(
        one.merge_into("main").await.unwrap(),
        MergeOutcome::UpToDate
    );
    assert_eq!(
        one.update_from("main").await.map(|_| ()).unwrap(),
        (),
        "an update from what has it all"
    );
    assert_eq!(names(one.file_system().as_ref(), ".").await, ["a", "b"]);
}

#[tokio::test]
async fn a_branch_of_a_head_takes_its_files_along_unless_they_are_changed() {
    let (_, workspace) = workspace().await;
    let (one, two) = (head(&workspace, "one").await, head(&workspace, "two").await);
    put(&two, "a", "two").await;
    let mine = two.merge_into(own(&two)).await;
    assert!(matches!(mine, Err(WorkspaceError::BranchInUse { branch, .. }) if branch == own(&two)));
    merge(&two, &own(&one)).await;
    assert_eq!(get(&one, "a").await, "two");
    assert!(dirty(&one).await.is_empty());
    put(&one, "b", "one").await;
    put(&two, "c", "two").await;
    let refused = two.merge_into(own(&one)).await;
    assert!(
        matches!(&refused, Err(WorkspaceError::BranchInUse { files, .. }) if files == &["b"]),
        "{refused:?}"
    );
    assert_eq!(names(one.file_system().as_ref(), ".").await, ["a", "b"]);
    let branch = own(&one);
    commit(&one, "b").await;
    one.destroy().await.unwrap();
    // Nobody has files of it any more.
    merge(&two, &branch).await;
    let builder = workspace.head("after").from_revision(&branch);
    let after = builder.create().await.unwrap();
    assert_eq!(
        names(after.file_system().as_ref(), ".").await,
        ["a", "b", "c"]
    );
}

#[tokio::test]
async fn a_plan_tells_where_the_branch_goes() {
    let (_, workspace) = workspace().await;
    let head = head(&workspace, "work").await;
    put(&head, "a", "1").await;
    let first = commit(&head, "first").await;
    let then = head.checkpoint().await.unwrap();
    assert_eq!((then.number, then.uncommitted), (0, false));
    assert_eq!(head.plan_restore(&then).await.unwrap().branch_to, None);
    put(&head, "a", "2").await;
    let loose = head.checkpoint().await.unwrap();
    assert!(loose.uncommitted);
    commit(&head, "second").await;
    let same = head.checkpoint().await.unwrap();
    assert_eq!((&same.revision, same.uncommitted), (&loose.revision, false));
    let plan = head.plan_restore(&loose).await.unwrap();
    assert_eq!((plan.steps.len(), plan.branch_to), (0, Some(first.clone())));
    head.restore(&loose).await.unwrap();
    assert_eq!(dirty(&head).await, ["a"]);
    let receipt = head.restore(&then).await.unwrap();
    assert_eq!(receipt.changed, ["a"]);
    assert!(dirty(&head).await.is_empty());
    assert_eq!(head.checkpoint().await.unwrap().revision, first);
}

/// Proves C12 in memory: what is committed is on the branch that destroying keeps, and what is not is kept beside it.
#[tokio::test]
async fn c12_destroying_keeps_what_is_not_committed() {
    let (_, workspace) = workspace().await;
    let head = head(&workspace, "work").await;
    put(&head, "a", "1").await;
    let taken = head.checkpoint().await.unwrap();
    commit(&head, "a").await;
    put(&head, "b", "1").await;
    let receipt = head.destroy().await.unwrap();
    assert_eq!(receipt.kept_branch, Some(own(&head)));
    let kept = receipt.checkpoint.unwrap();
    assert!(kept.uncommitted && kept.revision != taken.revision);
    let other = workspace.head("other").create().await.unwrap();
    let again = other.fork_from("again", &kept).await.unwrap();
    assert_eq!(dirty(&again).await, ["b"]);
    let earlier = other.fork_from("earlier", &taken).await.unwrap();
    assert_eq!(dirty(&earlier).await, ["a"]);
}

#[tokio::test]
async fn a_selection_takes_along_what_gives_way() {
    let (_, workspace) = workspace().await;
    let head = head(&workspace, "work").await;
    put(&head, "becomes folder", "1").await;
    put(&head, "becomes file/deep/a", "1").await;
    put(&head, "other", "1").await;
    commit(&head, "before").await;
    remove(&head, "becomes folder").await;
    put(&head, "becomes folder/a", "2").await;
    put(&head, "becomes folder/b", "2").await;
    remove(&head, "becomes file").await;
    put(&head, "becomes file", "2").await;
    put(&head, "other", "2").await;
    let of = |paths: &[&str]| CommitRequest {
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        ..CommitRequest::new("some")
    };
    let receipt = head.commit(of(&["becomes folder/a"])).await.unwrap();
    assert_eq!(receipt.changed, ["becomes folder", "becomes folder/a"]);
    let receipt = head.commit(of(&["becomes file"])).await.unwrap();
    assert_eq!(receipt.changed, ["becomes file", "becomes file/deep/a"]);
    assert_eq!(dirty(&head).await, ["becomes folder/b", "other"]);
    let builder = workspace.head("same").from_revision(receipt.revision);
    let same = builder.create().await.unwrap();
    assert_eq!(get(&same, "becomes file").await, "2");
    assert_eq!(
        names(same.file_system().as_ref(), "becomes folder").await,
        ["a"]
    );
    assert_eq!(get(&same, "other").await, "1");
    for hostile in ["../x", "a\0b", ".git/config", "missing"] {
        let refused = head.commit(of(&["other", hostile])).await;
        assert!(
            matches!(&refused, Err(WorkspaceError::UnknownPaths { paths, .. }) if paths == &[hostile]),
            "{refused:?}"
        );
    }
    assert_eq!(dirty(&head).await, ["becomes folder/b", "other"]);
}

/// All kinds of conflicts of an update: what is left in the files, and what is told.
#[tokio::test]
async fn conflicts_of_every_kind_are_left_in_the_files() {
    let (_, workspace) = workspace().await;
    let first = head(&workspace, "first").await;
    for at in ["both", "edited", "deleted", "same", "clean"] {
        put(&first, at, "1").await;
    }
    put(&first, "bin", "1\0").await;
    merge(&first, "main").await;
    let (mine, theirs) = (
        head(&workspace, "mine").await,
        head(&workspace, "theirs").await,
    );
    for (head, word) in [(&mine, "mine"), (&theirs, "theirs")] {
        put(head, "both", word).await;
        put(head, "added", word).await;
        put(head, "bin", &format!("{word}\0")).await;
        put(head, "same", "same").await;
    }
    put(&mine, "edited", "changed").await;
    remove(&theirs, "edited").await;
    remove(&mine, "deleted").await;
    put(&theirs, "deleted", "changed").await;
    put(&mine, "place/file", "x").await;
    put(&theirs, "place", "a file where a folder is").await;
    put(&theirs, "clean", "theirs").await;
    commit(&mine, "mine").await;
    merge(&theirs, "main").await;
    put(&mine, "loose", "uncommitted").await;
    let before = mine.checkpoint().await.unwrap();

    let outcome = mine.update_from("main").await.unwrap();
    let UpdateOutcome::Conflicts(conflicts) = outcome else {
        panic!("the update gave {outcome:?}")
    };
    let paths: Vec<&str> = conflicts.iter().map(|told| told.path.as_str()).collect();
    assert_eq!(
        paths,
        ["added", "bin", "both", "deleted", "edited", "place"]
    );
    assert_eq!(
        get(&mine, "both").await,
        "<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> main\n"
    );
    assert_eq!(
        get(&mine, "added").await,
        "<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> main\n"
    );
    assert_eq!(get(&mine, "bin").await, "mine\0");
    assert_eq!(get(&mine, "deleted").await, "changed");
    assert_eq!(get(&mine, "edited").await, "changed");
    assert_eq!(get(&mine, "place/file").await, "x");
    assert_eq!(get(&mine, "clean").await, "theirs");
    assert_eq!(get(&mine, "loose").await, "uncommitted");
    let status = mine.status().await.unwrap();
    let letters = |at: &str| {
        let entry = status.entries.iter().find(|entry| entry.path == at);
        entry.map(|entry| (entry.staged, entry.unstaged)).unwrap()
    };
    assert_eq!(letters("added"), (EntryState::Added, EntryState::Added));
    assert_eq!(
        letters("both"),
        (EntryState::Unmerged, EntryState::Unmerged)
    );
    assert_eq!(
        letters("deleted"),
        (EntryState::Deleted, EntryState::Unmerged)
    );
    assert_eq!(
        letters("edited"),
        (EntryState::Unmerged, EntryState::Deleted)
    );
    assert_eq!(
        letters("loose"),
        (EntryState::Unmodified, EntryState::Untracked)
    );

    // A fork goes on with the merge, and is on its own.
    let fork = mine.fork("fork").await.unwrap();
    assert!(fork.status().await.unwrap().conflicted);
    let whole = CommitRequest {
        resolve_conflicts: true,
        ..CommitRequest::default()
    };
    let some = CommitRequest {
        paths: vec!["clean".to_owned()],
        ..whole.clone()
    };
    assert!(matches!(
        mine.commit(some).await,
        Err(WorkspaceError::OperationInProgress { .. })
    ));
    fork.commit(whole).await.unwrap();
    assert!(!fork.status().await.unwrap().conflicted);
    merge(&fork, "main").await;
    assert!(mine.status().await.unwrap().conflicted);
    let during = mine.destroy().await.unwrap().checkpoint.unwrap();
    let again = first.fork_from("again", &during).await.unwrap();
    assert!(again.status().await.unwrap().conflicted);
    again.restore(&before).await.unwrap();
    assert_eq!(dirty(&again).await, ["loose"]);
}

/// What the branch has of the head's own work is in nobody's way, whether it was committed or not.
#[tokio::test]
async fn merged_work_is_no_local_change() {
    let (_, workspace) = workspace().await;
    let (one, two) = (head(&workspace, "one").await, head(&workspace, "two").await);
    put(&one, "a", "1").await;
    put(&one, "b", "1").await;
    merge(&one, "main").await;
    let outcome = two.update_from("main").await.unwrap();
    assert!(matches!(outcome, UpdateOutcome::FastForwarded { .. }));
    put(&two, "a", "2").await;
    merge(&two, "main").await;
    let outcome = one.update_from("main").await.unwrap();
    assert!(matches!(outcome, UpdateOutcome::FastForwarded { .. }));
    assert_eq!(get(&one, "a").await, "2");
    assert!(dirty(&one).await.is_empty());
    // What was changed since is one.
    put(&two, "a", "3").await;
    put(&two, "b", "3").await;
    merge(&two, "main").await;
    remove(&one, "a").await;
    put(&one, "b", "mine").await;
    let refused = one.update_from("main").await;
    assert!(
        matches!(&refused, Err(WorkspaceError::LocalChanges { files, .. }) if files == &["b"]),
        "{refused:?}"
    );
    assert_eq!(dirty(&one).await, ["a", "b"]);
}

#[tokio::test]
async fn an_update_stays_below_the_bound_of_all_files() {
    let options = MemoryOptions {
        max_total_bytes: 1_000,
        ..MemoryOptions::default()
    };
    let entropy = Arc::new(everruns_core::entropy::SystemEntropy);
    let backend: Arc<dyn WorkspaceBackend> =
        Arc::new(MemoryWorkspaceBackend::with_options(options, entropy));
    let workspace = Workspace::open(backend, "project").await.unwrap();
    let (one, two) = (head(&workspace, "one").await, head(&workspace, "two").await);
    put(&one, "a", &"a".repeat(600)).await;
    merge(&one, "main").await;
    put(&two, "b", &"b".repeat(600)).await;
    assert!(matches!(
        two.update_from("main").await,
        Err(WorkspaceError::NoSpace { .. })
    ));
    assert_eq!(names(two.file_system().as_ref(), ".").await, ["b"]);
    remove(&two, "b").await;
    two.update_from("main").await.unwrap();
    assert_eq!(names(two.file_system().as_ref(), ".").await, ["a"]);
}

#[tokio::test]
async fn what_is_said_is_checked_in_merges_and_updates_too() {
    let (backend, workspace) = workspace().await;
    let (one, two) = (head(&workspace, "one").await, head(&workspace, "two").await);
    put(&one, "a", "1").await;
    commit(&one, "a").await;
    put(&two, "b", "1").await;
    let said = |message: &str| MergeRequest {
        branch: "main".to_owned(),
        message: Some(message.to_owned()),
        ..MergeRequest::default()
    };
    assert!(matches!(
        two.merge(said(" \n")).await,
        Err(WorkspaceError::InvalidMessage { .. })
    ));
    two.merge(said("Bring b")).await.unwrap();
    let update = |message: &str| UpdateRequest {
        branch: "main".to_owned(),
        message: Some(message.to_owned()),
        author: None,
    };
    assert!(matches!(
        one.update(update("\0")).await,
        Err(WorkspaceError::InvalidMessage { .. })
    ));
    assert!(dirty(&one).await.is_empty());
    one.update(update("Take b")).await.unwrap();
    let log = backend.log(workspace.id(), &own(&one), 10).unwrap();
    let messages: Vec<&str> = log.iter().map(|commit| commit.message.as_str()).collect();
    assert_eq!(messages[..2], ["Take b\n", "Bring b\n"]);
    let forward = |message: &str| MergeRequest {
        branch: "main".to_owned(),
        strategy: MergeStrategy::FastForward,
        message: Some(message.to_owned()),
        author: None,
    };
    one.merge(forward("Forward")).await.unwrap();
    put(&one, "c", "1").await;
    one.merge(forward("Again")).await.unwrap();
    // Somebody else brings the same: nothing is told of that.
    put(&two, "c", "1").await;
    let same = two.merge(said("Not at all")).await.unwrap();
    assert_eq!(same, MergeOutcome::UpToDate);
    let told = backend.log(workspace.id(), "main", 10).unwrap();
    let said: Vec<&str> = told.iter().map(|commit| commit.message.as_str()).collect();
    assert_eq!(said.first(), Some(&"Again\n"));
    assert!(!said.contains(&"Not at all\n") && said.contains(&"Forward\n"));
}

/// Commits, merges, updates and writes of one shared head at once: nothing that was written is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn operations_at_once_lose_nothing() {
    let (_, workspace) = workspace().await;
    let builder = workspace.head("ours").shared();
    let ours = builder.create().await.unwrap();
    let theirs = head(&workspace, "theirs").await;
    let write = async |head: WorkspaceHead, folder: &'static str| {
        for number in 0..60 {
            put(&head, &format!("{folder}/{number}"), folder).await;
            tokio::task::yield_now().await;
        }
    };
    let work = async |head: WorkspaceHead| {
        for _ in 0..30 {
            commit_if_any(&head).await;
            let outcome = head.merge_into("main").await.unwrap();
            assert!(
                !matches!(outcome, MergeOutcome::Conflicts(_)),
                "{outcome:?}"
            );
            match head.update_from("main").await {
                Ok(UpdateOutcome::Conflicts(conflicts)) => panic!("{conflicts:?}"),
                Ok(_) | Err(WorkspaceError::LocalChanges { .. }) => {}
                Err(error) => panic!("{error:?}"),
            }
        }
    };
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(write(ours.clone(), "one"));
    tasks.spawn(write(ours.clone(), "two"));
    tasks.spawn(write(theirs.clone(), "three"));
    for head in [&ours, &ours, &theirs, &theirs] {
        tasks.spawn(work(head.clone()));
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    for head in [&ours, &theirs, &ours] {
        commit_if_any(head).await;
        head.merge_into("main").await.unwrap();
        head.update_from("main").await.unwrap();
    }
    for head in [&ours, &theirs] {
        assert!(dirty(head).await.is_empty());
        for folder in ["one", "two", "three"] {
            let files = names(head.file_system().as_ref(), folder).await;
            assert_eq!(files.len(), 60, "{folder} in {}", head.name());
        }
    }
}
