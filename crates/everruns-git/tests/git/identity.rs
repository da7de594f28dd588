//! Who commits are made by, where the user's own files include others.
//!
//! The home folder is one of a process, so the commits are made by a child: this test binary itself.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use everruns_core::workspace::{CommitRequest, Workspace};
use everruns_git::LocalGitWorkspace;

use crate::fixture::{git, make_executable, write};

const PROJECT: &str = "EVERRUNS_GIT_IDENTITY_PROJECT";
const STATE: &str = "EVERRUNS_GIT_IDENTITY_STATE";

/// Not a test of its own: makes a commit in a new head, in the name that the user has configured.
#[tokio::test]
async fn child() {
    let Ok(project) = std::env::var(PROJECT) else {
        return;
    };
    let backend = LocalGitWorkspace::new(std::env::var(STATE).unwrap()).unwrap();
    let workspace = Workspace::open(Arc::new(backend), project).await.unwrap();
    let head = workspace.head("one").create().await.unwrap();
    let folder = PathBuf::from(std::env::var(STATE).unwrap()).join("worktrees");
    let folder = folder
        .join(workspace.id().as_str())
        .join(head.id().as_str());
    write(&folder.join("work.md"), "work\n");
    head.status().await.unwrap();
    head.commit(CommitRequest::new("ours")).await.unwrap();
}

/// Runs `command` as a user at home in `home`.
fn at_home(command: &mut Command, home: &Path) -> String {
    let output = command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", home)
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{words}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// The author and the committer that git and we write, for a project at `path`.
#[expect(
    clippy::disallowed_methods,
    reason = "the user's home is a matter of a process's environment"
)]
fn compare(home: &Path, path: &Path, change: &dyn Fn(&Path)) -> String {
    let state = tempfile::tempdir().unwrap();
    let state = std::fs::canonicalize(state.path()).unwrap();
    std::fs::create_dir_all(path).unwrap();
    git(path, &["init", "-q", "-b", "main"]);
    write(&path.join("a.txt"), "a\n");
    git(path, &["add", "-A"]);
    git(path, &["commit", "-qm", "first"]);
    change(path);
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["identity::child", "--exact", "--nocapture"]);
    // The environment is emptied first, so these come after.
    let output = child
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", home)
        .env(PROJECT, path)
        .env(STATE, state.join("state"))
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{words}");
    let ran = home.with_file_name("ran");
    assert!(!ran.exists(), "no program that is included runs");
    let branch = git(
        path,
        &["branch", "--list", "--format=%(refname)", "everruns/*"],
    );
    let format = "--format=%an <%ae>, %cn <%ce>";
    let ours = git(path, &["log", "-1", format, &branch]);
    let folder = git(path, &["worktree", "list", "--porcelain"]);
    let folder = folder
        .lines()
        .filter_map(|line| line.strip_prefix("worktree "))
        .next_back()
        .unwrap()
        .to_owned();
    let in_head = || {
        let mut command = Command::new("git");
        command.current_dir(&folder);
        command
    };
    at_home(
        in_head().args([
            "-c",
            "core.hooksPath=/none",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "git's",
        ]),
        home,
    );
    let gits = at_home(in_head().args(["log", "-1", format]), home);
    assert_eq!(ours, gits, "{}", path.display());
    // Git does run what the user names.
    drop(std::fs::remove_file(ran));
    ours
}

/// `include` and `includeIf` in the user's own files are followed for names and addresses, as git does it.
#[test]
fn h20_identities_are_included_as_git_does_it_and_programs_are_not() {
    let root = tempfile::tempdir().unwrap();
    let root = std::fs::canonicalize(root.path()).unwrap();
    let home = root.join("home");
    let program = root.join("program");
    write(
        &program,
        &format!("#!/bin/sh\ntouch {}/ran\ncat\n", root.display()),
    );
    make_executable(&program);
    write(
        &home.join(".gitconfig"),
        "[user]\n\tname = Before\n\temail = before@example.org\n\
         [include]\n\tpath = more/always\n\
         [includeIf \"gitdir:~/work/\"]\n\tpath = ~/more/work\n\
         [includeIf \"gitdir:**/closed/\"]\n\tpath = more/closed\n\
         [includeIf \"onbranch:everruns/**\"]\n\tpath = more/branch\n\
         [include]\n\tpath = more/missing\n\
         [author]\n\tname = After\n",
    );
    let evil = program.to_str().unwrap();
    write(
        &home.join("more/always"),
        &format!(
            "[user]\n\tname = Included\n[filter \"evil\"]\n\tclean = {evil}\n\tsmudge = {evil}\n\tprocess = {evil}\n"
        ),
    );
    write(
        &home.join("more/work"),
        "[user]\n\temail = work@example.org\n[include]\n\tpath = deeper\n",
    );
    write(&home.join("more/deeper"), "[committer]\n\tname = Deeper\n");
    write(&home.join("more/closed"), "[author]\n\tname = Closed\n");
    write(
        &home.join("more/branch"),
        "[committer]\n\temail = branch@example.org\n",
    );
    let none: &dyn Fn(&Path) = &|_| {};
    let ours = compare(&home, &root.join("plain"), none);
    assert_eq!(
        ours,
        "After <before@example.org>, Included <branch@example.org>"
    );
    let ours = compare(&home, &home.join("work/project"), none);
    assert_eq!(
        ours,
        "After <work@example.org>, Deeper <branch@example.org>"
    );
    compare(&home, &root.join("closed/project"), none);
    // The repository says more than the user's files, but what it includes is a stranger's word.
    let ours = compare(&home, &root.join("own"), &|path| {
        git(path, &["config", "user.name", "Own"]);
        write(&path.join(".gitattributes"), "*.md filter=evil\n");
        git(path, &["add", "-A"]);
        git(
            path,
            &[
                "-c",
                "core.attributesFile=/dev/null",
                "commit",
                "-qm",
                "attributes",
            ],
        );
    });
    assert_eq!(ours, "After <before@example.org>, Own <branch@example.org>");
}
