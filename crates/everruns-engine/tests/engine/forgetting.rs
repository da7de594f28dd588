//! Files that a session has read, and of which it keeps nothing once it has been idle.

use serde_json::json;

use crate::support::{Desk, Script, agent_of};
use everruns_core::file_system::SessionFileSystemExt as _;
use everruns_core::path::WorkspacePath;
use everruns_fs::WorkspacePolicy;

/// More than an idle session keeps.
const FILES: usize = 80;

fn name(number: usize) -> String {
    format!("folder/a-file-with-a-name-{number}.txt")
}

/// A session that has read many files, and then was idle, or closed, which is the same.
async fn rested() -> Desk {
    let script = Script::default();
    let policy = WorkspacePolicy::builder()
        .allow_read("**")
        .allow_write("**")
        .allow_recursive_delete(true)
        .build();
    let agent = agent_of(&script).workspace_policy(policy.unwrap());
    let desk = Desk::of(script, agent.build().unwrap());
    desk.session.start().await.unwrap();
    for number in 0..FILES {
        desk.outside(&name(number), "as it was read\n").await;
        desk.call("read_file", json!({"path": name(number)})).await;
    }
    desk.session.close().await;
    desk
}

/// Proves C08: what was forgotten is read again before it is changed, and what is still known is not.
#[tokio::test]
async fn c08_a_forgotten_file_is_read_again_before_it_is_changed() {
    let desk = rested().await;
    let edits = json!([{"old_text": "as it", "new_text": "AS IT"}]);
    let recent = json!({"path": name(FILES - 1), "edits": edits});
    let edited = desk.call("edit_file", recent).await;
    assert!(edited.starts_with("Changed"), "{edited}");
    let old = json!({"path": name(0), "edits": edits});
    let refused = desk.call("edit_file", old.clone()).await;
    assert!(refused.contains("not known any more"), "{refused}");
    desk.call("read_file", json!({"path": name(0)})).await;
    let edited = desk.call("edit_file", old).await;
    assert!(edited.starts_with("Changed"), "{edited}");
}

/// Proves C08: a file that was read and has changed since is not deleted, also when its version is not known any more.
#[tokio::test]
async fn c08_a_forgotten_file_is_not_deleted_unseen() {
    let desk = rested().await;
    desk.outside(&name(0), "what somebody else wrote\n").await;
    let refused = desk.call("delete_file", json!({"path": name(0)})).await;
    assert!(refused.contains("not known any more"), "{refused}");
    let whole = json!({"path": "folder", "recursive": true});
    let refused = desk.call("delete_file", whole).await;
    assert!(refused.contains("not known any more"), "{refused}");
    assert_eq!(desk.content(&name(0)).await, "what somebody else wrote\n");
    // A file that the session never read holds nothing that it could miss.
    desk.outside("never/read.txt", "text\n").await;
    let never = json!({"path": "never", "recursive": true});
    let deleted = desk.call("delete_file", never).await;
    assert!(deleted.starts_with("Deleted"), "{deleted}");
    desk.call("read_file", json!({"path": name(0)})).await;
    let deleted = desk.call("delete_file", json!({"path": name(0)})).await;
    assert!(deleted.starts_with("Deleted"), "{deleted}");
    let files = desk.session.workspace_head().unwrap().file_system();
    let folder = WorkspacePath::parse("folder").unwrap();
    let left = files.list_all(&folder).await.unwrap();
    assert_eq!(left.len(), FILES - 1);
}
