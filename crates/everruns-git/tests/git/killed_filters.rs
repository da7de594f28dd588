//! Processes killed while a filter of theirs runs: alone, so that the filter outlives them, and with their whole group.

use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use everruns_core::workspace::{CommitRequest, Workspace, WorkspaceHead};
use everruns_git::LocalGitWorkspace;
use tempfile::TempDir;

use crate::fixture::{Repository, git, make_executable, porcelain, read, snapshot, write};

const OPERATION: &str = "EVERRUNS_GIT_FILTER_OPERATION";
const ROOT: &str = "EVERRUNS_GIT_FILTER_ROOT";

/// Who is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    Parent,
    Group,
}

/// A repository whose files named `*.rot` are stored rotated, by a program that can be told to kill who started it.
struct Rotated {
    root: TempDir,
    project: PathBuf,
}

impl Rotated {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let repository = Repository::small(&root.path().join("project"));
        let program = root.path().join("rotate");
        // Whom it killed would have read what it writes, so it goes on for a while.
        let script = "#!/bin/sh\n\
            at=$(dirname \"$0\")\n\
            if [ \"$(cat \"$at/armed\" 2>/dev/null)\" = \"$1\" ]; then\n\
            \x20 rm \"$at/armed\"\n\
            \x20 kill -s KILL -- \"$(cat \"$at/victim\")\"\n\
            \x20 sleep 0.2\n\
            fi\n\
            exec tr a-z n-za-m\n";
        write(&program, script);
        make_executable(&program);
        let project = repository.path.clone();
        for direction in ["clean", "smudge"] {
            let key = format!("filter.rotate.{direction}");
            git(
                &project,
                &[
                    "config",
                    &key,
                    &format!("{} {direction}", program.display()),
                ],
            );
        }
        write(&project.join(".gitattributes"), "*.rot filter=rotate\n");
        write(&project.join("kept.rot"), "kept\n");
        repository.commit_all("rotated");
        Self { root, project }
    }

    async fn workspace(&self) -> Workspace {
        workspace(self.root.path()).await
    }

    fn folder(&self, head: &WorkspaceHead) -> PathBuf {
        let state = std::fs::canonicalize(self.root.path().join("state")).unwrap();
        let worktrees = state.join("worktrees");
        worktrees
            .join(head.workspace_id().as_str())
            .join(head.id().as_str())
    }

    /// Runs `operation` on the head `one` in a process of a group of its own, which is killed when a filter that goes in
    /// `direction` runs for the first time.
    #[expect(
        clippy::disallowed_methods,
        reason = "the child to be killed is this test binary itself"
    )]
    fn killed(&self, operation: &str, direction: &str, victim: Victim) {
        let at = |name: &str| self.root.path().join(name);
        write(&at("armed"), direction);
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["killed_filters::child", "--exact", "--nocapture"])
            .env(OPERATION, format!("{operation} {victim:?}"))
            .env(ROOT, self.root.path())
            .process_group(0)
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        // A filter that outlives its parent holds the pipes, so this waits for its end, too.
        let output = child.wait_with_output().unwrap();
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        let what = format!("{operation}, {victim:?}: {words}");
        assert_eq!(output.status.signal(), Some(9), "{what}");
        assert!(!at("armed").exists(), "{what}");
    }
}

async fn workspace(root: &Path) -> Workspace {
    let backend = LocalGitWorkspace::builder(root.join("state"))
        .user_settings(false)
        .run_filters(true)
        .build()
        .unwrap();
    let project = root.join("project");
    Workspace::open(Arc::new(backend), project.to_str().unwrap())
        .await
        .unwrap()
}

async fn one(workspace: &Workspace) -> WorkspaceHead {
    let heads = workspace.heads().await.unwrap();
    let head = heads
        .iter()
        .find(|head| head.name.as_str() == "one")
        .unwrap();
    workspace.open_head(&head.id).await.unwrap()
}

async fn run(workspace: &Workspace, operation: &str) {
    let head = one(workspace).await;
    match operation {
        "create" => drop(workspace.head("new").create().await.unwrap()),
        "fork" => drop(head.fork("new").await.unwrap()),
        "checkpoint" => drop(head.checkpoint().await.unwrap()),
        "commit" => drop(head.commit(CommitRequest::new("work")).await.unwrap()),
        "restore" => {
            let first = head.checkpoints().await.unwrap().remove(0);
            drop(head.restore(&first).await.unwrap());
        }
        "destroy" => drop(head.destroy().await.unwrap()),
        other => panic!("{other}"),
    }
}

/// Not a test of its own: what the children of the others run.
#[tokio::test]
async fn child() {
    let Ok(operation) = std::env::var(OPERATION) else {
        return;
    };
    let (operation, victim) = operation.split_once(' ').unwrap();
    let root = PathBuf::from(std::env::var_os(ROOT).unwrap());
    let own = std::process::id();
    let victim = match victim {
        "Group" => format!("-{own}"),
        _ => own.to_string(),
    };
    write(&root.join("victim"), &victim);
    run(&workspace(&root).await, operation).await;
}

/// Proves H60 to H64 for a kill while a filter runs: nothing is lost or left over, and the operation can be done again.
#[tokio::test]
async fn h60_h61_h62_h63_h64_a_kill_while_a_filter_runs_loses_nothing() {
    let operations = [
        ("create", "smudge"),
        ("fork", "smudge"),
        ("checkpoint", "clean"),
        ("commit", "clean"),
        ("restore", "smudge"),
        ("destroy", "clean"),
    ];
    let all = operations
        .into_iter()
        .flat_map(|operation| [Victim::Parent, Victim::Group].map(|victim| (operation, victim)));
    for ((operation, direction), victim) in all {
        let what = format!("{operation}, {victim:?}");
        let rotated = Rotated::new();
        let project = &rotated.project;
        let workspace = rotated.workspace().await;
        let head = workspace.head("one").create().await.unwrap();
        let folder = rotated.folder(&head);
        assert_eq!(read(&folder.join("kept.rot")), "kept\n");
        write(&folder.join("first.rot"), "first\n");
        head.checkpoint().await.unwrap();
        write(&folder.join("kept.rot"), "changed\n");
        write(&folder.join("work.rot"), "work\n");
        std::fs::remove_file(folder.join("first.rot")).unwrap();
        drop((head, workspace));
        let (before, status) = (snapshot(project), porcelain(&folder));
        let commits = git(&folder, &["rev-list", "--all"]);
        rotated.killed(operation, direction, victim);
        assert_eq!(snapshot(project), before, "{what}");

        let workspace = rotated.workspace().await;
        let report = workspace.backend().doctor(false).await.unwrap();
        assert!(
            report
                .findings
                .iter()
                .all(|finding| finding.kind == "trash"),
            "{what}: {report:?}"
        );
        assert_eq!(snapshot(project), before, "{what}");
        let heads = workspace.heads().await.unwrap();
        assert!(
            heads.iter().all(|head| head.name.as_str() != "new"),
            "{what}"
        );
        match operation {
            // What had begun is finished: the state before is the checkpoint that it took first.
            "restore" => {
                assert_eq!(read(&folder.join("first.rot")), "first\n", "{what}");
                let head = one(&workspace).await;
                let taken = head.checkpoints().await.unwrap();
                head.restore(&taken[1]).await.unwrap();
            }
            "destroy" => {
                let kept = git(
                    project,
                    &["for-each-ref", "--format=%(refname)", "refs/everruns"],
                );
                let last = kept.lines().last().unwrap();
                let stored = git(project, &["show", &format!("{last}:work.rot")]);
                assert_eq!(stored, "jbex", "{what}");
                assert!(!folder.exists(), "{what}");
                continue;
            }
            "commit" => assert_eq!(git(&folder, &["rev-list", "--all"]), commits, "{what}"),
            _ => {}
        }
        assert_eq!(porcelain(&folder), status, "{what}");
        assert_eq!(read(&folder.join("work.rot")), "work\n", "{what}");
        assert_eq!(read(&folder.join("kept.rot")), "changed\n", "{what}");
        run(&workspace, operation).await;
        git(project, &["fsck", "--strict"]);
    }
}
