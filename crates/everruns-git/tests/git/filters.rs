//! Filters such as those of Git LFS, with a stand-in for its program, beside the real `git`.
//!
//! The stand-in is this test binary itself: it speaks Git's protocol for filters that run for long, and that for filters
//! that are started anew for every file.

use std::collections::BTreeMap;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use everruns_core::workspace::{CommitRequest, Workspace, WorkspaceError, WorkspaceHead};
use everruns_git::LocalGitWorkspace;
use tempfile::TempDir;

use crate::fixture::{
    Repository, Scene, git, git_raw, make_executable, porcelain, read, told, try_git, write,
};

const MODE: &str = "EVERRUNS_GIT_TEST_FILTER";
const STORE: &str = "EVERRUNS_GIT_TEST_FILTER_STORE";

/// What every pointer starts with.
const POINTER: &str = "version https://git-lfs.github.com/spec/v1\n";

/// How a repository names its filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    /// As one process for all files.
    Process,
    /// As one command for each file.
    Commands,
}

/// A repository whose files named `*.bin` are kept by the stand-in.
struct Lfs {
    root: TempDir,
    project: PathBuf,
    store: PathBuf,
}

impl Lfs {
    fn new(named: Named) -> Self {
        let root = tempfile::tempdir().unwrap();
        let repository = Repository::small(&root.path().join("project"));
        let project = repository.path.clone();
        let store = root.path().join("store");
        std::fs::create_dir(&store).unwrap();
        let program = root.path().join("stand-in");
        // What the test harness prints goes elsewhere; the answers go where the filter's output is read.
        let script = format!(
            "#!/bin/sh\n{MODE}=$1 {STORE}='{}' exec '{}' filters::stand_in --exact --nocapture 3>&1 1>/dev/null\n",
            store.display(),
            std::env::current_exe().unwrap().display()
        );
        write(&program, &script);
        make_executable(&program);
        let program = program.to_str().unwrap();
        match named {
            Named::Process => config(&project, "process", &format!("{program} process")),
            Named::Commands => {
                config(&project, "clean", &format!("{program} clean"));
                config(&project, "smudge", &format!("{program} smudge"));
            }
        }
        config(&project, "required", "true");
        write(
            &project.join(".gitattributes"),
            "*.bin filter=lfs diff=lfs merge=lfs -text\n",
        );
        write(&project.join("large.bin"), &"large\n".repeat(50_000));
        write(&project.join("art/small.bin"), "small\r\n");
        write(&project.join("plain.txt"), "plain\n");
        repository.commit_all("kept elsewhere");
        let lfs = Self {
            root,
            project,
            store,
        };
        assert!(lfs.git_stores("HEAD", "large.bin").starts_with(POINTER));
        lfs.forget_calls();
        lfs
    }

    /// What is stored of `path` in a commit.
    fn git_stores(&self, commit: &str, path: &str) -> String {
        let name = format!("{commit}:{path}");
        String::from_utf8(git_raw(&self.project, &["cat-file", "blob", &name])).unwrap()
    }

    /// The commands that the stand-in was given.
    fn calls(&self) -> Vec<String> {
        let path = self.store.join("calls");
        if !path.exists() {
            return Vec::new();
        }
        let mut calls: Vec<String> = read(&path).lines().map(str::to_owned).collect();
        calls.sort();
        calls.dedup();
        calls
    }

    fn forget_calls(&self) {
        drop(std::fs::remove_file(self.store.join("calls")));
    }

    fn state(&self) -> PathBuf {
        self.root.path().join("trusting")
    }

    /// A workspace of an application that allows filters.
    async fn trusting(&self) -> Workspace {
        let backend = LocalGitWorkspace::builder(self.state())
            .user_settings(false)
            .run_filters(true)
            .build()
            .unwrap();
        Workspace::open(Arc::new(backend), self.project.to_str().unwrap())
            .await
            .unwrap()
    }

    fn folder(&self, head: &WorkspaceHead) -> PathBuf {
        std::fs::canonicalize(self.state())
            .unwrap()
            .join("worktrees")
            .join(head.workspace_id().as_str())
            .join(head.id().as_str())
    }

    /// The files as the real git checks `revision` out.
    fn checked_out_by_git(&self, revision: &str) -> BTreeMap<String, Vec<u8>> {
        let folder = TempDir::new_in(self.root.path()).unwrap();
        let path = folder.path().join("by-git");
        let added = ["worktree", "add", "-q", "--detach", path.to_str().unwrap()];
        git(&self.project, &[&added[..], &[revision]].concat());
        let found = files(&path);
        git(
            &self.project,
            &["worktree", "remove", "--force", path.to_str().unwrap()],
        );
        found
    }
}

fn config(project: &Path, key: &str, value: &str) {
    git(project, &["config", &format!("filter.lfs.{key}"), value]);
}

/// The regular files below `folder` with their bytes.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(root: &Path, folder: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_symlink() || path.ends_with(".git") {
                continue;
            }
            if path.is_dir() {
                walk(root, &path, found);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap();
                found.insert(name.to_owned(), std::fs::read(&path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(folder, folder, &mut found);
    found
}

/// Not a test of its own: what a repository's filter runs.
#[test]
fn stand_in() {
    let Ok(mode) = std::env::var(MODE) else {
        return;
    };
    let store = PathBuf::from(std::env::var_os(STORE).unwrap());
    let mut input = std::io::stdin().lock();
    let mut output = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/fd/3")
        .unwrap();
    if mode != "process" {
        let mut content = Vec::new();
        input.read_to_end(&mut content).unwrap();
        let answer = answer(&store, &mode, &content);
        output.write_all(&answer).unwrap();
        return;
    }
    assert_eq!(
        list(&mut input).unwrap(),
        ["git-filter-client", "version=2"]
    );
    say(&mut output, &["git-filter-server", "version=2"]);
    assert!(
        list(&mut input)
            .unwrap()
            .contains(&"capability=clean".to_owned())
    );
    say(&mut output, &["capability=clean", "capability=smudge"]);
    while let Some(request) = list(&mut input) {
        let value = |key: &str| request.iter().find_map(|line| line.strip_prefix(key));
        let command = value("command=").unwrap().to_owned();
        let mut content = Vec::new();
        while let Packet::Content(part) = packet(&mut input) {
            content.extend(part);
        }
        let answer = answer(&store, &command, &content);
        say(&mut output, &["status=success"]);
        for part in answer.chunks(65_516) {
            output
                .write_all(format!("{:04x}", part.len() + 4).as_bytes())
                .unwrap();
            output.write_all(part).unwrap();
        }
        output.write_all(b"0000").unwrap();
        say(&mut output, &[]);
    }
}

enum Packet {
    Content(Vec<u8>),
    EndOfList,
    EndOfAll,
}

fn packet(input: &mut impl Read) -> Packet {
    let mut length = [0; 4];
    if input.read_exact(&mut length).is_err() {
        return Packet::EndOfAll;
    }
    let length = usize::from_str_radix(std::str::from_utf8(&length).unwrap(), 16).unwrap();
    if length == 0 {
        return Packet::EndOfList;
    }
    let mut content = vec![0; length - 4];
    input.read_exact(&mut content).unwrap();
    Packet::Content(content)
}

fn list(input: &mut impl Read) -> Option<Vec<String>> {
    let mut lines = Vec::new();
    loop {
        match packet(input) {
            Packet::EndOfAll => return None,
            Packet::EndOfList => return Some(lines),
            Packet::Content(line) => {
                lines.push(String::from_utf8(line).unwrap().trim_end().to_owned());
            }
        }
    }
}

fn say(output: &mut impl std::io::Write, lines: &[&str]) {
    for line in lines {
        writeln!(output, "{:04x}{line}", line.len() + 5).unwrap();
    }
    output.write_all(b"0000").unwrap();
    output.flush().unwrap();
}

/// What the stand-in makes of `content`, noting that it was asked.
fn answer(store: &Path, command: &str, content: &[u8]) -> Vec<u8> {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut calls = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(store.join("calls"))
        .unwrap();
    calls.write_all(format!("{command}\n").as_bytes()).unwrap();
    let pointer = std::str::from_utf8(content)
        .ok()
        .and_then(|text| text.strip_prefix(POINTER)?.strip_prefix("oid sha256:"));
    match (command, pointer) {
        ("smudge", Some(rest)) => {
            let id = rest.lines().next().unwrap();
            std::fs::read(store.join(id)).unwrap()
        }
        ("clean", None) => {
            let mut hasher = DefaultHasher::new();
            content.hash(&mut hasher);
            let id = format!("{:064x}", hasher.finish());
            std::fs::write(store.join(&id), content).unwrap();
            format!("{POINTER}oid sha256:{id}\nsize {}\n", content.len()).into_bytes()
        }
        _ => content.to_vec(),
    }
}

/// Proves H27 for Git LFS, with the opt-in: what is checked out, kept and committed is what git makes of it.
#[tokio::test]
async fn h27_filters_work_everywhere_when_the_application_says_so() {
    for named in [Named::Process, Named::Commands] {
        let lfs = Lfs::new(named);
        let workspace = lfs.trusting().await;
        let head = workspace.head("one").create().await.unwrap();
        let folder = lfs.folder(&head);
        assert_eq!(
            files(&folder),
            lfs.checked_out_by_git("main"),
            "{named:?}: the files are those of git"
        );
        assert_eq!(read(&folder.join("large.bin")).len(), 300_000);
        assert!(lfs.calls().contains(&"smudge".to_owned()));
        let status = head.status().await.unwrap();
        assert!(!status.dirty, "{:?}", status.entries);
        assert!(status.degraded.is_empty(), "{:?}", status.degraded);
        assert!(porcelain(&folder).is_empty());
        // Git reads the files again, and so do we.
        write(&folder.join("large.bin"), &"large\n".repeat(50_000));
        assert!(porcelain(&folder).is_empty());
        assert!(!head.status().await.unwrap().dirty);

        write(&folder.join("large.bin"), "changed\n");
        write(&folder.join("art/new.bin"), "new\n");
        let before = porcelain(&folder);
        assert_eq!(before, ["?? art/new.bin", " M large.bin"]);
        assert_eq!(told(&head.status().await.unwrap()), before);
        let checkpoint = head.checkpoint().await.unwrap();
        for path in ["large.bin", "art/new.bin"] {
            let stored = lfs.git_stores(&checkpoint.revision, path);
            assert!(stored.starts_with(POINTER), "{named:?} {path}: {stored:?}");
        }
        let diff = head.diff().await.unwrap();
        assert_eq!(diff.files.len(), 2, "pointers are compared");

        let fork = head.fork("fork").await.unwrap();
        assert_eq!(files(&lfs.folder(&fork)), files(&folder), "{named:?}");
        assert_eq!(porcelain(&lfs.folder(&fork)), before);

        write(&folder.join("large.bin"), "wrong\n");
        std::fs::remove_file(folder.join("art/new.bin")).unwrap();
        head.restore(&checkpoint).await.unwrap();
        assert_eq!(read(&folder.join("large.bin")), "changed\n");
        assert_eq!(read(&folder.join("art/new.bin")), "new\n");
        assert_eq!(porcelain(&folder), before);

        let receipt = head.commit(CommitRequest::new("work")).await.unwrap();
        assert!(porcelain(&folder).is_empty());
        for path in ["large.bin", "art/new.bin"] {
            assert!(lfs.git_stores(&receipt.revision, path).starts_with(POINTER));
        }
        git(&lfs.folder(&fork), &["add", "-A"]);
        assert_eq!(
            git(&lfs.folder(&fork), &["write-tree"]),
            git(
                &folder,
                &["rev-parse", &format!("{}^{{tree}}", receipt.revision)]
            ),
            "{named:?}: the commit holds what git would store"
        );
        assert_eq!(files(&folder), lfs.checked_out_by_git(&receipt.revision));

        // The user's own worktree follows, its files filtered too.
        head.merge_into("main").await.unwrap();
        assert!(porcelain(&lfs.project).is_empty());
        assert_eq!(read(&lfs.project.join("large.bin")), "changed\n");
        head.destroy().await.unwrap();
        fork.destroy().await.unwrap();
    }
}

/// Proves H27 for Git LFS, without the opt-in: nothing runs, files are as stored, and `status` says so.
#[tokio::test]
async fn h27_filters_that_are_not_run_are_told() {
    for named in [Named::Process, Named::Commands] {
        let lfs = Lfs::new(named);
        let repository = Repository {
            path: lfs.project.clone(),
        };
        let scene = Scene::around(tempfile::tempdir().unwrap(), repository);
        let head = scene.head("one").await;
        let folder = scene.folder(&head);
        assert!(read(&folder.join("large.bin")).starts_with(POINTER));
        let status = head.status().await.unwrap();
        assert!(!status.dirty);
        let facts: Vec<_> = status
            .degraded
            .iter()
            .map(|fact| (fact.kind.as_str(), fact.path.as_deref()))
            .collect();
        assert_eq!(facts, [("filter-not-run", Some(".gitattributes"))]);
        write(&folder.join("plain.txt"), "changed\n");
        let checkpoint = head.checkpoint().await.unwrap();
        let fork = head.fork("fork").await.unwrap();
        assert!(read(&scene.folder(&fork).join("art/small.bin")).starts_with(POINTER));
        head.restore(&checkpoint).await.unwrap();
        let receipt = head.commit(CommitRequest::new("work")).await.unwrap();
        assert_eq!(receipt.changed, ["plain.txt"], "pointers stay as they are");
        assert_eq!(lfs.calls(), Vec::<String>::new(), "{named:?}: nothing ran");
    }
}

/// Attributes may lie in any folder, and outside the files; each place that names a filter is told.
#[tokio::test]
async fn h21_every_place_that_names_a_filter_is_told() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    write(&project.join("src/.gitattributes"), "*.rs filter=deep\n");
    write(
        &project.join("tools/.gitattributes"),
        "*.sh text\n# filter=no\n",
    );
    scene.repository.commit_all("attributes");
    write(&project.join(".git/info/attributes"), "*.md filter=info\n");
    let head = scene.head("one").await;
    write(
        &scene.folder(&head).join("src/deep/.gitattributes"),
        "*.txt filter=untracked\n",
    );
    let status = head.status().await.unwrap();
    let told: Vec<_> = status
        .degraded
        .iter()
        .map(|fact| (fact.kind.as_str(), fact.path.as_deref()))
        .collect();
    assert_eq!(
        told,
        [
            ("filter-not-run", None),
            ("filter-not-run", Some("src/.gitattributes")),
            ("filter-not-run", Some("src/deep/.gitattributes")),
        ]
    );
}

/// A filter that is required and fails is an error, as in git; never a commit of what it should have converted.
#[tokio::test]
async fn h27_a_required_filter_that_fails_is_an_error() {
    for named in [Named::Process, Named::Commands] {
        let lfs = Lfs::new(named);
        let workspace = lfs.trusting().await;
        let head = workspace.head("one").create().await.unwrap();
        let folder = lfs.folder(&head);
        write(&folder.join("large.bin"), "changed\n");
        let program = lfs.root.path().join("stand-in");
        let script = read(&program);
        write(&program, "#!/bin/sh\nexit 3\n");
        assert!(!try_git(&folder, &["add", "-A"]).status.success());

        let at = git(&folder, &["rev-parse", "HEAD"]);
        let failure = head.commit(CommitRequest::new("work")).await.unwrap_err();
        assert!(
            matches!(&failure, WorkspaceError::FilterFailed { path, .. } if path == "large.bin"),
            "{named:?}: {failure:?}"
        );
        assert_eq!(git(&folder, &["rev-parse", "HEAD"]), at);
        assert_eq!(read(&folder.join("large.bin")), "changed\n");
        let failure = head.checkpoint().await.unwrap_err();
        assert!(
            matches!(failure, WorkspaceError::FilterFailed { .. }),
            "{named:?}: {failure:?}"
        );
        let failure = workspace.head("two").create().await.unwrap_err();
        assert!(
            matches!(failure, WorkspaceError::Provider { .. }),
            "{named:?}: {failure:?}"
        );
        assert_eq!(workspace.heads().await.unwrap().len(), 1);
        assert_eq!(git(&lfs.project, &["worktree", "list"]).lines().count(), 2);

        write(&program, &script);
        make_executable(&program);
        head.commit(CommitRequest::new("work")).await.unwrap();
        assert!(lfs.git_stores("HEAD", "large.bin").starts_with(POINTER));
    }
}

const KILLED_PROJECT: &str = "EVERRUNS_GIT_TEST_KILLED_PROJECT";
const KILLED_STATE: &str = "EVERRUNS_GIT_TEST_KILLED_STATE";

/// Not a test of its own: the child that is killed while a filter runs for it.
#[tokio::test]
async fn killed_child() {
    let Ok(project) = std::env::var(KILLED_PROJECT) else {
        return;
    };
    let state = std::env::var(KILLED_STATE).unwrap();
    let backend = trusting(Path::new(&state));
    let workspace = Workspace::open(backend, project).await.unwrap();
    drop(workspace.head("one").create().await);
}

fn trusting(state: &Path) -> Arc<LocalGitWorkspace> {
    let builder = LocalGitWorkspace::builder(state).user_settings(false);
    Arc::new(builder.run_filters(true).build().unwrap())
}

/// Proves H60 for a whole group of processes that is killed at once, and for the process alone, while a filter runs: it
/// is as if the creation had never begun.
#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "the child to be killed is this test binary itself, in a group of its own"
)]
async fn h60_a_group_is_killed_while_a_filter_runs() {
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio};

    for whole_group in [true, false] {
        let root = tempfile::tempdir().unwrap();
        let repository = Repository::small(&root.path().join("project"));
        let project = repository.path.clone();
        let started = root.path().join("started");
        write(&project.join(".gitattributes"), "*.bin filter=lfs\n");
        write(&project.join("art.bin"), "art\n");
        repository.commit_all("filtered");
        let slow = format!("echo $$ > '{}'; exec sleep 60", started.display());
        config(&project, "smudge", &slow);
        let before = crate::fixture::snapshot(&project);
        let state = root.path().join("state");
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["filters::killed_child", "--exact"])
            .env(KILLED_PROJECT, &project)
            .env(KILLED_STATE, &state)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        let pid =
            |number: u32| rustix::process::Pid::from_raw(i32::try_from(number).unwrap()).unwrap();
        let mut filter = None;
        for _ in 0..1_000 {
            let told = std::fs::read(&started).unwrap_or_default();
            filter = String::from_utf8(told).unwrap().trim().parse::<u32>().ok();
            if filter.is_some() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let filter = pid(filter.expect("the filter runs"));
        let kill = rustix::process::Signal::KILL;
        if whole_group {
            rustix::process::kill_process_group(pid(child.id()), kill).unwrap();
        } else {
            child.kill().unwrap();
        }
        child.wait().unwrap();

        // The filter of a process that is gone keeps nobody from putting things right.
        config(&project, "smudge", "cat");
        let locator = project.to_str().unwrap();
        let workspace = Workspace::open(trusting(&state), locator).await.unwrap();
        assert!(workspace.heads().await.unwrap().is_empty());
        assert_eq!(git(&project, &["worktree", "list"]).lines().count(), 1);
        assert_eq!(git(&project, &["branch", "--list"]).lines().count(), 1);
        assert_eq!(std::fs::read_dir(state.join("intents")).unwrap().count(), 0);
        config(&project, "smudge", &slow);
        let changed = |name: &&String| name.as_str() != ".git/config";
        let after = crate::fixture::snapshot(&project);
        assert!(
            before
                .keys()
                .filter(changed)
                .eq(after.keys().filter(changed))
        );
        for name in before.keys().filter(changed) {
            assert_eq!(before[name], after[name], "{name}");
        }
        if !whole_group {
            rustix::process::kill_process(filter, kill).unwrap();
        }
        config(&project, "smudge", "cat");
        let head = workspace.head("one").create().await.unwrap();
        let folder = std::fs::canonicalize(&state).unwrap().join("worktrees");
        let folder = folder
            .join(workspace.id().as_str())
            .join(head.id().as_str());
        assert_eq!(read(&folder.join("art.bin")), "art\n");
    }
}
