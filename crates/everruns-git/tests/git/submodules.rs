//! Submodules in a head, beside the real `git`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use everruns_core::workspace::{CommitRequest, WorkspaceError, WorkspaceHead, WorkspaceHeadStatus};
use everruns_git::LocalGitWorkspace;

use crate::fixture::{
    Repository, Scene, git, make_executable, porcelain, snapshot, told, try_git, write,
};

/// A repository with a submodule, and a head of it in which the submodule is checked out.
async fn with_submodule() -> (Scene, WorkspaceHead, PathBuf) {
    with_submodule_in(Scene::new()).await
}

async fn with_submodule_in(scene: Scene) -> (Scene, WorkspaceHead, PathBuf) {
    let project = &scene.repository.path;
    let library = Repository::small(&scene.root.path().join("library"));
    let add = ["submodule", "add", "-q", library.path.to_str().unwrap()];
    git(project, &[&add[..], &["vendor/library"]].concat());
    scene.repository.commit_all("submodule");
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    git(&folder, &["submodule", "--quiet", "update", "--init"]);
    let submodule = folder.join("vendor/library");
    git(&submodule, &["checkout", "-q", "-B", "main"]);
    (scene, head, submodule)
}

/// Proves H27 and H23 for submodules: `status` is git's, and what only a submodule holds is never destroyed.
#[tokio::test]
async fn h27_submodules_are_compared_and_their_work_is_not_lost() {
    let (scene, head, submodule) = with_submodule().await;
    let folder = scene.folder(&head);
    let expect = async |what: &str, lines: &[&str]| {
        assert_eq!(porcelain(&folder), lines, "{what}");
        let status = head.status().await.unwrap();
        assert_eq!(told(&status), lines, "{what}");
    };
    expect("checked out", &[]).await;
    assert!(kinds(&head.status().await.unwrap()).is_empty());
    let clean = head.checkpoint().await.unwrap();
    assert!(clean.uncaptured.is_empty());

    write(&submodule.join("README.md"), "changed\n");
    expect("changed", &[" M vendor/library"]).await;
    git(&submodule, &["add", "-A"]);
    expect("staged in it", &[" M vendor/library"]).await;
    git(&submodule, &["reset", "-q", "--hard"]);
    write(&submodule.join("new.txt"), "new\n");
    expect("untracked in it", &[" M vendor/library"]).await;
    let checkpoint = head.checkpoint().await.unwrap();
    let told: Vec<_> = checkpoint
        .uncaptured
        .iter()
        .map(|entry| (entry.path.as_str(), entry.reason.as_str()))
        .collect();
    assert_eq!(told, [("vendor/library", "changes in a submodule")]);
    let refused = async |what: &str| {
        let failure = head.destroy().await.unwrap_err();
        assert!(
            matches!(failure, WorkspaceError::HeadUnavailable { .. }),
            "{what}: {failure:?}"
        );
        assert!(submodule.join("README.md").exists(), "{what}");
    };
    refused("untracked files").await;

    git(&submodule, &["add", "-A"]);
    git(&submodule, &["commit", "-qm", "in the submodule"]);
    expect("another commit", &[" M vendor/library"]).await;
    refused("a commit that no remote has").await;
    let at = git(&submodule, &["rev-parse", "HEAD"]);
    let receipt = head
        .commit(CommitRequest::new("the submodule"))
        .await
        .unwrap();
    assert_eq!(receipt.changed, ["vendor/library"]);
    let stored = git(&folder, &["rev-parse", "HEAD:vendor/library"]);
    assert_eq!(stored, at);
    expect("committed", &[]).await;
    // Nobody else has the commit that is recorded now, but a restore changes what is recorded, not what is there.
    head.restore(&clean).await.unwrap();
    assert_eq!(git(&submodule, &["rev-parse", "HEAD"]), at);
    expect("restored", &[" M vendor/library"]).await;
    refused("a commit that no remote has, after a restore").await;
    git(
        &submodule,
        &["push", "-q", "origin", "HEAD:refs/heads/kept"],
    );
    head.destroy().await.unwrap();
    assert!(!folder.exists());
    let library = scene.root.path().join("library");
    assert_eq!(git(&library, &["rev-parse", "kept"]), at);
}

/// A scene of an application that allows filters, or doesn't.
fn scene_with(run_filters: bool) -> Scene {
    let mut scene = Scene::new();
    let backend = LocalGitWorkspace::builder(&scene.state)
        .user_settings(false)
        .run_filters(run_filters)
        .build()
        .unwrap();
    scene.backend = Arc::new(backend);
    scene
}

fn kinds(status: &WorkspaceHeadStatus) -> Vec<&str> {
    let facts = status.degraded.iter();
    facts.map(|fact| fact.kind.as_str()).collect()
}

/// Destroying `head` is refused, and `path` is told to hold work.
async fn is_refused_for(head: &WorkspaceHead, path: &str) {
    let failure = head.destroy().await.unwrap_err();
    assert!(
        matches!(&failure, WorkspaceError::HeadUnavailable { reason, .. } if reason.contains(path)),
        "{path}: {failure:?}"
    );
}

fn commit_in(submodule: &Path, name: &str) -> String {
    write(&submodule.join(name), name);
    git(submodule, &["add", "-A"]);
    git(submodule, &["commit", "-qm", name]);
    git(submodule, &["rev-parse", "HEAD"])
}

/// Proves C12 for commits in a submodule that the head itself has come to record: no other repository has them.
#[tokio::test]
async fn c12_recording_a_submodules_commit_in_the_head_keeps_it_nowhere() {
    let (scene, head, submodule) = with_submodule().await;
    let at = commit_in(&submodule, "new.txt");
    head.commit(CommitRequest::new("the submodule"))
        .await
        .unwrap();
    is_refused_for(&head, "vendor/library").await;
    // Neither does a later head's start prove anything for the head that the commit was made in.
    let branch = head.descriptor().branch.clone().unwrap();
    let later = scene.workspace().await.head("two").from_revision(&branch);
    let later = later.create().await.unwrap();
    is_refused_for(&head, "vendor/library").await;
    assert_eq!(git(&submodule, &["rev-parse", "HEAD"]), at);
    later.destroy().await.unwrap();
    git(
        &submodule,
        &["push", "-q", "origin", "HEAD:refs/heads/kept"],
    );
    head.destroy().await.unwrap();
    let library = scene.root.path().join("library");
    assert_eq!(git(&library, &["rev-parse", "kept"]), at);
}

/// Proves C12 for commits to which only a tag or another branch of a submodule leads.
#[tokio::test]
async fn c12_a_submodules_tags_and_other_branches_count() {
    let (scene, head, submodule) = with_submodule().await;
    let recorded = git(&submodule, &["rev-parse", "HEAD"]);
    commit_in(&submodule, "new.txt");
    git(&submodule, &["tag", "mine"]);
    git(&submodule, &["reset", "-q", "--hard", &recorded]);
    is_refused_for(&head, "vendor/library").await;
    git(&submodule, &["branch", "aside", "mine"]);
    git(&submodule, &["tag", "-d", "mine"]);
    is_refused_for(&head, "vendor/library").await;
    git(&submodule, &["branch", "-q", "-D", "aside"]);
    let aside = scene.root.path().join("aside");
    let add = ["worktree", "add", "-q", "--detach", aside.to_str().unwrap()];
    git(&submodule, &add);
    is_refused_for(&head, "vendor/library").await;
    git(&submodule, &["worktree", "remove", aside.to_str().unwrap()]);
    head.destroy().await.unwrap();
}

/// What came from outside is no work of the head's, even where no branch of a remote leads to it.
#[tokio::test]
async fn c12_a_commit_that_the_heads_start_records_came_from_outside() {
    let scene = Scene::new();
    let (scene, first, _) = with_submodule_in(scene).await;
    let library = scene.root.path().join("library");
    git(
        &library,
        &["config", "uploadpack.allowAnySHA1InWant", "true"],
    );
    git(&library, &["checkout", "-q", "--detach"]);
    let loose = commit_in(&library, "loose.txt");
    git(&library, &["checkout", "-q", "main"]);
    let project = &scene.repository.path;
    let place = project.join("vendor/library");
    git(&place, &["fetch", "-q", "origin", &loose]);
    git(&place, &["checkout", "-q", &loose]);
    scene.repository.commit_all("what no branch leads to");
    let head = scene.head("two").await;
    let folder = scene.folder(&head);
    git(&folder, &["submodule", "--quiet", "update", "--init"]);
    let submodule = folder.join("vendor/library");
    assert_eq!(git(&submodule, &["rev-parse", "HEAD"]), loose);
    head.destroy().await.unwrap();
    first.destroy().await.unwrap();
}

/// Proves C12 for what the index has forgotten: Git keeps the repository of a removed submodule with the head's record.
#[tokio::test]
async fn c12_a_submodule_that_was_removed_still_holds_its_commits() {
    let (scene, head, submodule) = with_submodule().await;
    let folder = scene.folder(&head);
    commit_in(&submodule, "new.txt");
    git(&folder, &["add", "vendor/library"]);
    git(&folder, &["commit", "-qm", "the submodule"]);
    git(&folder, &["rm", "-q", "vendor/library"]);
    git(&folder, &["commit", "-qm", "without it"]);
    assert!(!submodule.exists());
    is_refused_for(&head, "modules/vendor/library").await;
    // Nor does it go when somebody removed the whole folder of the head.
    std::fs::remove_dir_all(&folder).unwrap();
    is_refused_for(&head, "modules/vendor/library").await;
    let record = scene.repository.path.join(".git/worktrees");
    let modules = record.join(head.id().as_str()).join("modules");
    assert!(modules.join("vendor/library/HEAD").exists());
    // What can't be read may hold anything.
    std::fs::remove_file(modules.join("vendor/library/HEAD")).unwrap();
    is_refused_for(&head, "modules/vendor/library").await;
    std::fs::remove_dir_all(&modules).unwrap();
    head.destroy().await.unwrap();
}

/// Proves C12 for remotes that go with the head, and for those that never were.
#[tokio::test]
async fn c12_a_remote_inside_the_head_keeps_nothing() {
    let (scene, head, submodule) = with_submodule().await;
    let folder = scene.folder(&head);
    commit_in(&submodule, "new.txt");
    let inside = folder.join("ignored/mirror");
    git(&folder, &["init", "-q", "--bare", "ignored/mirror"]);
    let add = ["remote", "add", "inside", inside.to_str().unwrap()];
    git(&submodule, &add);
    git(
        &submodule,
        &["push", "-q", "inside", "HEAD:refs/heads/kept"],
    );
    git(&submodule, &["rev-parse", "refs/remotes/inside/kept"]);
    head.commit(CommitRequest::new("the submodule"))
        .await
        .unwrap();
    is_refused_for(&head, "vendor/library").await;
    git(&submodule, &["remote", "remove", "inside"]);
    git(
        &submodule,
        &["update-ref", "refs/remotes/none/kept", "HEAD"],
    );
    is_refused_for(&head, "vendor/library").await;
    let outside = scene.root.path().join("mirror");
    git(scene.root.path(), &["init", "-q", "--bare", "mirror"]);
    let add = ["remote", "add", "outside", outside.to_str().unwrap()];
    git(&submodule, &add);
    git(
        &submodule,
        &["push", "-q", "outside", "HEAD:refs/heads/kept"],
    );
    head.destroy().await.unwrap();
}

/// Proves C12 for submodules of submodules.
#[tokio::test]
async fn c12_a_submodule_in_a_submodule_is_looked_at() {
    let scene = Scene::new();
    let part = Repository::small(&scene.root.path().join("part"));
    let library = Repository::small(&scene.root.path().join("library"));
    let add = |url: &Repository, to| {
        ["submodule", "add", "-q", url.path.to_str().unwrap(), to].map(str::to_owned)
    };
    let run = |folder: &Path, args: [String; 5]| git(folder, &args.each_ref().map(String::as_str));
    run(&library.path, add(&part, "part"));
    library.commit_all("a part");
    run(&scene.repository.path, add(&library, "vendor/library"));
    scene.repository.commit_all("a library");
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let update = ["submodule", "--quiet", "update", "--init", "--recursive"];
    git(&folder, &update);
    let part = folder.join("vendor/library/part");
    let start = git(&part, &["rev-parse", "HEAD"]);
    commit_in(&part, "new.txt");
    git(&part, &["tag", "mine"]);
    git(&part, &["checkout", "-q", &start]);
    assert!(porcelain(&folder).is_empty());
    is_refused_for(&head, "vendor/library/part").await;
    // Deeper than the index leads.
    git(&folder, &["rm", "-q", "vendor/library"]);
    git(&folder, &["commit", "-qm", "without it"]);
    is_refused_for(&head, "modules/part").await;
}

/// Proves H10 for a link in a submodule's place: it is told as a change of type, kept as a link, and leads nowhere.
#[tokio::test]
async fn h10_a_link_in_a_submodules_place_is_a_link() {
    let (scene, head, submodule) = with_submodule().await;
    let folder = scene.folder(&head);
    let clean = head.checkpoint().await.unwrap();
    let victim = Repository::small(&scene.root.path().join("victim"));
    write(&victim.path.join("README.md"), "changed\n");
    std::fs::remove_dir_all(&submodule).unwrap();
    std::os::unix::fs::symlink(&victim.path, &submodule).unwrap();
    let before = snapshot(&victim.path);
    // Git refuses to go on at all.
    assert!(!try_git(&folder, &["status"]).status.success());
    let status = head.status().await.unwrap();
    assert_eq!(told(&status), [" T vendor/library"]);
    let kept = head.checkpoint().await.unwrap();
    assert!(kept.uncaptured.is_empty(), "{:?}", kept.uncaptured);
    let entry = git(&folder, &["ls-tree", &kept.revision, "vendor/library"]);
    assert!(entry.starts_with("120000 blob"), "{entry}");
    let link = git(
        &folder,
        &["show", &format!("{}:vendor/library", kept.revision)],
    );
    assert_eq!(Path::new(&link), victim.path);
    head.restore(&clean).await.unwrap();
    head.restore(&kept).await.unwrap();
    assert_eq!(std::fs::read_link(&submodule).unwrap(), victim.path);
    // A link above it leads nowhere either.
    std::fs::remove_file(&submodule).unwrap();
    std::fs::remove_dir(folder.join("vendor")).unwrap();
    std::fs::create_dir(scene.root.path().join("elsewhere")).unwrap();
    let moved = scene.root.path().join("elsewhere/library");
    std::os::unix::fs::symlink(scene.root.path().join("elsewhere"), folder.join("vendor")).unwrap();
    std::fs::rename(&victim.path, &moved).unwrap();
    let status = head.status().await.unwrap();
    assert_eq!(told(&status), ["?? vendor", " D vendor/library"]);
    head.checkpoint().await.unwrap();
    std::fs::rename(&moved, &victim.path).unwrap();
    assert_eq!(snapshot(&victim.path), before);
    head.destroy().await.unwrap();
    assert_eq!(snapshot(&victim.path), before);
}

/// Proves H27 for a broken submodule: it is told of, may hold work, and keeps nothing else from being seen and kept.
#[tokio::test]
async fn h27_a_broken_submodule_is_told_and_breaks_nothing_else() {
    type Break = fn(&Path);
    let ways: [(&str, Break); 5] = [
        ("index", |git_dir| write(&git_dir.join("index"), "nonsense")),
        ("HEAD", |git_dir| write(&git_dir.join("HEAD"), "nonsense")),
        ("config", |git_dir| {
            write(&git_dir.join("config"), "[core\n");
        }),
        ("objects", |git_dir| {
            std::fs::remove_dir_all(git_dir.join("objects")).unwrap();
        }),
        ("pipe", |git_dir| {
            let path = git_dir.join("info/exclude");
            std::fs::remove_file(&path).unwrap();
            let mode = rustix::fs::Mode::from_raw_mode(0o600);
            rustix::fs::mkfifoat(rustix::fs::CWD, &path, mode).unwrap();
        }),
    ];
    for (what, damage) in ways {
        let (scene, head, submodule) = with_submodule().await;
        let folder = scene.folder(&head);
        let git_dir = PathBuf::from(git(&submodule, &["rev-parse", "--absolute-git-dir"]));
        damage(&git_dir);
        write(&folder.join("README.md"), "changed\n");
        let status = tokio::time::timeout(std::time::Duration::from_secs(20), head.status());
        let status = status.await.unwrap().unwrap();
        assert!(told(&status).contains(&" M README.md".to_owned()), "{what}");
        assert!(
            kinds(&status).contains(&"submodule-unreadable"),
            "{what}: {:?}",
            status.degraded
        );
        let kept = head.checkpoint().await.unwrap();
        let uncaptured: Vec<_> = kept
            .uncaptured
            .iter()
            .map(|entry| entry.path.as_str())
            .collect();
        assert_eq!(uncaptured, ["vendor/library"], "{what}");
        is_refused_for(&head, "vendor/library").await;
        assert!(git_dir.exists(), "{what}");
    }
}

/// Proves H20 for what somebody puts where a submodule goes: its filters don't run, and it leads nowhere else.
#[tokio::test]
async fn h20_a_planted_submodule_runs_nothing() {
    for run_filters in [false, true] {
        planted_submodule_runs_nothing(run_filters).await;
    }
}

async fn planted_submodule_runs_nothing(run_filters: bool) {
    let (scene, head, submodule) = with_submodule_in(scene_with(run_filters)).await;
    let folder = scene.folder(&head);
    let marks = scene.root.path().join("marks");
    std::fs::create_dir(&marks).unwrap();
    let program = scene.root.path().join("program");
    write(
        &program,
        &format!("#!/bin/sh\ntouch {}/ran\ncat\n", marks.display()),
    );
    make_executable(&program);
    let planted = [false, true];
    for own_folder in planted {
        if own_folder {
            std::fs::remove_dir_all(&submodule).unwrap();
            Repository::small(&submodule);
        }
        let config = |key: &str| git(&submodule, &["config", key, program.to_str().unwrap()]);
        config("filter.evil.clean");
        config("filter.evil.smudge");
        config("filter.evil.process");
        config("core.fsmonitor");
        write(&submodule.join(".gitattributes"), "* filter=evil\n");
        // Of the same size, so that only its content tells that it is another.
        write(&submodule.join("README.md"), "# Changed\n");
        assert_eq!(told(&head.status().await.unwrap()), [" M vendor/library"]);
        head.checkpoint().await.unwrap();
        head.diff().await.unwrap();
        head.destroy().await.unwrap_err();
        assert_eq!(std::fs::read_dir(&marks).unwrap().count(), 0);
    }
    // A link to somewhere else is no submodule.
    let victim = Repository::small(&scene.root.path().join("victim"));
    let before = snapshot(&victim.path);
    std::fs::remove_dir_all(&submodule).unwrap();
    let link = format!("gitdir: {}/.git\n", victim.path.display());
    write(&submodule.join(".git"), &link);
    head.status().await.unwrap();
    head.checkpoint().await.unwrap();
    assert_eq!(snapshot(&victim.path), before);
    assert!(folder.exists());
    assert!(try_git(&folder, &["status"]).status.success());
}
