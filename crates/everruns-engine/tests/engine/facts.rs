//! What the file tools tell programs beside the text for the model.

use everruns_core::session::EventPayload;
use serde_json::{Map, Value, json};

use crate::support::schema::assert_fits;
use crate::support::{Desk, Script, agent, recorded};

#[tokio::test]
async fn output_schemas_of_the_file_tools() {
    let agent = agent(&Script::default());
    let schemas: Map<String, Value> = agent
        .tool_names()
        .into_iter()
        .map(|name| {
            let schema = agent
                .tool_output_schema(&name)
                .expect("every file tool has one");
            (name, schema)
        })
        .collect();
    assert_eq!(schemas.len(), 8);
    assert_eq!(agent.tool_output_schema("nothing"), None);
    insta::with_settings!({sort_maps => true}, {
        insta::assert_json_snapshot!("tool_output_schemas", schemas);
    });
}

/// Real outputs of every tool, in their usual and their odd cases, are what the schemas say.
#[tokio::test]
async fn outputs_fit_their_schemas() {
    let script = Script::default();
    let agent = agent(&script);
    let desk = Desk::of(script, agent.clone());
    desk.session.start().await.unwrap();
    desk.outside("long", "x\n".repeat(5_000)).await;
    desk.outside("binary", "a\0b").await;
    desk.outside("empty", "").await;
    desk.outside("one-line", "y".repeat(100_000)).await;
    desk.outside("crlf", "\u{feff}a\r\nb").await;
    desk.outside("d/e/f", "x\n").await;
    let calls = [
        (
            "write_file",
            json!({"path": "a.rs", "content": "one\ntwo\n"}),
        ),
        (
            "write_file",
            json!({"path": "a.rs", "content": "one\ntwo\nthree\n"}),
        ),
        ("read_file", json!({"path": "a.rs"})),
        ("read_file", json!({"path": "long"})),
        (
            "read_file",
            json!({"path": "long", "start_line": 10, "line_count": 3}),
        ),
        ("read_file", json!({"path": "one-line", "line_offset": 7})),
        ("read_file", json!({"path": "binary"})),
        ("read_file", json!({"path": "empty"})),
        ("read_file", json!({"path": "crlf"})),
        (
            "edit_file",
            json!({"path": "a.rs", "edits": [{"old_text": "two", "new_text": "2"}]}),
        ),
        ("list_directory", json!({})),
        ("list_directory", json!({"path": "d", "depth": 3})),
        ("find_files", json!({"pattern": "*"})),
        ("find_files", json!({"pattern": "nothing"})),
        ("grep", json!({"pattern": "x"})),
        ("grep", json!({"pattern": "x", "show": "counts"})),
        (
            "grep",
            json!({"pattern": "x", "show": "files", "types": ["rust"]}),
        ),
        ("move_file", json!({"from": "a.rs", "to": "b.rs"})),
        ("delete_file", json!({"path": "b.rs"})),
        ("delete_file", json!({"path": "d/e/f"})),
    ];
    for (tool, arguments) in calls {
        desk.call(tool, arguments.clone()).await;
        let data = desk.data().await;
        let data = data.unwrap_or_else(|| panic!("no facts of {tool} {arguments}"));
        assert_fits(&data, &agent.tool_output_schema(tool).unwrap());
    }
}

#[tokio::test]
async fn facts_are_true_and_are_not_told_to_the_model() {
    let desk = Desk::new();
    desk.session.start().await.unwrap();
    desk.outside("long", "x\n".repeat(5_000)).await;
    desk.call("read_file", json!({"path": "long"})).await;
    let read = desk.data().await.unwrap();
    assert_eq!(read["size"], 10_000);
    assert_eq!(
        (&read["lines"], &read["next_line"]),
        (&json!(5_000), &json!(2_001))
    );
    assert_eq!(
        (&read["encoding"], &read["line_ends"]),
        (&json!("utf-8"), &json!("lf"))
    );
    desk.call("write_file", json!({"path": "a", "content": "x"}))
        .await;
    let written = desk.data().await.unwrap();
    assert_eq!(
        (&written["made"], &written["size"]),
        (&json!(true), &json!(1))
    );
    desk.call(
        "edit_file",
        json!({"path": "a", "edits": [{"old_text": "x", "new_text": "y"}]}),
    )
    .await;
    let edited = desk.data().await.unwrap();
    assert_eq!(edited["places"], 1);
    assert_ne!(edited["version"], written["version"]);
    // What fails has no facts.
    desk.call("read_file", json!({"path": "nothing"})).await;
    assert_eq!(desk.data().await, None);
    let told = format!("{:?}", desk.script.requests());
    assert!(!told.contains("next_line"), "{told}");
    let results = recorded(&desk.session).await;
    let with_data =
        |event: &&EventPayload| matches!(event, EventPayload::ToolResult { data: Some(_), .. });
    assert_eq!(results.iter().filter(with_data).count(), 3);
}
