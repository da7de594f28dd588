//! The guide's commands, each run for real.

use std::path::Path;
use std::process::Command;

use everruns_core::workspace::CommitRequest;

use crate::fixture::{Scene, git, porcelain, read, try_git, write};

/// The guide's blocks of commands.
fn blocks() -> Vec<String> {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides/git-heads.md");
    let guide = read(&guide);
    guide
        .split("```sh\n")
        .skip(1)
        .map(|block| block.split("```").next().unwrap().to_owned())
        .collect()
}

/// Runs each line of `block` by itself, as somebody who reads it would.
#[expect(
    clippy::disallowed_methods,
    reason = "the guide is written for a shell"
)]
fn run(block: &str, folder: &Path, variables: &[(&str, &str)]) -> Vec<(String, String)> {
    let lines = block.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let output = Command::new("sh")
                .args(["-c", line])
                .current_dir(folder)
                .envs(variables.iter().copied())
                .env("GIT_CONFIG_GLOBAL", "/dev/null")
                .env("GIT_PAGER", "cat")
                .output()
                .unwrap();
            let words = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{line}: {words}");
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            (line.to_owned(), printed)
        })
        .collect()
}

/// C11 and C12 by hand: whoever only has Git gets everything back as the guide says it.
#[tokio::test]
async fn c12_the_commands_of_the_guide_bring_everything_back() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    write(&folder.join("committed.txt"), "committed\n");
    head.commit(CommitRequest::new("work")).await.unwrap();
    write(&folder.join("README.md"), "staged\n");
    git(&folder, &["add", "README.md"]);
    write(&folder.join("README.md"), "staged, then changed\n");
    write(&folder.join("untracked.txt"), "untracked\n");
    std::fs::remove_file(folder.join("src/two.rs")).unwrap();
    let status = porcelain(&folder);
    let checkpoint = head.checkpoint_labelled("a label").await.unwrap();
    let reference = checkpoint.location.clone().unwrap();
    let branch = head.descriptor().branch.clone().unwrap();
    let kept = scene.head("two").await;
    let place = scene.folder(&kept);
    let variables = [
        ("BRANCH", branch.as_str()),
        ("CHECKPOINT", reference.as_str()),
        ("FOLDER", folder.to_str().unwrap()),
    ];
    let blocks = blocks();
    let [look, remove] = blocks.as_slice() else {
        panic!("{blocks:?}");
    };
    let printed = run(look, project, &variables);
    let says = |command: &str, words: &str| {
        let found = printed
            .iter()
            .any(|(line, printed)| line.starts_with(command) && printed.contains(words));
        assert!(found, "{command} says {words}: {printed:?}");
    };
    says("git for-each-ref", &reference);
    says("git worktree list", folder.to_str().unwrap());
    says("git log --oneline", "work");
    says("git diff main...", "+committed");
    says("git log -1 --format=%B", "a label");
    says("git diff \"$CHECKPOINT^1\" \"$CHECKPOINT\"", "+untracked");
    says("git diff \"$CHECKPOINT^1\" \"$CHECKPOINT^2\"", "+staged\n");
    says(
        "git diff \"$CHECKPOINT^2\" \"$CHECKPOINT\"",
        "+staged, then changed",
    );
    says("git cat-file", "everything was kept");
    let shown = read(&project.join("README.from-checkpoint"));
    assert_eq!(shown, "staged, then changed\n");
    let rescued = project.with_file_name("rescued");
    assert_eq!(porcelain(&rescued), status, "as it was in the head");
    assert_eq!(read(&rescued.join("untracked.txt")), "untracked\n");
    assert_eq!(git(project, &["show", "mine:untracked.txt"]), "untracked");

    std::fs::remove_file(project.join("README.from-checkpoint")).unwrap();
    run(remove, project, &variables);
    assert!(!folder.exists());
    assert!(
        !try_git(project, &["rev-parse", "-q", "--verify", &branch])
            .status
            .success()
    );
    assert!(
        !try_git(project, &["rev-parse", "-q", "--verify", &reference])
            .status
            .success()
    );
    assert!(porcelain(&place).is_empty(), "the other head is as it was");
    git(project, &["fsck", "--strict"]);
}
