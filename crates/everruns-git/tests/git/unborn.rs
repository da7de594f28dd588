//! Repositories without commits: heads on a branch that is still to be born.

use everruns_core::workspace::{
    CommitRequest, DiffBase, FileChange, MergeOutcome, MergeRequest, MergeStrategy, UpdateOutcome,
    WorkspaceError,
};

use crate::fixture::{Repository, Scene, git, porcelain, read, told, try_git, write};

/// What kinds of repositories there are without a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Bare,
    Sha256,
}

const KINDS: [Kind; 3] = [Kind::Plain, Kind::Bare, Kind::Sha256];

fn scene(kind: Kind) -> Scene {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("project");
    let repository = match kind {
        Kind::Plain => Repository::empty(&path),
        Kind::Bare | Kind::Sha256 => {
            let option = if kind == Kind::Bare {
                "--bare"
            } else {
                "--object-format=sha256"
            };
            git(
                root.path(),
                &["init", "-q", "-b", "main", option, "project"],
            );
            git(&path, &["config", "user.name", "A User"]);
            git(&path, &["config", "user.email", "user@example.org"]);
            Repository {
                path: std::fs::canonicalize(&path).unwrap(),
            }
        }
    };
    Scene::around(root, repository)
}

/// What Git says of a working tree on a branch without commits; the branch's name apart.
fn everything(folder: &std::path::Path) -> [String; 4] {
    let run = |args: &[&str]| {
        let mut all = vec!["--no-optional-locks"];
        all.extend_from_slice(args);
        String::from_utf8(crate::fixture::git_raw(folder, &all)).unwrap()
    };
    [
        run(&["status", "--porcelain=v2", "-uall"]),
        run(&["diff", "--binary"]),
        run(&["diff", "--cached", "--binary"]),
        run(&["ls-files", "-s"]),
    ]
}

fn request(branch: &str, strategy: MergeStrategy) -> MergeRequest {
    MergeRequest {
        branch: branch.to_owned(),
        strategy,
        ..MergeRequest::default()
    }
}

/// Git finds nothing wrong; that a branch is still to be born is a notice to it, but fails the command.
fn expect_sound(folder: &std::path::Path) {
    let output = try_git(folder, &["fsck", "--strict"]);
    let words = String::from_utf8(output.stderr).unwrap();
    let wrong = words.lines().find(|line| !line.starts_with("notice: "));
    assert_eq!(wrong, None, "{words}");
}

fn is_unborn(folder: &std::path::Path) -> bool {
    !try_git(folder, &["rev-parse", "-q", "--verify", "HEAD"])
        .status
        .success()
}

/// Proves H26 for empty repositories: the whole life of a head, beside the real git.
#[tokio::test]
async fn h26_a_head_of_an_empty_repository_lives_a_whole_life() {
    for kind in KINDS {
        let scene = scene(kind);
        let project = &scene.repository.path;
        let head = scene.head("one").await;
        let folder = scene.folder(&head);
        let branch = head.descriptor().branch.clone().unwrap();
        let listed = git(project, &["worktree", "list", "--porcelain"]);
        assert!(
            listed.contains(&format!("branch refs/heads/{branch}")),
            "{kind:?}: {listed}"
        );
        assert!(is_unborn(&folder));
        assert!(everything(&folder).iter().all(String::is_empty), "{kind:?}");
        assert!(!head.status().await.unwrap().dirty);
        expect_sound(&folder);

        write(&folder.join("staged.txt"), "staged\n");
        git(&folder, &["add", "staged.txt"]);
        write(&folder.join("staged.txt"), "staged, then changed\n");
        write(&folder.join("loose/untracked.txt"), "untracked\n");
        write(&folder.join("announced.txt"), "announced\n");
        git(&folder, &["add", "--intent-to-add", "announced.txt"]);
        let status = head.status().await.unwrap();
        assert_eq!(told(&status), porcelain(&folder), "{kind:?}");
        assert!(status.degraded.is_empty(), "{:?}", status.degraded);

        let before = everything(&folder);
        let first = head.checkpoint_labelled("first").await.unwrap();
        assert_eq!(everything(&folder), before, "{kind:?}");
        assert!(is_unborn(&folder));
        assert_eq!(head.checkpoint().await.unwrap(), first, "kept already");
        assert_eq!(
            head.checkpoints().await.unwrap(),
            std::slice::from_ref(&first)
        );
        assert_eq!(first.changed_paths, Some(3));

        let fork = head.fork("fork").await.unwrap();
        assert_eq!(everything(&scene.folder(&fork)), before, "{kind:?}");
        assert!(is_unborn(&scene.folder(&fork)));

        let diff = head.diff().await.unwrap();
        let told: Vec<_> = diff
            .files
            .iter()
            .map(|file| (file.path.as_str(), file.change, file.added))
            .collect();
        let added = FileChange::Added;
        let expected = [
            ("announced.txt", added, 1),
            ("loose/untracked.txt", added, 1),
            ("staged.txt", added, 1),
        ];
        assert_eq!(told, expected, "{kind:?}");
        let base = head.base().to_owned();
        assert_eq!(git(project, &["cat-file", "-t", &base]), "tree");

        std::fs::remove_file(folder.join("announced.txt")).unwrap();
        write(&folder.join("staged.txt"), "wrong\n");
        head.restore(&first).await.unwrap();
        assert_eq!(everything(&folder), before, "{kind:?}");

        let receipt = head
            .commit(CommitRequest::new("The first one"))
            .await
            .unwrap();
        assert_eq!(git(&folder, &["log", "--format=%H %P %s"]), {
            let id = &receipt.revision;
            format!("{id}  The first one")
        });
        assert_eq!(receipt.branch, branch);
        assert!(porcelain(&folder).is_empty());
        expect_sound(&folder);
        let changes = git(project, &["diff", "--name-only", &base, &branch]);
        assert_eq!(
            changes.lines().collect::<Vec<_>>(),
            ["announced.txt", "loose/untracked.txt", "staged.txt"]
        );

        // Back to before the first commit, and forward again.
        let plan = head.plan_restore(&first).await.unwrap();
        assert!(plan.branch_to.unwrap().bytes().all(|byte| byte == b'0'));
        let restored = head.restore(&first).await.unwrap();
        assert!(is_unborn(&folder));
        assert_eq!(everything(&folder), before, "{kind:?}");
        assert_eq!(restored.before.revision, receipt.revision);
        head.restore(&restored.before).await.unwrap();
        assert_eq!(git(&folder, &["rev-parse", "HEAD"]), receipt.revision);
        assert!(porcelain(&folder).is_empty());

        head.archive().await.unwrap();
        let workspace = scene.workspace().await;
        assert!(workspace.reopen(&head.binding()).await.is_err());
        let destroyed = head.destroy().await.unwrap();
        assert_eq!(destroyed.kept_branch.as_deref(), Some(branch.as_str()));
        let destroyed = fork.destroy().await.unwrap();
        assert_eq!(destroyed.kept_branch, None, "it never had a commit");
        let kept = destroyed.kept_ref.unwrap();
        let work = git(project, &["show", &format!("{kept}:loose/untracked.txt")]);
        assert_eq!(work, "untracked");
        let staged = git(project, &["show", &format!("{kept}^2:staged.txt")]);
        assert_eq!(staged, "staged");
        assert_eq!(git(project, &["worktree", "list"]).lines().count(), 1);
        expect_sound(project);
    }
}

/// A head with nothing in it leaves nothing, and more heads can be made of a repository that stays empty.
#[tokio::test]
async fn h26_heads_of_an_empty_repository_do_not_get_into_each_others_way() {
    for kind in KINDS {
        let scene = scene(kind);
        let (one, two) = (scene.head("one").await, scene.head("two").await);
        write(&scene.folder(&one).join("a.txt"), "a\n");
        one.commit(CommitRequest::new("a")).await.unwrap();
        let three = scene.head("three").await;
        assert!(is_unborn(&scene.folder(&three)), "{kind:?}");
        let receipt = two.destroy().await.unwrap();
        assert_eq!((receipt.kept_branch, receipt.kept_ref), (None, None));
        let clean = three.checkpoint().await.unwrap();
        assert!(!clean.uncommitted);
        write(&scene.folder(&three).join("b.txt"), "b\n");
        three.restore(&clean).await.unwrap();
        assert!(!scene.folder(&three).join("b.txt").exists());
        let diff = three.diff_since(&clean).await.unwrap();
        assert!(!diff.changed);
        let fork = one.fork("fork of one").await.unwrap();
        assert_eq!(read(&scene.folder(&fork).join("a.txt")), "a\n");
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
}

/// A revision names nothing in an empty repository, and says so.
#[tokio::test]
async fn h26_an_empty_repository_has_no_revisions() {
    for kind in KINDS {
        let scene = scene(kind);
        let workspace = scene.workspace().await;
        for revision in ["HEAD", "main", "v1"] {
            let failure = workspace
                .head("x")
                .from_revision(revision)
                .create()
                .await
                .unwrap_err();
            assert!(
                matches!(failure, WorkspaceError::EmptyRepository { .. }),
                "{revision}: {failure}"
            );
        }
        let head = workspace.head("x").create().await.unwrap();
        let failure = head
            .diff_between(DiffBase::HeadBase, DiffBase::Revision("HEAD".to_owned()))
            .await
            .unwrap_err();
        assert!(
            matches!(failure, WorkspaceError::EmptyRepository { .. }),
            "{failure}"
        );
    }
}

/// Where a tag alone leads to commits, a head is never made of nothing; nor where it can't be told what there is.
#[tokio::test]
async fn h26_an_unborn_head_beside_a_tag_is_told() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    git(project, &["tag", "v1"]);
    git(project, &["checkout", "-q", "--orphan", "fresh"]);
    git(project, &["branch", "-q", "-D", "main"]);
    let workspace = scene.workspace().await;
    let failure = workspace.head("x").create().await.unwrap_err();
    assert!(
        matches!(failure, WorkspaceError::UnknownRevision { .. }),
        "{failure:?}"
    );
    let head = workspace.head("y").from_revision("v1").create().await;
    assert!(porcelain(&scene.folder(&head.unwrap())).is_empty());

    let scene = self::scene(Kind::Plain);
    let workspace = scene.workspace().await;
    workspace.head("x").create().await.unwrap();
    write(
        &scene.repository.path.join(".git/refs/heads/broken"),
        "nonsense\n",
    );
    let failure = workspace.head("y").create().await.unwrap_err();
    assert!(
        matches!(
            failure,
            WorkspaceError::Provider { .. } | WorkspaceError::Backend { .. }
        ),
        "{failure:?}"
    );
    assert_eq!(workspace.heads().await.unwrap().len(), 1);
}

/// Where only `HEAD` is without a commit, a head is never made of nothing.
#[tokio::test]
async fn h26_an_unborn_head_beside_other_branches_is_told() {
    let scene = Scene::new();
    git(
        &scene.repository.path,
        &["checkout", "-q", "--orphan", "fresh"],
    );
    let workspace = scene.workspace().await;
    let failure = workspace.head("x").create().await.unwrap_err();
    assert!(
        matches!(failure, WorkspaceError::UnknownRevision { .. }),
        "{failure}"
    );
    assert!(workspace.heads().await.unwrap().is_empty());
    let head = workspace
        .head("x")
        .from_revision("main")
        .create()
        .await
        .unwrap();
    // The user may do the same in a head.
    let folder = scene.folder(&head);
    git(&folder, &["checkout", "-q", "--orphan", "elsewhere"]);
    let status = head.status().await.unwrap();
    assert_eq!(told(&status), porcelain(&folder));
    assert_eq!(status.degraded[0].kind, "branch-switched");
    let checkpoint = head.checkpoint().await.unwrap();
    assert!(checkpoint.uncommitted);
    let failure = head.commit(CommitRequest::new("x")).await.unwrap_err();
    assert!(
        matches!(failure, WorkspaceError::HeadUnavailable { .. }),
        "{failure}"
    );
    let receipt = head.destroy().await.unwrap();
    assert!(receipt.kept_ref.is_some(), "what is staged is in no commit");
}

/// The first work of a head becomes the first commit of the branch that the repository is waiting for.
#[tokio::test]
async fn the_first_merge_makes_the_branch() {
    for kind in KINDS {
        for strategy in [
            MergeStrategy::MergeCommit,
            MergeStrategy::Squash,
            MergeStrategy::FastForward,
        ] {
            let scene = scene(kind);
            let project = &scene.repository.path;
            let head = scene.head("one").await;
            let merge = async |branch: &str| head.merge(request(branch, strategy)).await;
            let failure = merge("main").await.unwrap_err();
            assert!(
                matches!(failure, WorkspaceError::NothingToMerge { .. }),
                "{failure}"
            );
            write(&scene.folder(&head).join("src/a.txt"), "a\n");
            let failure = merge("mian").await.unwrap_err();
            assert!(
                matches!(failure, WorkspaceError::UnknownRevision { .. }),
                "{failure}"
            );
            if kind == Kind::Plain {
                write(&project.join("src/a.txt"), "the user's own\n");
                let failure = merge("main").await.unwrap_err();
                assert!(
                    matches!(&failure, WorkspaceError::BranchInUse { files, .. } if files == &["src/a.txt"]),
                    "{failure}"
                );
                assert_eq!(read(&project.join("src/a.txt")), "the user's own\n");
                std::fs::remove_file(project.join("src/a.txt")).unwrap();
            }
            let outcome = merge("main").await.unwrap();
            let MergeOutcome::Merged { revision } = outcome else {
                panic!("{outcome:?}");
            };
            assert_eq!(git(project, &["rev-parse", "main"]), revision, "{kind:?}");
            assert_eq!(git(project, &["log", "--format=%P", "main"]), "");
            assert_eq!(git(project, &["show", "main:src/a.txt"]), "a");
            if kind != Kind::Bare {
                assert!(porcelain(project).is_empty());
                assert_eq!(read(&project.join("src/a.txt")), "a\n");
            }
            expect_sound(project);
        }
    }
}

/// A head without commits takes a branch that came to be in the meantime as it is, and keeps what is in its way.
#[tokio::test]
async fn an_update_of_a_head_without_commits_goes_forward() {
    let scene = scene(Kind::Plain);
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let failure = head.update_from("main").await.unwrap_err();
    assert!(
        matches!(failure, WorkspaceError::UnknownRevision { .. }),
        "{failure}"
    );
    write(&scene.repository.path.join("a.txt"), "theirs\n");
    let tip = scene.repository.commit_all("first");
    write(&folder.join("a.txt"), "mine\n");
    write(&folder.join("b.txt"), "mine\n");
    let failure = head.update_from("main").await.unwrap_err();
    assert!(
        matches!(&failure, WorkspaceError::LocalChanges { files, .. } if files == &["a.txt"]),
        "{failure}"
    );
    std::fs::remove_file(folder.join("a.txt")).unwrap();
    let outcome = head.update_from("main").await.unwrap();
    assert_eq!(
        outcome,
        UpdateOutcome::FastForwarded {
            revision: tip.clone()
        }
    );
    assert_eq!(git(&folder, &["rev-parse", "HEAD"]), tip);
    assert_eq!(porcelain(&folder), ["?? b.txt"]);
    assert_eq!(read(&folder.join("a.txt")), "theirs\n");
}

/// Histories that share nothing are not merged by guessing.
#[tokio::test]
async fn unrelated_histories_are_told() {
    let scene = scene(Kind::Plain);
    let project = &scene.repository.path;
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    write(&folder.join("a.txt"), "mine\n");
    let unborn = scene.head("two").await;
    write(&scene.folder(&unborn).join("c.txt"), "uncommitted\n");
    head.commit(CommitRequest::new("mine")).await.unwrap();
    write(&project.join("b.txt"), "theirs\n");
    let tip = scene.repository.commit_all("theirs");
    for strategy in [MergeStrategy::MergeCommit, MergeStrategy::Squash] {
        for head in [&head, &unborn] {
            let failure = head.merge(request("main", strategy)).await.unwrap_err();
            assert!(
                matches!(&failure, WorkspaceError::UnrelatedHistories { branch } if branch == "main"),
                "{failure}"
            );
            assert!(failure.to_string().contains("--allow-unrelated-histories"));
        }
    }
    let failure = head.update_from("main").await.unwrap_err();
    assert!(
        matches!(failure, WorkspaceError::UnrelatedHistories { .. }),
        "{failure}"
    );
    assert_eq!(git(project, &["rev-parse", "main"]), tip);
    assert!(porcelain(&folder).is_empty());
    // What the error proposes works.
    git(
        &folder,
        &[
            "merge",
            "-q",
            "--no-edit",
            "--allow-unrelated-histories",
            "main",
        ],
    );
    head.merge_into("main").await.unwrap();
    assert_eq!(read(&project.join("a.txt")), "mine\n");
}
