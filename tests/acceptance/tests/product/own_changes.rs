//! Heads that are kept by the paths that a session itself changed.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use everruns::model::ToolSpec;
use everruns::path::WorkspacePath;
use everruns::{
    Agent, CheckpointPolicy, Engine, LocalGitWorkspace, PlaceFiles, Session, Simulated, Tool,
    ToolContext, ToolError, ToolOutput, Workspace, WorkspaceBackend, WorkspacePolicy,
};
use everruns_testkit::git::GitFixture;
use serde_json::{Value, json};

/// A tool of the application that may change anything, and makes a file in a folder.
#[derive(Debug, Default)]
struct Build(Option<PathBuf>);

#[async_trait]
impl Tool for Build {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "build".to_owned(),
            description: "Builds the project.".to_owned(),
            input_schema: json!({"type": "object", "properties": {}}),
        }
    }

    async fn call(&self, _: &ToolContext, _: Value) -> Result<ToolOutput, ToolError> {
        if let Some(folder) = &self.0 {
            std::fs::write(folder.join("built.txt"), "built\n").unwrap();
        }
        Ok(ToolOutput::new("built"))
    }
}

/// The revisions of the files that are kept with the session's turns, oldest first.
async fn kept(engine: &Engine, session: &Session) -> Vec<String> {
    let places = engine.places(session.session_id()).await.unwrap();
    places
        .into_iter()
        .filter_map(|place| match place.files {
            PlaceFiles::Kept(checkpoint) => Some(checkpoint.revision),
            _ => None,
        })
        .collect()
}

/// What others change meanwhile is left out until something looks at everything, and is never lost.
#[tokio::test]
async fn a_turn_keeps_what_the_session_changed_and_a_tool_of_the_application_makes_it_look() {
    let project = GitFixture::sample();
    let backend: Arc<dyn WorkspaceBackend> =
        Arc::new(LocalGitWorkspace::new(project.beside("state")).unwrap());
    let workspace = Workspace::open(Arc::clone(&backend), project.path().to_str().unwrap())
        .await
        .unwrap();
    let write = |path: &str| json!({"path": path, "content": "by the session\n"});
    let agent = Agent::builder()
        .provider(
            Simulated::new()
                .call("write_file", write("one.txt"))
                .say("One.")
                .call("write_file", write("two.txt"))
                .say("Two.")
                .call("build", json!({}))
                .say("Built."),
        )
        .model("simulated")
        .tool(Build::default())
        .checkpoints(CheckpointPolicy::OwnChanges)
        .workspace_backend(Arc::clone(&backend))
        .workspace_policy(WorkspacePolicy::read_write())
        .build()
        .unwrap();
    let engine = Engine::new();
    let head = workspace.head("one").create().await.unwrap();
    let session = engine.create(agent).workspace(head.clone());
    session.send_and_wait("Write one.").await.unwrap();
    let files = head.file_system();
    let outside = files.host_path(&WorkspacePath::parse("outside.txt").unwrap());
    std::fs::write(outside.unwrap(), "by somebody else\n").unwrap();
    session.send_and_wait("Write two.").await.unwrap();
    session.send_and_wait("Build.").await.unwrap();

    let kept = kept(&engine, &session).await;
    let [.., first, second, third] = kept.as_slice() else {
        panic!("a state for each turn: {kept:?}");
    };
    let changed = |from: &str, to: &str| project.git(&["diff", "--name-only", from, to]).text();
    assert_eq!(changed(first, second).trim(), "two.txt");
    assert_eq!(changed(second, third).trim(), "outside.txt");
    assert!(head.status().await.unwrap().dirty);
}

/// What the session's first change makes is kept, also when it goes around the file tools.
#[tokio::test]
async fn a_tool_of_the_application_may_be_the_first_to_change_something() {
    let project = GitFixture::sample();
    let backend: Arc<dyn WorkspaceBackend> =
        Arc::new(LocalGitWorkspace::new(project.beside("state")).unwrap());
    let workspace = Workspace::open(Arc::clone(&backend), project.path().to_str().unwrap())
        .await
        .unwrap();
    let head = workspace.head("one").create().await.unwrap();
    let folder = head.file_system().host_path(&WorkspacePath::root());
    let agent = Agent::builder()
        .provider(Simulated::new().call("build", json!({})).say("Built."))
        .model("simulated")
        .tool(Build(folder))
        .checkpoints(CheckpointPolicy::OwnChanges)
        .workspace_backend(Arc::clone(&backend))
        .build()
        .unwrap();
    let engine = Engine::new();
    let session = engine.create(agent).workspace(head.clone());
    session.send_and_wait("Build.").await.unwrap();
    let kept = kept(&engine, &session).await;
    let last = kept.last().unwrap();
    let shown = project.git(&["show", &format!("{last}:built.txt")]);
    assert_eq!(shown.text().trim(), "built");
}
