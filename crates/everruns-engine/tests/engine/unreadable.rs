//! Files and folders that the host does not let anybody read.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use serde_json::json;

use crate::support::{Desk, Script, agent_of};

/// Has the calling thread, and those that it starts, keep to permissions as any user but root does.
fn obey_permissions() {
    let mut held = capabilities(None).unwrap();
    let beyond = CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH;
    held.effective.remove(beyond);
    set_capabilities(None, held).unwrap();
}

fn close(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// One file and one folder that cannot be read do not cost the results of all others, and are told.
#[test]
fn h47_what_cannot_be_read_is_told_and_the_search_goes_on() {
    let (folder, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let at = |name: &str| folder.path().join(name);
    for name in ["a.txt", "closed.txt", "locked/in.txt", "z/z.txt"] {
        std::fs::create_dir_all(at(name).parent().unwrap()).unwrap();
        std::fs::write(at(name), "needle\n").unwrap();
    }
    close(&at("closed.txt"), 0);
    close(&at("locked"), 0);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .on_thread_start(obey_permissions)
        .build()
        .unwrap();
    let (root, kept) = (folder.path().to_owned(), state.path().to_owned());
    let work = runtime.spawn(async move {
        assert!(
            std::fs::read(root.join("closed.txt")).is_err(),
            "it can be read"
        );
        let script = Script::default();
        let agent = agent_of(&script).workspace(&root).state_folder(&kept);
        let desk = Desk::of(script, agent.build().unwrap());
        let found = desk.call("grep", json!({"pattern": "needle"})).await;
        for line in [
            "/workspace/a.txt:1: needle",
            "/workspace/z/z.txt:1: needle",
            "[not searched: could not open /workspace/closed.txt: Permission denied (os error 13)]",
            "[not searched: could not open /workspace/locked: Permission denied (os error 13)]",
        ] {
            assert!(found.lines().any(|shown| shown == line), "{found}");
        }
        assert_eq!(desk.data().await.unwrap()["failed"], 2);
        let found = desk.call("find_files", json!({"pattern": "*.txt"})).await;
        assert!(
            found.starts_with("/workspace/a.txt\n/workspace/closed.txt\n/workspace/z/z.txt\n"),
            "{found}"
        );
        assert!(
            found.contains("[not searched: could not open /workspace/locked:"),
            "{found}"
        );
    });
    runtime.block_on(work).unwrap();
    close(&at("locked"), 0o700);
}
