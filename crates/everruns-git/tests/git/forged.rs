//! Worktrees, and records of them, that were forged.

use std::path::Path;

use everruns_core::path::WorkspacePath;
use everruns_core::workspace::{CommitRequest, DiffRequest, WorkspaceError};

use crate::fixture::{Repository, Scene, git};

/// What a forger does to a head's folder, its record, and with a victim's repository.
type Forgery = fn(&Path, &Path, &Path);

/// Proves H24: each use checks the worktree and its record against what was written.
#[tokio::test]
async fn h24_a_forged_worktree_is_refused() {
    let scene = Scene::new();
    let victim = Repository::small(&scene.root.path().join("victim"));
    let forgeries: [(&str, Forgery); 9] = [
        (
            "the .git file names another repository",
            |folder, _, victim| {
                std::fs::write(
                    folder.join(".git"),
                    format!("gitdir: {}/.git\n", victim.display()),
                )
                .unwrap();
            },
        ),
        (".git is a repository", |folder, _, _| {
            std::fs::remove_file(folder.join(".git")).unwrap();
            git(folder, &["init", "-q"]);
        }),
        (".git is a link", |folder, _, victim| {
            std::fs::remove_file(folder.join(".git")).unwrap();
            std::os::unix::fs::symlink(victim.join(".git"), folder.join(".git")).unwrap();
        }),
        (
            ".git is gone, so that a parent would be found",
            |folder, _, _| {
                std::fs::remove_file(folder.join(".git")).unwrap();
            },
        ),
        ("commondir names another repository", |_, record, victim| {
            std::fs::write(
                record.join("commondir"),
                format!("{}/.git\n", victim.display()),
            )
            .unwrap();
        }),
        ("gitdir names another folder", |_, record, victim| {
            std::fs::write(
                record.join("gitdir"),
                format!("{}/.git\n", victim.display()),
            )
            .unwrap();
        }),
        ("the record is gone", |_, record, _| {
            std::fs::remove_dir_all(record).unwrap();
        }),
        ("the folder is gone", |folder, _, _| {
            std::fs::remove_dir_all(folder).unwrap();
        }),
        ("the folder is a link", |folder, _, victim| {
            std::fs::remove_dir_all(folder).unwrap();
            std::os::unix::fs::symlink(victim, folder).unwrap();
        }),
    ];
    for (number, (what, forge)) in forgeries.into_iter().enumerate() {
        let head = scene.head(&format!("head {number}")).await;
        let folder = scene.folder(&head);
        let record = scene
            .repository
            .path
            .join(".git/worktrees")
            .join(head.id().as_str());
        let checkpoint = head.checkpoint().await.unwrap();
        let before = crate::fixture::snapshot(&victim.path);
        forge(&folder, &record, &victim.path);
        let refused = |outcome: Result<(), WorkspaceError>| {
            let failure = outcome.unwrap_err();
            assert!(
                matches!(failure, WorkspaceError::HeadUnavailable { .. }),
                "{what}: {failure:?}"
            );
        };
        refused(head.status().await.map(drop));
        refused(head.checkpoint().await.map(drop));
        refused(head.diff().await.map(drop));
        refused(head.restore(&checkpoint).await.map(drop));
        refused(head.fork("fork").await.map(drop));
        refused(head.merge_into("other").await.map(drop));
        refused(head.update_from("main").await.map(drop));
        refused(head.commit(CommitRequest::new("work")).await.map(drop));
        refused(head.patch(DiffRequest::default()).await.map(drop));
        refused(head.plan_restore(&checkpoint).await.map(drop));
        refused(head.diff_since(&checkpoint).await.map(drop));
        let path = WorkspacePath::parse("README.md").unwrap();
        refused(head.checkpoint_paths(None, &[path]).await.map(drop));
        refused(
            scene
                .workspace()
                .await
                .reopen(&head.binding())
                .await
                .map(drop),
        );
        if what == "the folder is gone" {
            head.destroy().await.unwrap();
        } else {
            refused(head.destroy().await.map(drop));
        }
        assert_eq!(crate::fixture::snapshot(&victim.path), before, "{what}");
    }
}
