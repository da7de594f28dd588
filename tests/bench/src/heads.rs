//! Heads beside `git worktree` and `git status`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use everruns::path::WorkspacePath;
use everruns::{LocalGitWorkspace, Workspace, WorkspaceHead};

use crate::flushes;
use crate::git::{self, Project};
use crate::measure::Samples;
use crate::table::Table;

/// How many heads are made at once.
const AT_ONCE: usize = 20;

/// What Git's status is measured with.
const STATUS: [&str; 3] = ["status", "--porcelain=v2", "-uall"];

/// The largest repository of which so many are made.
const MOST_FILES_AT_ONCE: usize = 10_000;

/// Measures create, status, checkpoint, fork and destroy. Everything is made before anything is removed: a file system
/// that has just removed many files makes new ones slowly.
pub(crate) async fn measure(
    table: &mut Table,
    scratch: &Path,
    project: &Project,
    name: &str,
    rounds: usize,
) -> anyhow::Result<()> {
    let files = project.files.len();
    let backend = Arc::new(LocalGitWorkspace::new(
        scratch.join(format!("state-{files}")),
    )?);
    let locator = project
        .folder
        .to_str()
        .context("the folder's name is Unicode")?;
    let workspace = Workspace::open(backend, locator).await?;

    let (mut create, mut add) = (Samples::default(), Samples::default());
    let mut heads = Vec::new();
    let mut worktrees = Vec::new();
    for round in 0..rounds {
        let begun = Instant::now();
        heads.push(workspace.head(format!("create {round}")).create().await?);
        create.push(begun.elapsed());
        let worktree = scratch.join(format!("worktree-{files}-{round}"));
        let target = worktree.to_str().context("the folder's name is Unicode")?;
        let begun = Instant::now();
        git::run(
            &project.folder,
            None,
            &[
                "worktree",
                "add",
                "--quiet",
                "-b",
                &format!("b{round}"),
                target,
                "main",
            ],
        )?;
        add.push(begun.elapsed());
        worktrees.push(worktree);
    }
    table.pair(format!("create, {name}"), &create, "git worktree add", &add);

    if files <= MOST_FILES_AT_ONCE {
        at_once(table, scratch, &workspace, &project.folder, name, files).await?;
    }

    let head = heads.first().context("there is a round")?;
    let worktree = worktrees.first().context("there is a round")?;
    compare_status(
        table,
        &format!("status, clean, {name}"),
        head,
        worktree,
        rounds,
    )
    .await?;
    let own = folder(head)?;
    project.change(&own, 0)?;
    project.change(worktree, 0)?;
    compare_status(
        table,
        &format!("status, 100 changed, {name}"),
        head,
        worktree,
        rounds,
    )
    .await?;

    let (mut checkpoint, mut tree) = (Samples::default(), Samples::default());
    for round in 0..rounds {
        project.change(&own, round + 1)?;
        project.change(worktree, round + 1)?;
        let begun = Instant::now();
        head.checkpoint().await?;
        checkpoint.push(begun.elapsed());
        let index = scratch.join(format!("index-{files}-{round}"));
        let begun = Instant::now();
        git::run(worktree, Some(&index), &["read-tree", "HEAD"])?;
        git::run(worktree, Some(&index), &["add", "-A"])?;
        git::run(worktree, Some(&index), &["write-tree"])?;
        tree.push(begun.elapsed());
    }
    table.pair(
        format!("checkpoint, 100 changed, {name}"),
        &checkpoint,
        "git read-tree, add -A, write-tree (private index)",
        &tree,
    );
    compare_checkpoints(table, head, worktree, project, name, rounds).await?;

    let (mut fork, mut create) = (Samples::default(), Samples::default());
    for round in 0..rounds {
        let begun = Instant::now();
        head.fork(format!("fork {round}")).await?;
        fork.push(begun.elapsed());
        // The more files there are, the longer it takes to make others, so the two take turns.
        let begun = Instant::now();
        workspace
            .head(format!("beside fork {round}"))
            .create()
            .await?;
        create.push(begun.elapsed());
    }
    table.pair(
        format!("fork, 100 changed, {name}"),
        &fork,
        "create, taking turns",
        &create,
    );

    let (mut destroy, mut remove) = (Samples::default(), Samples::default());
    for (head, worktree) in heads.iter().zip(&worktrees).skip(1) {
        let begun = Instant::now();
        head.destroy().await?;
        destroy.push(begun.elapsed());
        let target = worktree.to_str().context("the folder's name is Unicode")?;
        let begun = Instant::now();
        git::run(
            &project.folder,
            None,
            &["worktree", "remove", "--force", target],
        )?;
        remove.push(begun.elapsed());
    }
    table.pair(
        format!("destroy, clean, {name}"),
        &destroy,
        "git worktree remove --force",
        &remove,
    );
    Ok(())
}

/// Measures checkpoints beside `git status`: with 100 changed files, with 100 changed through the head's file system, and
/// unchanged.
async fn compare_checkpoints(
    table: &mut Table,
    head: &WorkspaceHead,
    worktree: &Path,
    project: &Project,
    name: &str,
    rounds: usize,
) -> anyhow::Result<()> {
    let own = folder(head)?;
    let changed: Vec<WorkspacePath> = project
        .changed()
        .map(|path| WorkspacePath::parse(path))
        .collect::<Result<_, _>>()?;
    let (mut whole, mut paths, mut unchanged) = <(Samples, Samples, Samples)>::default();
    let (mut status, mut flush) = <(Samples, Samples)>::default();
    for round in 0..rounds {
        project.change(&own, 2 * round + 100)?;
        project.change(worktree, 2 * round + 100)?;
        let begun = Instant::now();
        flushes::take();
        head.checkpoint().await?;
        whole.push(begun.elapsed());
        flush.push(flushes::take());
        let begun = Instant::now();
        git::run(worktree, None, &STATUS)?;
        status.push(begun.elapsed());
        let begun = Instant::now();
        head.checkpoint().await?;
        unchanged.push(begun.elapsed());
        project.change(&own, 2 * round + 101)?;
        let begun = Instant::now();
        head.checkpoint_paths(None, &changed).await?;
        paths.push(begun.elapsed());
    }
    let theirs = "git status --porcelain=v2 -uall, 100 changed";
    for (operation, ours) in [
        ("checkpoint, 100 changed", &whole),
        ("checkpoint, 100 changed at known paths", &paths),
        ("checkpoint, 100 changed: of it the flush", &flush),
    ] {
        table.pair(format!("{operation}, {name}"), ours, theirs, &status);
    }
    table.single(
        format!("checkpoint, unchanged since the last, {name}"),
        &unchanged,
    );
    Ok(())
}

/// Measures many creations at once beside as many of Git's one after the other.
async fn at_once(
    table: &mut Table,
    scratch: &Path,
    workspace: &Workspace,
    project: &Path,
    name: &str,
    files: usize,
) -> anyhow::Result<()> {
    let (mut ours, mut theirs) = (Samples::default(), Samples::default());
    let begun = Instant::now();
    let creations: Vec<_> = (0..AT_ONCE)
        .map(|number| tokio::spawn(workspace.head(format!("at once {number}")).create()))
        .collect();
    for creation in creations {
        creation.await??;
    }
    ours.push(begun.elapsed());
    let begun = Instant::now();
    for number in 0..AT_ONCE {
        let target = scratch.join(format!("one-by-one-{files}-{number}"));
        let target = target.to_str().context("the folder's name is Unicode")?;
        let branch = format!("one-by-one-{number}");
        git::run(
            project,
            None,
            &["worktree", "add", "--quiet", "-b", &branch, target, "main"],
        )?;
    }
    theirs.push(begun.elapsed());
    table.pair(
        format!("{AT_ONCE} creations at once, {name}"),
        &ours,
        "as many git worktree add, one by one",
        &theirs,
    );
    Ok(())
}

async fn compare_status(
    table: &mut Table,
    operation: &str,
    head: &WorkspaceHead,
    worktree: &Path,
    rounds: usize,
) -> anyhow::Result<()> {
    let (mut ours, mut theirs) = (Samples::default(), Samples::default());
    for _ in 0..rounds {
        let begun = Instant::now();
        head.status().await?;
        ours.push(begun.elapsed());
        let begun = Instant::now();
        git::run(worktree, None, &STATUS)?;
        theirs.push(begun.elapsed());
    }
    table.pair(
        operation.to_owned(),
        &ours,
        "git status --porcelain=v2 -uall",
        &theirs,
    );
    Ok(())
}

fn folder(head: &WorkspaceHead) -> anyhow::Result<PathBuf> {
    head.file_system()
        .host_path(&WorkspacePath::root())
        .context("a Git head has a folder")
}
