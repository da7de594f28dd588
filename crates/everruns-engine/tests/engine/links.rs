//! Links that leave the head, through every file tool and the whole stack: seeds, policy, mounts and the disk.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use everruns_core::file_system::FileSystemError;
use everruns_core::session::{EventPayload, ToolOutcome};
use everruns_engine::{AgentBuilder, Engine, SessionError};
use everruns_fs::RootAccess;
use serde_json::{Value, json};

use crate::support::{Desk, Script, agent_of, recorded};

/// What every file outside holds; no tool may ever show it.
const SECRET: &str = "needle: a secret of the host";
/// What a model is told to do about it.
const ADVICE: &str =
    "Links that lead out of the workspace cannot be followed; use a path inside it.";

/// A head, a root beside it, and a folder outside of both, with links from the first two to the last.
struct Host {
    temp: tempfile::TempDir,
}

impl Host {
    fn new() -> Self {
        let host = Self {
            temp: tempfile::tempdir().unwrap(),
        };
        for (path, text) in [
            ("outside/secret.txt", SECRET),
            ("outside/below/secret.txt", SECRET),
            ("outside/.hidden", SECRET),
            ("head/mine.txt", "needle: mine\n"),
            ("head/deep/own.txt", "needle: own\n"),
            ("root/doc.txt", "needle: doc\n"),
        ] {
            let path = host.at(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        for (target, link) in [
            (host.at("outside/secret.txt"), "head/file.txt"),
            (host.at("outside"), "head/folder"),
            (PathBuf::from("../../outside"), "head/deep/up"),
            (PathBuf::from("folder"), "head/chain"),
            (host.at("outside/new.txt"), "head/dangling.txt"),
            (host.at("outside/secret.txt"), "root/file.txt"),
            (PathBuf::from("../outside"), "root/folder"),
        ] {
            symlink(target, host.at(link)).unwrap();
        }
        host
    }

    fn at(&self, path: &str) -> PathBuf {
        self.temp.path().join(path)
    }

    fn agent(&self, script: &Script) -> AgentBuilder {
        agent_of(script)
            .workspace(self.at("head"))
            .workspace_root("lib", self.at("root"), RootAccess::ReadWrite)
            .state_folder(self.at("state"))
            .readonly_file("RULES.md", "needle: rules\n")
            .file("deep/notes.md", "needle: notes\n")
    }

    fn desk(&self) -> Desk {
        let script = Script::default();
        let agent = self.agent(&script).build().unwrap();
        Desk::of(script, agent)
    }

    /// Every file outside, with its bytes.
    fn outside(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        gather(&self.at("outside"), &mut files);
        files
    }

    /// Makes a call that must be refused for the link in its path, and say what to do.
    async fn refused(&self, desk: &Desk, tool: &'static str, arguments: Value) {
        let (told, is_error) = self.told(desk, tool, arguments.clone()).await;
        assert!(
            is_error && told.contains(ADVICE),
            "{tool} {arguments}: {told}"
        );
    }

    /// Makes a call that may succeed, and looks at what is shown.
    async fn told(&self, desk: &Desk, tool: &'static str, arguments: Value) -> (String, bool) {
        let told = desk.call(tool, arguments.clone()).await;
        let host = self.temp.path().to_string_lossy().into_owned();
        assert!(
            !told.contains("secret of the host") && !told.contains(&host),
            "{tool} {arguments}: {told}"
        );
        let events = recorded(&desk.session).await;
        let is_error = events.iter().rev().find_map(|event| match event {
            EventPayload::ToolResult { outcome, .. } => Some(*outcome != ToolOutcome::Succeeded),
            _ => None,
        });
        (told, is_error.unwrap())
    }
}

fn gather(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            gather(&path, files);
        } else {
            files.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
}

const FILES: [&str; 2] = ["file.txt", "/roots/lib/file.txt"];
const FOLDERS: [&str; 4] = ["folder", "deep/up", "chain", "/roots/lib/folder"];

/// Proves H10 for the tools that only look.
#[tokio::test]
async fn h10_c21_no_tool_shows_what_is_behind_a_link_that_leaves() {
    let host = Host::new();
    let desk = host.desk();
    let in_folders = FOLDERS.map(|folder| format!("{folder}/secret.txt"));
    let below = FOLDERS.map(|folder| format!("{folder}/below"));
    let files = FILES.map(ToOwned::to_owned);
    for path in files.iter().chain(&in_folders) {
        host.refused(&desk, "read_file", json!({"path": path}))
            .await;
    }
    for path in FOLDERS.map(ToOwned::to_owned).iter().chain(&below) {
        let listed = json!({"path": path, "depth": 10});
        host.refused(&desk, "list_directory", listed).await;
        let found = json!({"path": path, "pattern": "*", "include_hidden": true});
        host.refused(&desk, "find_files", found).await;
        for show in ["lines", "files", "counts"] {
            let searched = json!({"path": path, "pattern": "needle", "show": show});
            host.refused(&desk, "grep", searched).await;
        }
    }
    assert_eq!(host.outside().len(), 3);
}

/// Proves H10 for searches and listings of a tree with such links in it: links are shown as links, never followed.
#[tokio::test]
async fn h10_c21_a_listing_or_search_from_the_top_follows_no_link() {
    let host = Host::new();
    let desk = host.desk();
    let listed = json!({"depth": 10});
    let (listed, _) = host.told(&desk, "list_directory", listed).await;
    assert_eq!(
        listed,
        "RULES.md (14)\nchain@\ndangling.txt@\ndeep/\ndeep/notes.md (14)\ndeep/own.txt (12)\ndeep/up@\nfile.txt@\n\
         folder@\nmine.txt (13)\n"
    );
    let listed = json!({"path": "/roots/lib", "depth": 10});
    let (listed, _) = host.told(&desk, "list_directory", listed).await;
    assert_eq!(listed, "doc.txt (12)\nfile.txt@\nfolder@\n");
    let all = json!({"pattern": "*", "include_hidden": true, "include_ignored": true});
    let (found, _) = host.told(&desk, "find_files", all.clone()).await;
    assert_eq!(
        found,
        "/workspace/RULES.md\n/workspace/deep/notes.md\n/workspace/deep/own.txt\n/workspace/mine.txt\n"
    );
    for (path, expected) in [
        (
            "/workspace",
            "/workspace/RULES.md\n/workspace/deep/notes.md\n/workspace/deep/own.txt\n/workspace/mine.txt\n",
        ),
        ("/roots/lib", "/roots/lib/doc.txt\n"),
    ] {
        let mut wanted = all.clone();
        wanted["path"] = path.into();
        wanted["pattern"] = "needle".into();
        let (lines, _) = host.told(&desk, "grep", wanted.clone()).await;
        assert_eq!(lines.lines().count(), expected.lines().count(), "{lines}");
        wanted["show"] = "files".into();
        let (files, _) = host.told(&desk, "grep", wanted).await;
        assert_eq!(files, expected);
    }
    // Where a page goes on is a path of the model's, too.
    let (shown, _) = host
        .told(
            &desk,
            "list_directory",
            json!({"depth": 3, "after": "folder/"}),
        )
        .await;
    assert!(!shown.contains("secret"), "{shown}");
    let (shown, _) = host
        .told(
            &desk,
            "grep",
            json!({"pattern": "needle", "after": "folder/below"}),
        )
        .await;
    assert!(!shown.contains("secret"), "{shown}");
}

/// Proves H10 and H11 for the tools that change.
#[tokio::test]
async fn h10_h11_c21_no_tool_changes_what_is_behind_a_link_that_leaves() {
    let host = Host::new();
    let desk = host.desk();
    let before = host.outside();
    desk.call("read_file", json!({"path": "mine.txt"})).await;
    let mut paths: Vec<String> = FILES.map(ToOwned::to_owned).into();
    for folder in FOLDERS {
        paths.push(format!("{folder}/secret.txt"));
        paths.push(format!("{folder}/below/secret.txt"));
    }
    let dangling = "dangling.txt".to_owned();
    let new = FOLDERS.map(|folder| format!("{folder}/made/new.txt"));
    for path in paths.iter().chain(&new).chain([&dangling]) {
        let write = json!({"path": path, "content": "x"});
        host.refused(&desk, "write_file", write).await;
        let edit = json!({"path": path, "edits": [{"old_text": "secret", "new_text": "x"}]});
        host.refused(&desk, "edit_file", edit).await;
    }
    let behind = paths.iter().filter(|path| path.ends_with("/secret.txt"));
    for path in behind.chain(&FOLDERS.map(|folder| format!("{folder}/below"))) {
        for recursive in [false, true] {
            let delete = json!({"path": path, "recursive": recursive});
            host.refused(&desk, "delete_file", delete).await;
        }
        for replace in [false, true] {
            let out = json!({"from": "mine.txt", "to": path, "replace": replace});
            host.refused(&desk, "move_file", out).await;
            let stolen = json!({"from": path, "to": "stolen.txt", "replace": replace});
            host.refused(&desk, "move_file", stolen).await;
        }
    }
    assert_eq!(host.outside(), before);
    assert!(!host.at("head/stolen.txt").exists());
    assert_eq!(desk.content("mine.txt").await, "needle: mine\n");
}

/// Proves H10 for the links themselves: they are entries of the head, which may be moved, replaced and deleted, and
/// what they lead to stays.
#[tokio::test]
async fn h10_a_link_that_leaves_is_moved_replaced_and_deleted_without_its_target() {
    let host = Host::new();
    let desk = host.desk();
    let before = host.outside();
    let moved = json!({"from": "folder", "to": "deep/moved"});
    let (told, is_error) = host.told(&desk, "move_file", moved).await;
    assert!(!is_error, "{told}");
    assert!(host.at("head/deep/moved").is_symlink());
    let path = json!({"path": "deep/moved/secret.txt"});
    host.refused(&desk, "read_file", path).await;
    // Across mounts a move copies: what is behind the link must not come along.
    for (from, to) in [
        ("file.txt", "/roots/lib/copied.txt"),
        ("/roots/lib/folder", "copied"),
        ("deep", "/roots/lib/deep"),
    ] {
        host.told(&desk, "move_file", json!({"from": from, "to": to}))
            .await;
    }
    let mut all = BTreeMap::new();
    for folder in ["head", "root"] {
        plain(&host.at(folder), &mut all);
    }
    for (path, bytes) in all {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(!text.contains("secret of the host"), "{}", path.display());
    }
    for link in ["chain", "dangling.txt", "/roots/lib/file.txt"] {
        let (told, is_error) = host
            .told(
                &desk,
                "delete_file",
                json!({"path": link, "recursive": true}),
            )
            .await;
        assert!(!is_error, "{told}");
    }
    assert!(!host.at("head/chain").is_symlink() && !host.at("root/file.txt").is_symlink());
    assert_eq!(host.outside(), before);
}

/// Proves H07 and H10: `move_file` keeps executable files and links on their way between the head and a root, and moves
/// nothing when one of the links would lead out of its new place.
#[tokio::test]
async fn h07_h10_move_file_keeps_modes_and_links_between_mounts() {
    let host = Host::new();
    let tools = host.at("head/tools");
    std::fs::create_dir(&tools).unwrap();
    std::fs::write(tools.join("run.sh"), "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(tools.join("run.sh"), Permissions::from_mode(0o755)).unwrap();
    symlink("run.sh", tools.join("latest")).unwrap();
    let desk = host.desk();
    let there = json!({"from": "tools", "to": "/roots/lib/tools"});
    let (told, is_error) = host.told(&desk, "move_file", there).await;
    assert!(!is_error, "{told}");
    assert!(!tools.exists());
    let moved = host.at("root/tools");
    let mode = std::fs::metadata(moved.join("run.sh"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o100, 0o100);
    assert_eq!(
        std::fs::read_link(moved.join("latest")).unwrap(),
        Path::new("run.sh")
    );
    let read = json!({"path": "/roots/lib/tools/latest"});
    let (told, is_error) = host.told(&desk, "read_file", read).await;
    assert!(!is_error && told.contains("#!/bin/sh"), "{told}");
    // This one leaves the root as it would the head.
    symlink("../../outside/secret.txt", moved.join("out")).unwrap();
    for (from, to) in [("/roots/lib/tools", "tools"), ("deep", "/roots/lib/deep")] {
        let back = json!({"from": from, "to": to});
        host.refused(&desk, "move_file", back).await;
    }
    assert!(!tools.exists() && !host.at("root/deep").exists());
    assert!(moved.join("out").is_symlink() && host.at("head/deep/up").is_symlink());
}

/// As [`gather`], without following links.
fn plain(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            plain(&path, files);
        } else {
            files.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
}

/// Proves H10 for seeds: an application's own file is not planted through such a link, and the session does not start.
#[tokio::test]
async fn h10_c21_a_seed_is_not_planted_behind_a_link_that_leaves() {
    let host = Host::new();
    let before = host.outside();
    for (path, read_only) in [
        ("folder/planted.md", false),
        ("chain/below/planted.md", false),
        ("deep/up/planted.md", true),
    ] {
        let script = Script::default();
        let agent = if read_only {
            host.agent(&script).readonly_file(path, "planted\n")
        } else {
            host.agent(&script).file(path, "planted\n")
        };
        let session = Engine::new().create(agent.build().unwrap());
        let error = session.start().await.unwrap_err();
        let refused = matches!(
            error,
            SessionError::Files {
                source: FileSystemError::Escapes { .. },
                ..
            }
        );
        assert!(refused, "{path}: {error}");
        assert!(script.requests().is_empty());
    }
    assert_eq!(host.outside(), before);
}

/// Proves H10 for a read-only seed whose folder becomes such a link: the seed is served, and nothing else of it.
#[tokio::test]
async fn h10_c21_a_read_only_seed_behind_a_link_shows_nothing_else_of_it() {
    let host = Host::new();
    let before = host.outside();
    let script = Script::default();
    let agent = host
        .agent(&script)
        .readonly_file("rules/MORE.md", "needle: more rules\n");
    let desk = Desk::of(script, agent.build().unwrap());
    desk.session.start().await.unwrap();
    std::fs::remove_dir_all(host.at("head/rules")).unwrap();
    symlink(host.at("outside"), host.at("head/rules")).unwrap();
    let read = json!({"path": "rules/MORE.md"});
    let (read, _) = host.told(&desk, "read_file", read).await;
    assert_eq!(read, "     1\tneedle: more rules\n");
    for (tool, arguments) in [
        ("list_directory", json!({"path": "rules", "depth": 10})),
        ("list_directory", json!({"depth": 10})),
        ("find_files", json!({"path": "rules", "pattern": "*"})),
        ("find_files", json!({"pattern": "*.txt"})),
        ("grep", json!({"path": "rules", "pattern": "needle"})),
        ("grep", json!({"pattern": "needle"})),
    ] {
        let (told, _) = host.told(&desk, tool, arguments.clone()).await;
        assert!(!told.contains("secret"), "{tool} {arguments}: {told}");
    }
    for path in ["rules/secret.txt", "rules/below/secret.txt"] {
        let read = json!({"path": path});
        host.refused(&desk, "read_file", read).await;
        let write = json!({"path": path, "content": "x"});
        host.refused(&desk, "write_file", write).await;
    }
    assert_eq!(host.outside(), before);
}
