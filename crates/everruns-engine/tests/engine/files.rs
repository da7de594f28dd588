//! The file tools over the whole stack.

use everruns_core::file_system::SessionFileSystemExt as _;
use everruns_core::path::WorkspacePath;
use everruns_engine::{Agent, Engine};
use everruns_fs::WorkspacePolicy;
use serde_json::{Value, json};

use crate::support::{Desk, Script, agent, agent_of, head, memory};

#[tokio::test]
async fn files_are_made_read_edited_moved_and_deleted() {
    let desk = Desk::new();
    let made = desk
        .call(
            "write_file",
            json!({"path": "src/a.txt", "content": "one\ntwo\n"}),
        )
        .await;
    assert_eq!(made, "Made /workspace/src/a.txt, 8 bytes.");
    let read = desk.call("read_file", json!({"path": "src/a.txt"})).await;
    assert_eq!(read, "     1\tone\n     2\ttwo\n");
    let edited = desk
        .call(
            "edit_file",
            json!({"path": "/workspace/src/a.txt", "edits": [
                {"old_text": "one", "new_text": "1"}, {"old_text": "two", "new_text": "2"}]}),
        )
        .await;
    assert!(edited.starts_with("Changed 2 places"), "{edited}");
    assert_eq!(desk.content("src/a.txt").await, "1\n2\n");
    desk.call("move_file", json!({"from": "src", "to": "lib"}))
        .await;
    // What was read before the move is still known after it.
    let edited = desk
        .call(
            "edit_file",
            json!({"path": "lib/a.txt", "edits": [{"old_text": "1", "new_text": "x"}]}),
        )
        .await;
    assert!(edited.starts_with("Changed 1 place in"), "{edited}");
    let listed = desk.call("list_directory", json!({})).await;
    assert_eq!(listed, "lib/\n");
    let found = desk.call("find_files", json!({"pattern": "*.txt"})).await;
    assert_eq!(found, "/workspace/lib/a.txt\n");
    let grepped = desk.call("grep", json!({"pattern": "^x"})).await;
    assert_eq!(grepped, "/workspace/lib/a.txt:1: x\n");
    let deleted = desk.call("delete_file", json!({"path": "lib/a.txt"})).await;
    assert_eq!(deleted, "Deleted /workspace/lib/a.txt.");
    let gone = desk.call("read_file", json!({"path": "lib/a.txt"})).await;
    assert!(gone.contains("does not exist"), "{gone}");
}

/// Proves C08 at the level of the tools.
#[tokio::test]
async fn c08_h51_stale_content_is_a_conflict_that_says_what_to_do() {
    let desk = Desk::new();
    desk.session.start().await.unwrap();
    desk.outside("a.txt", "one\ntwo\n").await;
    let unread = desk
        .call("write_file", json!({"path": "a.txt", "content": "mine"}))
        .await;
    assert!(unread.contains("you have not read it"), "{unread}");
    desk.call("read_file", json!({"path": "a.txt"})).await;
    desk.outside("a.txt", "one\nTWO\n").await;
    let stale = desk
        .call(
            "edit_file",
            json!({"path": "a.txt", "edits": [{"old_text": "one", "new_text": "1"}]}),
        )
        .await;
    assert!(stale.contains("has changed since you read it"), "{stale}");
    assert!(stale.contains("-two\n+TWO\n"), "{stale}");
    assert_eq!(desk.content("a.txt").await, "one\nTWO\n");
    let stale = desk
        .call("write_file", json!({"path": "a.txt", "content": "mine"}))
        .await;
    assert!(stale.contains("Nothing was written"), "{stale}");
    let stale = desk.call("delete_file", json!({"path": "a.txt"})).await;
    assert!(stale.contains("has changed"), "{stale}");
    desk.call("read_file", json!({"path": "a.txt"})).await;
    let written = desk
        .call("write_file", json!({"path": "a.txt", "content": "mine"}))
        .await;
    assert_eq!(written, "Overwrote /workspace/a.txt, 4 bytes.");
}

/// Proves C08: two sessions on one shared head.
#[tokio::test]
async fn c07_c08_two_sessions_share_a_head_and_never_overwrite_each_other() {
    let backend = memory();
    let workspace = everruns_core::workspace::Workspace::open(backend, "p")
        .await
        .unwrap();
    let shared = workspace.head("both").shared().create().await.unwrap();
    let desk = || {
        let script = Script::default();
        let session = Engine::new()
            .create(agent(&script))
            .workspace(shared.clone());
        Desk { script, session }
    };
    let (one, other) = (desk(), desk());
    one.call("write_file", json!({"path": "a", "content": "first"}))
        .await;
    other.call("read_file", json!({"path": "a"})).await;
    other
        .call("write_file", json!({"path": "a", "content": "second"}))
        .await;
    let stale = one
        .call("write_file", json!({"path": "a", "content": "third"}))
        .await;
    assert!(stale.contains("has changed since you read it"), "{stale}");
    assert_eq!(one.content("a").await, "second");
}

#[tokio::test]
async fn h46_an_edit_that_does_not_fit_changes_nothing_and_shows_what_is_near() {
    let desk = Desk::new();
    desk.call(
        "write_file",
        json!({"path": "a.rs", "content": "fn first() {}\nfn second() {}\nx\nx\n"}),
    )
    .await;
    let edit = |edits: Value| desk.call("edit_file", json!({"path": "a.rs", "edits": edits}));
    let error = edit(json!([{"old_text": "fn frist() {}", "new_text": "y"}])).await;
    insta::assert_snapshot!("edit_without_match", error);
    let error = edit(json!([
        {"old_text": "fn first", "new_text": "fn third"},
        {"old_text": "x", "new_text": "y"}]))
    .await;
    insta::assert_snapshot!("edit_with_two_matches", error);
    assert!(desk.content("a.rs").await.starts_with("fn first()"));
    let done = edit(json!([{"old_text": "x", "new_text": "y", "expected_count": 2}])).await;
    assert!(done.starts_with("Changed 2 places"), "{done}");
}

#[tokio::test]
async fn h45_line_ends_mark_and_missing_newline_survive_an_edit() {
    let desk = Desk::new();
    desk.session.start().await.unwrap();
    desk.outside("w.txt", "\u{feff}one\r\ntwo\r\nthree").await;
    let read = desk.call("read_file", json!({"path": "w.txt"})).await;
    insta::assert_snapshot!("read_with_remarks", read);
    desk.call(
        "edit_file",
        json!({"path": "w.txt", "edits": [{"old_text": "one\ntwo", "new_text": "1\n2\n2b"}]}),
    )
    .await;
    assert_eq!(desk.content("w.txt").await, "\u{feff}1\r\n2\r\n2b\r\nthree");
}

#[tokio::test]
async fn long_files_are_cut_and_say_how_to_go_on() {
    let desk = Desk::new();
    let lines: Vec<String> = (1..=5_000).map(|line| line.to_string()).collect();
    let long = lines.join("\n") + "\n";
    desk.call("write_file", json!({"path": "long", "content": long}))
        .await;
    let read = desk.call("read_file", json!({"path": "long"})).await;
    assert!(
        read.ends_with("[lines 1 to 2000 of 5000; go on with start_line 2001]\n"),
        "{read}"
    );
    let read = desk
        .call(
            "read_file",
            json!({"path": "long", "start_line": 4_999, "line_count": 10}),
        )
        .await;
    assert_eq!(read, "  4999\t4999\n  5000\t5000\n");
    let past = desk
        .call("read_file", json!({"path": "long", "start_line": 6_000}))
        .await;
    assert!(past.contains("from 1 to 5000"), "{past}");
}

/// Proves H47 for the tools: results are cut, and the cut says how to go on.
#[tokio::test]
async fn h47_searches_are_cut_and_go_on_where_they_stopped() {
    let desk = Desk::new();
    desk.session.start().await.unwrap();
    for number in 0..1_500 {
        desk.outside(&format!("f{number:04}"), "needle\n").await;
    }
    for (tool, arguments) in [
        ("find_files", json!({"pattern": "f*"})),
        ("grep", json!({"pattern": "needle"})),
    ] {
        let mut found = 0;
        let mut wanted = arguments.clone();
        let mut rounds = 0;
        loop {
            let shown = desk.call(tool, wanted.clone()).await;
            found += shown.lines().filter(|line| line.starts_with('/')).count();
            rounds += 1;
            let Some((_, rest)) = shown.split_once("go on with after \"") else {
                break;
            };
            let (after, _) = rest.split_once('"').unwrap();
            wanted["after"] = after.into();
        }
        assert_eq!(found, 1_500, "{tool}");
        assert!(rounds > 1, "{tool}");
    }
}

#[tokio::test]
async fn binary_files_are_recognised() {
    let desk = Desk::new();
    desk.session.start().await.unwrap();
    desk.outside("b", "a\0b").await;
    let read = desk.call("read_file", json!({"path": "b"})).await;
    assert_eq!(
        read,
        "/workspace/b is a binary file of 3 bytes; its content is not shown."
    );
    let edit = json!({"path": "b", "edits": [{"old_text": "a", "new_text": "c"}]});
    let refused = desk.call("edit_file", edit).await;
    assert!(refused.contains("binary"), "{refused}");
}

/// Proves C21: what the tools reach is the head under the policy, and nothing else.
#[tokio::test]
async fn c21_h01_paths_outside_are_refused_with_advice() {
    let desk = Desk::new();
    for path in ["/etc/passwd", "../x", "C:x", "/roots/none/x", ".git/config"] {
        let refused = desk.call("read_file", json!({"path": path})).await;
        insta::assert_snapshot!(
            format!("refused_{}", path.replace(['/', ':', '.'], "_")),
            refused
        );
    }
}

#[tokio::test]
async fn the_default_policy_lets_nothing_be_written() {
    let script = Script::default();
    let agent = Agent::builder().provider(script.clone()).model("m");
    let desk = Desk::of(script, agent.build().unwrap());
    let refused = desk
        .call("write_file", json!({"path": "a", "content": "x"}))
        .await;
    assert!(refused.contains("policy"), "{refused}");
    insta::assert_snapshot!("denied_by_policy", refused);
}

/// Proves C21 for seeded files, and that a policy does not keep the application's own files out.
#[tokio::test]
async fn c21_seeded_files_are_there_and_read_only_ones_stay() {
    let script = Script::default();
    let agent = agent_of(&script)
        .workspace_policy(WorkspacePolicy::read_only())
        .file("notes.md", "write here\n")
        .readonly_file("RULES.md", "obey\n");
    let desk = Desk::of(script, agent.build().unwrap());
    let read = desk.call("read_file", json!({"path": "notes.md"})).await;
    assert_eq!(read, "     1\twrite here\n");
    let read = desk.call("read_file", json!({"path": "RULES.md"})).await;
    assert_eq!(read, "     1\tobey\n");

    let script = Script::default();
    let agent = agent_of(&script).readonly_file("RULES.md", "obey\n");
    let desk = Desk::of(script, agent.build().unwrap());
    desk.call("read_file", json!({"path": "RULES.md"})).await;
    let refused = desk
        .call("write_file", json!({"path": "RULES.md", "content": "x"}))
        .await;
    assert!(refused.contains("read-only"), "{refused}");
}

/// Proves C19: roots are mounts beside the head.
#[tokio::test]
async fn c19_c04_roots_are_mounted_and_no_host_path_shows() {
    let folder = tempfile::tempdir().unwrap();
    let state = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("doc.md"), "for all\n").unwrap();
    let script = Script::default();
    let agent = agent_of(&script)
        .workspace_root("docs", folder.path(), everruns_fs::RootAccess::ReadOnly)
        .state_folder(state.path());
    let desk = Desk::of(script, agent.build().unwrap());
    let read = desk
        .call("read_file", json!({"path": "/roots/docs/doc.md"}))
        .await;
    assert_eq!(read, "     1\tfor all\n");
    let refused = desk
        .call(
            "write_file",
            json!({"path": "/roots/docs/new.md", "content": "x"}),
        )
        .await;
    assert!(refused.contains("read-only"), "{refused}");
    let host = folder.path().to_string_lossy().into_owned();
    for request in desk.script.requests() {
        let told = format!("{request:?}");
        assert!(!told.contains(&host), "{told}");
        assert!(request.instructions.contains("/roots/docs"));
    }
}

/// Proves C04 and H08: when the head's folder is replaced or gone while a session runs, the model learns that it is, and not
/// where it lies.
#[tokio::test]
async fn c04_h08_a_stale_head_shows_no_host_path() {
    for is_replaced in [true, false] {
        let (place, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let folder = place.path().join("project");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("a"), "x").unwrap();
        let script = Script::default();
        let agent = agent_of(&script)
            .workspace(&folder)
            .state_folder(state.path());
        let desk = Desk::of(script, agent.build().unwrap());
        desk.call("read_file", json!({"path": "a"})).await;
        std::fs::rename(&folder, place.path().join("aside")).unwrap();
        if is_replaced {
            std::fs::create_dir(&folder).unwrap();
            std::fs::write(folder.join("a"), "other").unwrap();
        }
        for (tool, arguments) in [
            ("write_file", json!({"path": "a", "content": "y"})),
            ("read_file", json!({"path": "a"})),
            ("list_directory", json!({})),
            ("find_files", json!({"pattern": "*"})),
            ("grep", json!({"pattern": "x"})),
            ("move_file", json!({"from": "a", "to": "b"})),
            ("delete_file", json!({"path": "a"})),
        ] {
            let told = desk.call(tool, arguments).await;
            assert!(told.contains("was replaced or removed"), "{tool}: {told}");
            for path in [place.path(), state.path()] {
                assert!(!told.contains(path.to_str().unwrap()), "{tool}: {told}");
            }
        }
    }
}

/// Proves C04 and C22: the extension's constructor got the very head that the file tools use.
#[tokio::test]
async fn c22_extensions_get_the_head_of_the_file_tools() {
    struct Probe(everruns_core::workspace::WorkspaceHead);
    let environment = everruns_core::environment::Environment::builder()
        .workspace(head(&memory(), "main").await)
        .workspace_extension(|head| std::sync::Arc::new(Probe(head.clone())))
        .unwrap()
        .build()
        .unwrap();
    let script = Script::default();
    let session = Engine::new()
        .create(agent(&script))
        .environment(environment);
    assert!(session.environment_extension::<Probe>().is_none());
    let desk = Desk { script, session };
    desk.call("write_file", json!({"path": "a", "content": "x"}))
        .await;
    let probe = desk.session.environment_extension::<Probe>().unwrap();
    assert_eq!(
        &probe.0.file_system().read_all("a").await.unwrap()[..],
        b"x"
    );
    assert_eq!(probe.0.id(), desk.session.workspace_head().unwrap().id());
    assert!(
        WorkspacePath::parse("a")
            .unwrap()
            .to_string()
            .starts_with("/workspace/")
    );
}

#[tokio::test]
async fn schemas_of_the_file_tools() {
    let desk = Desk::new();
    desk.session.send_and_wait("Hello.").await.unwrap();
    let tools = desk.script.requests().pop().unwrap().tools;
    insta::with_settings!({sort_maps => true}, {
        insta::assert_json_snapshot!("tool_schemas", tools);
    });
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_explained() {
    let desk = Desk::new();
    let wrong = desk.call("read_file", json!({"file": "a"})).await;
    insta::assert_snapshot!("wrong_arguments", wrong);
}
