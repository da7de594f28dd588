//! `read_file` and `edit_file` with texts that are long, or not plain UTF-8.

use everruns_core::file_system::SessionFileSystemExt as _;
use everruns_fs::WorkspacePolicy;
use serde_json::json;

use crate::support::{Desk, Script, agent_of};

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[tokio::test]
async fn h47_a_line_of_a_megabyte_is_cut_and_can_be_read_on() {
    let desk = Desk::new();
    desk.session.start().await.unwrap();
    let digits: Vec<_> = (0..200_000)
        .map(|number| format!("{:05}", number % 100_000))
        .collect();
    let long = digits.concat();
    desk.outside("long", format!("{long}\nend\n")).await;
    let shown = desk.call("read_file", json!({"path": "long"})).await;
    assert!(
        shown.len() < 3_000 && shown.contains("     2\tend\n"),
        "{shown}"
    );
    assert!(shown.contains(
        "[998000 more bytes of this line; go on with start_line 1 and line_offset 2000]"
    ));
    let (mut read, mut calls) = (String::new(), 0);
    let mut offset = Some(json!(0));
    while let Some(at) = offset {
        let arguments = json!({"path": "long", "start_line": 1, "line_offset": at});
        let shown = desk.call("read_file", arguments).await;
        let (_, line) = shown.split_once('\t').unwrap();
        read.push_str(line.split([' ', '\n']).next().unwrap());
        calls += 1;
        let next = desk.data().await.unwrap()["next_offset"].clone();
        offset = (!next.is_null()).then_some(next);
    }
    assert!(read == long, "{} bytes of {}", read.len(), long.len());
    assert!(calls < 40, "{calls} calls");
    let past = json!({"path": "long", "start_line": 2, "line_offset": 3});
    let refused = desk.call("read_file", past).await;
    assert!(
        refused.contains("choose a smaller `line_offset`"),
        "{refused}"
    );
}

/// Proves H45 for UTF-16: what the edit is not about keeps its bytes.
#[tokio::test]
async fn h45_utf16_is_shown_and_edited_as_what_it_is() {
    let desk = Desk::new();
    desk.session.start().await.unwrap();
    desk.outside("w.txt", utf16("\u{feff}one\r\n\u{1f600} two"))
        .await;
    let read = desk.call("read_file", json!({"path": "w.txt"})).await;
    insta::assert_snapshot!("read_utf16", read);
    assert_eq!(desk.data().await.unwrap()["encoding"], "utf-16le");
    let edits = json!([{"old_text": "one", "new_text": "1\n1b"}]);
    let edited = desk
        .call("edit_file", json!({"path": "w.txt", "edits": edits}))
        .await;
    assert!(
        edited.contains("-one") && edited.contains("+1b"),
        "{edited}"
    );
    let files = desk.session.workspace_head().unwrap().file_system();
    let bytes = files.read_all("w.txt").await.unwrap();
    assert_eq!(&bytes[..], utf16("\u{feff}1\r\n1b\r\n\u{1f600} two"));
}

/// Proves H45: an edit that could not keep all other bytes is refused.
#[tokio::test]
async fn h45_broken_utf16_is_not_edited() {
    let desk = Desk::new();
    desk.session.start().await.unwrap();
    let mut bytes = utf16("\u{feff}one\n");
    bytes.push(b'x');
    desk.outside("w.txt", bytes.clone()).await;
    let read = desk.call("read_file", json!({"path": "w.txt"})).await;
    assert!(
        read.contains("can be overwritten, but not edited"),
        "{read}"
    );
    let edits = json!([{"old_text": "one", "new_text": "1"}]);
    let refused = desk
        .call("edit_file", json!({"path": "w.txt", "edits": edits}))
        .await;
    assert!(
        refused.contains("Overwrite it with write_file"),
        "{refused}"
    );
    let files = desk.session.workspace_head().unwrap().file_system();
    assert_eq!(files.read_all("w.txt").await.unwrap(), bytes);
}

/// Proves H45: invalid UTF-8 is told, and kept by an edit elsewhere in the file.
#[tokio::test]
async fn h45_invalid_utf8_is_told_and_kept() {
    let desk = Desk::new();
    desk.session.start().await.unwrap();
    desk.outside("l.txt", &b"caf\xe9\r\ntwo\nthree"[..]).await;
    let read = desk.call("read_file", json!({"path": "l.txt"})).await;
    insta::assert_snapshot!("read_latin1", read);
    let edits = json!([{"old_text": "two", "new_text": "2"}]);
    desk.call("edit_file", json!({"path": "l.txt", "edits": edits}))
        .await;
    let files = desk.session.workspace_head().unwrap().file_system();
    assert_eq!(
        &files.read_all("l.txt").await.unwrap()[..],
        b"caf\xe9\r\n2\nthree"
    );
}

/// Proves H44 for the tools: what is too large is an error, and its advice is one that helps.
#[tokio::test]
async fn h44_too_large_files_are_errors() {
    let (folder, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let big = tempfile::Builder::new()
        .prefix("big")
        .tempfile_in(folder.path());
    let big = big.unwrap();
    big.as_file().set_len(1 << 40).unwrap();
    let name = big.path().file_name().unwrap().to_str().unwrap();
    let script = Script::default();
    let agent = agent_of(&script)
        .workspace(folder.path())
        .state_folder(state.path());
    let desk = Desk::of(script, agent.build().unwrap());
    let read = desk.call("read_file", json!({"path": name})).await;
    insta::assert_snapshot!("read_too_large", read.replace(name, "big"));
    let searched = desk.call("grep", json!({"pattern": "x"})).await;
    assert!(
        searched.contains("1 files were passed over as too large"),
        "{searched}"
    );
}

/// Proves H51: what came between reading and deleting is shown.
#[tokio::test]
async fn h51_a_stale_deletion_says_what_changed() {
    let desk = Desk::new();
    desk.session.start().await.unwrap();
    desk.outside("a.txt", "one\ntwo\n").await;
    desk.call("read_file", json!({"path": "a.txt"})).await;
    desk.outside("a.txt", "one\nTWO\n").await;
    let stale = desk.call("delete_file", json!({"path": "a.txt"})).await;
    insta::assert_snapshot!("stale_deletion", stale);
    let replace = json!({"from": "b.txt", "to": "a.txt", "replace": true});
    desk.outside("b.txt", "b").await;
    let stale = desk.call("move_file", replace).await;
    assert!(stale.contains("-two\n+TWO\n"), "{stale}");
}

/// Proves C08 and H51: what the session has read of a folder must be as it was read when the folder is deleted; what it
/// never read may go unread.
#[tokio::test]
async fn c08_h51_a_folder_is_deleted_as_it_was_read() {
    let policy = WorkspacePolicy::builder()
        .allow_write("**")
        .allow_recursive_delete(true)
        .build()
        .unwrap();
    let script = Script::default();
    let agent = agent_of(&script).workspace_policy(policy);
    let desk = Desk::of(script, agent.build().unwrap());
    desk.session.start().await.unwrap();
    desk.outside("d/read", "one\n").await;
    desk.outside("d/unread", "x").await;
    desk.call("read_file", json!({"path": "d/read"})).await;
    desk.outside("d/read", "two\n").await;
    let all = json!({"path": "d", "recursive": true});
    let stale = desk.call("delete_file", all.clone()).await;
    assert!(stale.contains("/workspace/d/read has changed"), "{stale}");
    assert!(stale.contains("-one\n+two\n"), "{stale}");
    assert_eq!(desk.content("d/unread").await, "x");
    desk.call("read_file", json!({"path": "d/read"})).await;
    let deleted = desk.call("delete_file", all).await;
    assert_eq!(deleted, "Deleted /workspace/d.");
}

/// Proves C08: a move takes the place of nothing that was not read, whatever is there.
#[tokio::test]
async fn c08_a_move_replaces_only_what_was_read() {
    let desk = Desk::new();
    desk.session.start().await.unwrap();
    desk.outside("from", "from").await;
    desk.outside("to", "to").await;
    let replace = json!({"from": "from", "to": "to", "replace": true});
    let unread = desk.call("move_file", replace.clone()).await;
    assert!(unread.contains("you have not read it"), "{unread}");
    assert_eq!(desk.content("to").await, "to");
    desk.call("read_file", json!({"path": "to"})).await;
    let moved = desk.call("move_file", replace).await;
    assert_eq!(moved, "Moved /workspace/from to /workspace/to.");
    assert_eq!(desk.content("to").await, "from");
    // There is nothing to replace, which is as good.
    let moved = desk
        .call(
            "move_file",
            json!({"from": "to", "to": "new", "replace": true}),
        )
        .await;
    assert_eq!(moved, "Moved /workspace/to to /workspace/new.");
}

#[tokio::test]
async fn an_expected_count_of_nothing_does_not_fit() {
    let desk = Desk::new();
    let edits = json!([{"old_text": "x", "new_text": "y", "expected_count": 0}]);
    let refused = desk
        .call("edit_file", json!({"path": "a", "edits": edits}))
        .await;
    assert!(
        refused.contains("do not fit the tool's schema"),
        "{refused}"
    );
}
