//! A disk that is full while work is brought home: it is at home, or it is as if nothing had been asked for.

use everruns_core::workspace::{
    CommitRequest, MergeOutcome, UpdateOutcome, WorkspaceError, WorkspaceHead,
};
use everruns_testkit::disks::SmallDisk;

use crate::fixture::{Scene, git, porcelain, read, write};
use crate::full_disk::{LEFT, nothing_is_left_over, scene};

fn expect_no_space<T: std::fmt::Debug>(outcome: &Result<T, WorkspaceError>, what: &str) {
    if let Err(failure) = outcome {
        assert!(
            matches!(failure, WorkspaceError::NoSpace { .. }),
            "{what}: {failure:?}"
        );
    }
}

/// The head's files hold its work, whatever has become of it elsewhere.
fn expect_work(scene: &Scene, head: &WorkspaceHead, what: &str) {
    let folder = scene.folder(head);
    assert_eq!(read(&folder.join("work.txt")).len(), 100_000, "{what}");
    assert_eq!(read(&folder.join("README.md")), "changed\n", "{what}");
}

const DIRTY: [&str; 2] = [" M README.md", "?? work.txt"];

/// Proves H74 for commits.
#[tokio::test]
async fn h74_commit_on_a_full_disk() {
    for left in LEFT {
        let Some(disk) = SmallDisk::mount(4096) else {
            return;
        };
        let (scene, head) = scene(&disk).await;
        let folder = scene.folder(&head);
        disk.fill(left);
        let outcome = head.commit(CommitRequest::new("work")).await;
        let what = format!("commit with {left} bytes left");
        disk.free();
        expect_no_space(&outcome, &what);
        scene.reopened();
        expect_work(&scene, &head, &what);
        if outcome.is_err() {
            assert_eq!(porcelain(&folder), DIRTY, "{what}");
            assert_eq!(git(&folder, &["rev-parse", "HEAD"]), head.base());
            head.commit(CommitRequest::new("work")).await.unwrap();
        }
        assert!(porcelain(&folder).is_empty(), "{what}");
        assert_eq!(git(&folder, &["rev-parse", "HEAD^"]), head.base());
        git(&folder, &["fsck", "--strict"]);
        nothing_is_left_over(&scene, &what).await;
    }
}

/// Proves H74 for merges, into a branch that nobody has checked out and into the user's own.
#[tokio::test]
async fn h74_merge_on_a_full_disk() {
    for (left, target) in LEFT
        .into_iter()
        .flat_map(|left| [(left, "main"), (left, "target")])
    {
        let Some(disk) = SmallDisk::mount(4096) else {
            return;
        };
        let (scene, head) = scene(&disk).await;
        let project = &scene.repository.path;
        git(project, &["branch", "target"]);
        disk.fill(left);
        let outcome = head.merge_into(target).await;
        let what = format!("merge into {target} with {left} bytes left");
        disk.free();
        expect_no_space(&outcome, &what);
        scene.reopened();
        expect_work(&scene, &head, &what);
        assert_eq!(porcelain(&scene.folder(&head)), DIRTY, "{what}");
        assert!(porcelain(project).is_empty(), "{what}");
        if outcome.is_err() {
            // Where there was no space to undo it either, it is finished at the next open.
            let finished = git(project, &["rev-parse", target]) != head.base();
            let outcome = head.merge_into(target).await.unwrap();
            let expected = match outcome {
                MergeOutcome::Merged { .. } => !finished,
                MergeOutcome::UpToDate => finished && target == "main",
                _ => false,
            };
            assert!(expected, "{what}: {outcome:?}");
        }
        assert!(porcelain(project).is_empty(), "{what}");
        let name = format!("{target}:work.txt");
        assert_eq!(git(project, &["show", &name]).len(), 99_999, "{what}");
        git(project, &["fsck", "--strict"]);
        nothing_is_left_over(&scene, &what).await;
    }
}

/// Proves H74 for updates, with conflicts and without.
#[tokio::test]
async fn h74_update_on_a_full_disk() {
    for (left, conflict) in LEFT
        .into_iter()
        .flat_map(|left| [(left, true), (left, false)])
    {
        let Some(disk) = SmallDisk::mount(4096) else {
            return;
        };
        let (scene, head) = scene(&disk).await;
        let folder = scene.folder(&head);
        let project = &scene.repository.path;
        head.commit(CommitRequest::new("work")).await.unwrap();
        let at = git(&folder, &["rev-parse", "HEAD"]);
        if conflict {
            write(&project.join("README.md"), "theirs\n");
        }
        write(&project.join("theirs.txt"), &"theirs\n".repeat(10_000));
        let tip = scene.repository.commit_all("theirs");
        write(&folder.join("loose.txt"), "loose\n");
        disk.fill(left);
        let outcome = head.update_from("main").await;
        let what = format!("update with {left} bytes left, conflict: {conflict}");
        disk.free();
        expect_no_space(&outcome, &what);
        scene.reopened();
        assert_eq!(read(&folder.join("loose.txt")), "loose\n", "{what}");
        if outcome.is_err() {
            expect_work(&scene, &head, &what);
            assert_eq!(porcelain(&folder), ["?? loose.txt"], "{what}");
            assert_eq!(git(&folder, &["rev-parse", "HEAD"]), at, "{what}");
            let outcome = head.update_from("main").await.unwrap();
            let as_expected = match outcome {
                UpdateOutcome::Merged { .. } => !conflict,
                UpdateOutcome::Conflicts(_) => conflict,
                _ => false,
            };
            assert!(as_expected, "{what}");
        }
        if conflict {
            let expected = ["UU README.md", "?? loose.txt", "A  theirs.txt"];
            assert_eq!(porcelain(&folder), expected, "{what}");
            assert_eq!(git(&folder, &["rev-parse", "MERGE_HEAD"]), tip, "{what}");
        } else {
            assert_eq!(porcelain(&folder), ["?? loose.txt"], "{what}");
            assert_eq!(git(&folder, &["rev-parse", "HEAD^2"]), tip, "{what}");
        }
        git(project, &["fsck", "--strict"]);
        nothing_is_left_over(&scene, &what).await;
    }
}

/// Proves H74 for archiving.
#[tokio::test]
async fn h74_archive_on_a_full_disk() {
    for left in LEFT {
        let Some(disk) = SmallDisk::mount(4096) else {
            return;
        };
        let (scene, head) = scene(&disk).await;
        disk.fill(left);
        let outcome = head.archive().await;
        let what = format!("archive with {left} bytes left");
        disk.free();
        expect_no_space(&outcome, &what);
        scene.reopened();
        expect_work(&scene, &head, &what);
        let archived = head.status().await.unwrap().archived;
        assert_eq!(archived, outcome.is_ok(), "{what}");
        head.archive().await.unwrap();
        assert!(head.status().await.unwrap().archived);
        nothing_is_left_over(&scene, &what).await;
    }
}
