//! Repositories that were prepared to do harm.

use std::path::{Path, PathBuf};
use std::process::Command;

use everruns_core::workspace::{CommitRequest, DiffRequest, UpdateOutcome, WorkspaceError};
use everruns_git::{GitError, LocalGitWorkspace};

use crate::crash::killed;
use crate::fixture::{
    Repository, Scene, backend, git, make_executable, porcelain, read, try_git, write,
};

/// Names a program in every way that a repository can, each leaving a file in `marks` when it runs.
fn trap(repository: &Repository, marks: &Path) {
    let project = &repository.path;
    std::fs::create_dir_all(marks).unwrap();
    let program = |name: &str| {
        let path = marks.with_file_name(format!("trap-{name}"));
        write(
            &path,
            &format!("#!/bin/sh\ntouch {}/{name}\ncat\n", marks.display()),
        );
        make_executable(&path);
        path.to_str().unwrap().to_owned()
    };
    let hooks = project.join(".git/hooks");
    let all = [
        "post-checkout",
        "pre-commit",
        "post-commit",
        "reference-transaction",
        "post-index-change",
        "pre-auto-gc",
        "post-rewrite",
        "fsmonitor-watchman",
        "post-merge",
        "prepare-commit-msg",
        "commit-msg",
        "pre-merge-commit",
        "pre-rebase",
        "pre-applypatch",
        "post-applypatch",
        "applypatch-msg",
        "push-to-checkout",
        "update",
        "pre-push",
        "sendemail-validate",
    ];
    for hook in all {
        std::fs::copy(program(&format!("hook-{hook}")), hooks.join(hook)).unwrap();
    }
    write(
        &project.join(".gitattributes"),
        "*.md filter=evil diff=evil merge=evil\n",
    );
    repository.commit_all("attributes");
    write(
        &project.join(".git/info/attributes"),
        "*.rs filter=info diff=evil merge=evil\n",
    );
    let config = |key: &str, name: &str| git(project, &["config", key, &program(name)]);
    config("filter.evil.clean", "clean");
    config("filter.evil.smudge", "smudge");
    config("filter.info.process", "process");
    config("filter.info.clean", "info-clean");
    config("filter.info.smudge", "info-smudge");
    config("diff.evil.textconv", "textconv");
    config("diff.evil.command", "diff-command");
    config("diff.external", "diff-external");
    config("merge.evil.driver", "merge-driver");
    config("core.fsmonitor", "fsmonitor");
    config("core.sshCommand", "ssh");
    config("core.pager", "pager");
    config("core.editor", "editor");
    config("credential.helper", "credential");
    config("gpg.program", "gpg");
    config("alias.status", "alias");
    config("alias.worktree", "alias-worktree");
    config("core.askPass", "ask-pass");
    config("core.gitProxy", "proxy");
    config("core.alternateRefsCommand", "alternates");
    config("sequence.editor", "sequence-editor");
    config("interactive.diffFilter", "diff-filter");
    config("uploadpack.packObjectsHook", "pack-objects");
    config("gpg.ssh.program", "gpg-ssh");
    config("trailer.sign.command", "trailer");
    config("remote.origin.uploadpack", "uploadpack");
    config("remote.origin.vcs", "vcs");
    config("submodule.vendor.update", "submodule-update");
    // Attributes of a commit, and of a file outside.
    write(
        &project.join("attributes/.gitattributes"),
        "* filter=evil diff=evil merge=evil\n",
    );
    repository.commit_all("more attributes");
    let tree = git(project, &["rev-parse", "HEAD:attributes"]);
    git(project, &["config", "attr.tree", &tree]);
    let outside = marks.with_file_name("attributes");
    write(&outside, "* filter=evil diff=evil merge=evil\n");
    git(
        project,
        &["config", "core.attributesFile", outside.to_str().unwrap()],
    );
    let included = marks.with_file_name("included");
    write(
        &included,
        &format!(
            "[filter \"evil\"]\n\trequired = true\n\tclean = {}\n",
            program("included")
        ),
    );
    git(
        project,
        &["config", "include.path", included.to_str().unwrap()],
    );
    git(
        project,
        &[
            "config",
            "includeIf.onbranch:**.path",
            included.to_str().unwrap(),
        ],
    );
    git(project, &["config", "commit.gpgSign", "true"]);
    git(
        project,
        &["config", "core.hooksPath", hooks.to_str().unwrap()],
    );
    git(project, &["config", "extensions.worktreeConfig", "true"]);
    write(
        &project.join(".git/config.worktree"),
        &format!(
            "[filter \"evil\"]\n\tsmudge = {}\n[core]\n\tfsmonitor = {}\n",
            program("wt-smudge"),
            program("wt-fsmonitor")
        ),
    );
}

/// Proves H20, H21 and H22: no program that a repository names is run, by any operation.
#[tokio::test]
async fn h20_h21_h22_no_program_of_a_repository_runs() {
    let root = tempfile::tempdir().unwrap();
    let repository = Repository::small(&root.path().join("project"));
    let marks = root.path().join("marks");
    trap(&repository, &marks);
    let ran = || -> Vec<PathBuf> {
        std::fs::read_dir(&marks)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect()
    };
    // The traps are set: Git itself runs into them.
    write(&repository.path.join("README.md"), "changed\n");
    for args in [&["status"][..], &["diff"], &["commit", "-qam", "trapped"]] {
        drop(try_git(&repository.path, args));
    }
    let names: Vec<String> = ran()
        .iter()
        .map(|mark| mark.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    for name in [
        "clean",
        "hook-pre-commit",
        "diff-command",
        "gpg",
        "wt-fsmonitor",
    ] {
        assert!(
            names.iter().any(|ran| ran == name),
            "{name} is no trap: {names:?}"
        );
    }
    for mark in ran() {
        std::fs::remove_file(mark).unwrap();
    }
    let scene = Scene::around(root, repository);
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    write(&folder.join("README.md"), "changed\n");
    write(&folder.join("src/lib.rs"), "changed\n");
    write(&folder.join("new.md"), "new\n");
    head.status().await.unwrap();
    head.diff().await.unwrap();
    let checkpoint = head.checkpoint().await.unwrap();
    write(&folder.join("README.md"), "changed again\n");
    let fork = head.fork("fork").await.unwrap();
    head.diff_since(&checkpoint).await.unwrap();
    head.restore(&checkpoint).await.unwrap();
    let branch = fork.descriptor().branch.clone().unwrap();
    fork.destroy().await.unwrap();
    git(
        &scene.repository.path,
        &[
            "-c",
            "core.hooksPath=/nonexistent",
            "branch",
            "target",
            &branch,
        ],
    );
    head.merge_into("target").await.unwrap();
    head.patch(DiffRequest::default()).await.unwrap();
    head.commit(CommitRequest::new("work")).await.unwrap();
    let other = scene.head("other").await;
    write(&scene.folder(&other).join("README.md"), "changed here\n");
    other.commit(CommitRequest::new("other")).await.unwrap();
    let own = head.descriptor().branch.clone().unwrap();
    let outcome = other.update_from(own.clone()).await.unwrap();
    assert!(matches!(outcome, UpdateOutcome::Conflicts(_)));
    // The files of these types need a filter that isn't run.
    let refused = head.merge_into("main").await.unwrap_err();
    assert!(matches!(refused, WorkspaceError::BranchInUse { .. }));
    // Forward, with ignored files, and everything that looks after heads.
    let main = git(&scene.repository.path, &["rev-parse", "main"]);
    let ahead = scene.head("ahead").await;
    write(&scene.folder(&ahead).join("notes.md"), "notes\n");
    ahead.commit(CommitRequest::new("ahead")).await.unwrap();
    let behind = scene.workspace().await.head("behind").from_revision(main);
    write(&scene.repository.path.join("cache.log"), "ignored\n");
    let behind = behind.include_ignored(["*.log"]).create().await.unwrap();
    assert_eq!(behind.included_ignored().await.unwrap().included.len(), 1);
    let ahead_branch = ahead.descriptor().branch.clone().unwrap();
    let outcome = behind.update_from(ahead_branch).await.unwrap();
    assert!(matches!(outcome, UpdateOutcome::FastForwarded { .. }));
    write(&scene.folder(&behind).join("README.md"), "behind\n");
    let kept = behind.checkpoint().await.unwrap();
    write(&scene.folder(&behind).join("README.md"), "still behind\n");
    behind.plan_restore(&kept).await.unwrap();
    behind.fork_from("then", &kept).await.unwrap();
    behind.prune_checkpoints(1).await.unwrap();
    behind.archive().await.unwrap();
    let workspace = behind.workspace_id();
    scene
        .backend
        .unarchive_head(workspace, behind.id())
        .await
        .unwrap();
    killed(&scene, "restore", "git.restore.after-files");
    scene.reopened();
    scene.backend.doctor(true).await.unwrap();
    // Where no attribute names a filter, a merge writes into the user's own folder.
    for (key, file) in [
        ("core.attributesFile", ".git/info/attributes"),
        ("attr.tree", ".git/info/sparse-checkout"),
    ] {
        git(&scene.repository.path, &["config", "--unset", key]);
        drop(std::fs::remove_file(scene.repository.path.join(file)));
    }
    write(&scene.repository.path.join("README.md"), "# Project\n");
    let plain = scene.head("plain").await;
    write(&scene.folder(&plain).join("plain.txt"), "plain\n");
    plain.merge_into("main").await.unwrap();
    assert_eq!(read(&scene.repository.path.join("plain.txt")), "plain\n");
    head.archive().await.unwrap();
    head.destroy().await.unwrap();
    assert_eq!(ran(), Vec::<PathBuf>::new());
}

/// The opt-in is one: with it, a repository's filters run.
#[tokio::test]
async fn h20_filters_run_when_the_application_says_so() {
    let root = tempfile::tempdir().unwrap();
    let repository = Repository::small(&root.path().join("project"));
    write(&repository.path.join(".gitattributes"), "*.up filter=up\n");
    write(&repository.path.join("a.up"), "text\n");
    repository.commit_all("filtered");
    git(
        &repository.path,
        &["config", "filter.up.smudge", "tr a-z A-Z"],
    );
    git(
        &repository.path,
        &["config", "filter.up.clean", "tr A-Z a-z"],
    );
    let scene = Scene::around(root, repository);
    let state = scene.root.path().join("trusting");
    let trusting = LocalGitWorkspace::builder(&state)
        .user_settings(false)
        .run_filters(true)
        .build()
        .unwrap();
    let locator = scene.repository.path.to_str().unwrap();
    let workspace =
        everruns_core::workspace::Workspace::open(std::sync::Arc::new(trusting), locator)
            .await
            .unwrap();
    let head = workspace.head("one").create().await.unwrap();
    let folder = std::fs::canonicalize(&state).unwrap().join("worktrees");
    let folder = folder
        .join(head.workspace_id().as_str())
        .join(head.id().as_str());
    assert_eq!(std::fs::read(folder.join("a.up")).unwrap(), b"TEXT\n");
    assert!(!head.status().await.unwrap().dirty);
    let careful = scene.head("careful").await;
    assert_eq!(
        std::fs::read(scene.folder(&careful).join("a.up")).unwrap(),
        b"text\n"
    );
}

/// The opt-in is for filters alone: with it, no other program that a repository names runs, merge drivers included.
#[tokio::test]
async fn h20_h21_h22_with_filters_allowed_nothing_else_runs() {
    let root = tempfile::tempdir().unwrap();
    let repository = Repository::small(&root.path().join("project"));
    let lines = |at: usize, text: &str| {
        let line = |number: usize| match number {
            _ if number == at => format!("{text}\n"),
            _ => format!("line {number}\n"),
        };
        (0..40).map(line).collect::<String>()
    };
    write(&repository.path.join("both.md"), &lines(40, ""));
    write(&repository.path.join("src/both.rs"), &lines(40, ""));
    repository.commit_all("lines");
    let marks = root.path().join("marks");
    trap(&repository, &marks);
    let project = repository.path.clone();
    // It doesn't speak the protocol, and so no file of its type could be checked out.
    git(&project, &["config", "--unset", "filter.info.process"]);
    let quiet = |args: &[&str]| {
        let overrides = ["core.hooksPath=/nonexistent", "commit.gpgSign=false"];
        let overrides = overrides.iter().flat_map(|value| ["-c", value]);
        git(
            &project,
            &overrides.chain(args.iter().copied()).collect::<Vec<_>>(),
        )
    };
    quiet(&["branch", "theirs"]);
    // Making the repository has sprung some.
    std::fs::remove_dir_all(&marks).unwrap();
    std::fs::create_dir(&marks).unwrap();
    let state = root.path().join("trusting");
    let trusting = LocalGitWorkspace::builder(&state)
        .user_settings(false)
        .run_filters(true)
        .build()
        .unwrap();
    let locator = project.to_str().unwrap();
    let workspace =
        everruns_core::workspace::Workspace::open(std::sync::Arc::new(trusting), locator)
            .await
            .unwrap();
    let folder = |head: &everruns_core::workspace::WorkspaceHead| {
        let worktrees = std::fs::canonicalize(&state).unwrap().join("worktrees");
        let worktrees = worktrees.join(workspace.id().as_str());
        worktrees.join(head.id().as_str())
    };
    let mine = workspace.head("mine").create().await.unwrap();
    let other = workspace.head("other").create().await.unwrap();
    for (head, at, text) in [(&mine, 2, "mine"), (&other, 30, "other")] {
        write(&folder(head).join("both.md"), &lines(at, text));
        write(&folder(head).join("src/both.rs"), &lines(at, text));
        head.diff().await.unwrap();
        head.patch(DiffRequest::default()).await.unwrap();
        head.commit(CommitRequest::new("work")).await.unwrap();
    }
    mine.merge_into("theirs").await.unwrap();
    let merged = other.merge_into("theirs").await.unwrap();
    assert!(
        matches!(
            merged,
            everruns_core::workspace::MergeOutcome::Merged { .. }
        ),
        "{merged:?}"
    );
    let updated = other.update_from("theirs").await.unwrap();
    assert!(matches!(updated, UpdateOutcome::FastForwarded { .. }));
    let branch = other.descriptor().branch.clone().unwrap();
    let updated = mine.update_from(branch).await.unwrap();
    assert!(!matches!(updated, UpdateOutcome::Conflicts(_)));
    let filters = [
        "clean",
        "smudge",
        "process",
        "info-clean",
        "info-smudge",
        "included",
        "wt-smudge",
    ];
    let ran: Vec<String> = std::fs::read_dir(&marks)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(ran.iter().any(|name| filters.contains(&name.as_str())));
    let others = ran.iter().filter(|name| !filters.contains(&name.as_str()));
    assert_eq!(others.collect::<Vec<_>>(), Vec::<&String>::new());
}

/// H29: a branch of the wanted name is never taken over.
#[tokio::test]
async fn h29_branches_of_others_are_untouched() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    git(project, &["branch", "one"]);
    git(project, &["branch", "everruns/one-theirs", "HEAD~1"]);
    let head = scene.head("one").await;
    let branch = head.descriptor().branch.clone().unwrap();
    assert!(branch.starts_with("everruns/one-") && branch != "everruns/one-theirs");
    assert_eq!(
        git(project, &["rev-parse", "everruns/one-theirs"]),
        git(project, &["rev-parse", "main~1"])
    );

    let blocked = Scene::new();
    git(&blocked.repository.path, &["branch", "everruns"]);
    let failure = blocked
        .workspace()
        .await
        .head("x")
        .create()
        .await
        .unwrap_err();
    let WorkspaceError::Provider { source, .. } = &failure else {
        panic!("{failure:?}")
    };
    assert!(
        matches!(
            source.downcast_ref(),
            Some(GitError::ReferenceBlocked { by, .. }) if by == "refs/heads/everruns"
        ),
        "{failure:?}"
    );
    assert_eq!(
        git(&blocked.repository.path, &["branch", "--list"])
            .lines()
            .count(),
        2
    );
    assert_eq!(
        git(&blocked.repository.path, &["worktree", "list"])
            .lines()
            .count(),
        1
    );
}

/// H29a: variables for Git in our own environment have no effect.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the variables must be in a process's environment from its start"
)]
fn h29a_git_variables_in_the_environment_have_no_effect() {
    let scene = Scene::new();
    let other = Repository::small(&scene.root.path().join("other"));
    let git_dir = other.path.join(".git");
    let before = crate::fixture::snapshot(&other.path);
    let program = scene.root.path().join("program");
    let ran = scene.root.path().join("ran");
    write(
        &program,
        &format!("#!/bin/sh\ntouch {}\ncat\n", ran.display()),
    );
    make_executable(&program);
    // Hooks and drivers have names to be found by.
    let hooks = scene.root.path().join("hooks");
    for hook in [
        "reference-transaction",
        "post-index-change",
        "post-checkout",
        "pre-commit",
    ] {
        write(&hooks.join(hook), &read(&program));
        make_executable(&hooks.join(hook));
    }
    write(
        &scene.repository.path.join(".git/info/attributes"),
        "* filter=evil diff=evil merge=evil\n",
    );
    let named = program.to_str().unwrap();
    let settings = [
        ("core.bare", "true"),
        ("core.fsmonitor", named),
        ("core.hooksPath", hooks.to_str().unwrap()),
        ("core.sshCommand", named),
        ("core.pager", named),
        ("core.editor", named),
        ("diff.external", named),
        ("diff.evil.command", named),
        ("diff.evil.textconv", named),
        ("merge.evil.driver", named),
        ("filter.evil.clean", named),
        ("filter.evil.smudge", named),
        ("gpg.program", named),
        ("commit.gpgSign", "true"),
    ];
    let mut variables = vec![("GIT_CONFIG_COUNT".to_owned(), settings.len().to_string())];
    for (number, (key, value)) in settings.iter().enumerate() {
        variables.push((format!("GIT_CONFIG_KEY_{number}"), (*key).to_owned()));
        variables.push((format!("GIT_CONFIG_VALUE_{number}"), (*value).to_owned()));
    }
    // They are traps: Git itself, with all of them but the first, runs into them.
    let trapped = Command::new("git")
        .args(["status", "--porcelain"])
        .current_dir(&scene.repository.path)
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .env("GIT_CONFIG_VALUE_0", "false")
        .output()
        .unwrap();
    assert!(ran.exists(), "{}", String::from_utf8_lossy(&trapped.stderr));
    std::fs::remove_file(&ran).unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["hostile::with_variables", "--exact", "--nocapture"])
        .env("EVERRUNS_GIT_TEST_PROJECT", &scene.repository.path)
        .env("GIT_DIR", &git_dir)
        .env("GIT_COMMON_DIR", &git_dir)
        .env("GIT_WORK_TREE", &other.path)
        .env("GIT_INDEX_FILE", git_dir.join("index"))
        .env("GIT_OBJECT_DIRECTORY", git_dir.join("objects"))
        .env("GIT_NAMESPACE", "elsewhere")
        .envs(variables)
        .env("GIT_CEILING_DIRECTORIES", scene.root.path())
        .env("GIT_CONFIG_GLOBAL", "/nonexistent")
        .env("GIT_CONFIG_SYSTEM", "/nonexistent")
        .env("GIT_CONFIG_PARAMETERS", "'core.bare=true'")
        .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", git_dir.join("objects"))
        .env("GIT_ATTR_SOURCE", "nothing")
        .env("GIT_DEFAULT_HASH", "sha256")
        .env("GIT_DEFAULT_REF_FORMAT", "reftable")
        .env("GIT_SHALLOW_FILE", other.path.join("README.md"))
        .env("GIT_REPLACE_REF_BASE", "refs/heads")
        .env("GIT_GRAFT_FILE", other.path.join("README.md"))
        .env("GIT_EXTERNAL_DIFF", &program)
        .env("GIT_SSH_COMMAND", &program)
        .env("GIT_EDITOR", &program)
        .env("GIT_PAGER", &program)
        .env("GIT_AUTHOR_NAME", "Nobody")
        .env("GIT_AUTHOR_EMAIL", "nobody@example.org")
        .env("GIT_COMMITTER_NAME", "Nobody")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(crate::fixture::snapshot(&other.path), before);
    assert_eq!(git(&other.path, &["worktree", "list"]).lines().count(), 1);
    assert_eq!(git(&other.path, &["branch", "--list"]).lines().count(), 1);
    assert!(!ran.exists());
    assert_eq!(
        git(&scene.repository.path, &["worktree", "list"])
            .lines()
            .count(),
        2
    );
    let log = ["log", "-1", "--format=%an %cn %s", "--branches=everruns/*"];
    let made = git(&scene.repository.path, &log);
    assert_eq!(
        made, "A User A User work",
        "names come from the configuration"
    );
}

/// Not a test of its own: what the child of the test above runs.
#[tokio::test]
async fn with_variables() {
    let Ok(project) = std::env::var("EVERRUNS_GIT_TEST_PROJECT") else {
        return;
    };
    let state = Path::new(&project).with_file_name("state");
    let locator = format!("{project}/src");
    let workspace = everruns_core::workspace::Workspace::open(backend(&state), locator)
        .await
        .unwrap();
    let head = workspace.head("one").create().await.unwrap();
    let folder = std::fs::canonicalize(&state).unwrap().join("worktrees");
    let folder = folder
        .join(workspace.id().as_str())
        .join(head.id().as_str());
    write(&folder.join("new.txt"), "new\n");
    assert_eq!(head.status().await.unwrap().entries.len(), 1);
    let checkpoint = head.checkpoint().await.unwrap();
    head.diff().await.unwrap();
    head.fork("two").await.unwrap().destroy().await.unwrap();
    head.restore(&checkpoint).await.unwrap();
    write(&folder.join("new.txt"), "changed\n");
    head.commit(CommitRequest::new("work")).await.unwrap();
    // `info/attributes` of the repository names a filter for every file, and it isn't run.
    let refused = head.merge_into("main").await.unwrap_err();
    assert!(matches!(refused, WorkspaceError::BranchInUse { .. }));
    std::fs::remove_file(Path::new(&project).join(".git/info/attributes")).unwrap();
    head.merge_into("main").await.unwrap();
}

/// H26: repositories of other kinds.
#[tokio::test]
async fn h26_bare_shallow_detached_and_sha256_repositories() {
    let root = tempfile::tempdir().unwrap();
    let source = Repository::small(&root.path().join("source"));
    let at = |name: &str| root.path().join(name);
    let url = format!("file://{}", source.path.display());
    git(root.path(), &["clone", "-q", "--bare", &url, "bare.git"]);
    git(root.path(), &["clone", "-q", "--depth=1", &url, "shallow"]);
    git(root.path(), &["clone", "-q", &url, "detached"]);
    git(&at("detached"), &["checkout", "-q", "--detach"]);
    git(
        root.path(),
        &[
            "init",
            "-q",
            "-b",
            "main",
            "--object-format=sha256",
            "sha256",
        ],
    );
    write(&at("sha256/a.txt"), "a\n");
    let sha256 = Repository {
        path: std::fs::canonicalize(at("sha256")).unwrap(),
    };
    sha256.commit_all("first");
    let state = at("state");
    let backend = backend(&state);
    for name in ["bare.git", "shallow", "detached", "sha256"] {
        let locator = at(name).to_str().unwrap().to_owned();
        let workspace =
            everruns_core::workspace::Workspace::open(std::sync::Arc::clone(&backend), locator)
                .await
                .unwrap();
        assert_eq!(workspace.name(), name.trim_end_matches(".git"));
        let head = workspace.head("one").create().await.unwrap();
        let folder = std::fs::canonicalize(&state).unwrap().join("worktrees");
        let folder = folder
            .join(workspace.id().as_str())
            .join(head.id().as_str());
        write(&folder.join("new.txt"), "new\n");
        assert_eq!(porcelain(&folder), ["?? new.txt"], "{name}");
        let status = head.status().await.unwrap();
        assert_eq!(status.entries.len(), 1, "{name}");
        assert_eq!(
            !status.degraded.is_empty(),
            name == "shallow",
            "{:?}",
            status.degraded
        );
        let fork = head.fork("fork").await.unwrap();
        assert_eq!(
            fork.status().await.unwrap().entries,
            status.entries,
            "{name}"
        );
        head.destroy().await.unwrap();
    }
}

/// H40: a tree with names that would reach Git's own folder is not checked out.
#[tokio::test]
async fn h40_trees_with_hostile_names_are_refused() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    let blob = git(project, &["rev-parse", "HEAD:README.md"]);
    for name in [".git", ".GIT", "git~1", ".git ", "..", ".g\u{200c}it"] {
        let line = format!("100644 blob {blob}\t{name}");
        let file = scene.root.path().join("tree");
        write(&file, &format!("{line}\0"));
        let made = shell(project, &format!("git mktree -z < {}", file.display()));
        let commit = git(project, &["commit-tree", "-m", "hostile", &made]);
        let outcome = scene
            .workspace()
            .await
            .head("hostile")
            .from_revision(&commit)
            .create()
            .await;
        assert!(outcome.is_err(), "{name:?}");
        assert!(scene.workspace().await.heads().await.unwrap().is_empty());
    }
    assert_eq!(git(project, &["worktree", "list"]).lines().count(), 1);
}

#[expect(
    clippy::disallowed_methods,
    reason = "the real git is given its input by a shell"
)]
fn shell(folder: &Path, line: &str) -> String {
    let output = Command::new("sh")
        .args(["-c", line])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout)
        .unwrap()
        .trim_end()
        .to_owned()
}
