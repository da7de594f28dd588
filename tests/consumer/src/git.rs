//! An agent in an isolated head of a real Git repository.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use everruns::{Agent, Engine, LocalGitWorkspace, Simulated, Workspace, WorkspacePolicy};
use serde_json::json;

use crate::Outcome;

pub async fn run() -> Outcome {
    let folder = tempfile::tempdir()?;
    let repository = folder.path().join("project");
    make_repository(&repository)?;

    let backend = Arc::new(LocalGitWorkspace::new(folder.path().join("state"))?);
    let workspace = Workspace::open(backend, repository.to_string_lossy()).await?;
    let head = workspace.head("feature").from_revision("main").create().await?;
    let session = Engine::new().create(writer()?).workspace(head.clone()).start().await?;
    assert!(session.workspace_head().is_some());
    let turn = session.send_and_wait("Write the note.").await?;
    assert!(turn.success);

    let diff = head.diff().await?;
    let changed: Vec<_> = diff.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(changed, ["note.txt"]);
    assert!(!repository.join("note.txt").exists());
    println!("git: {} changed in the head, nothing in the repository", changed.join(", "));
    Ok(())
}

pub fn writer() -> Result<Agent, Box<dyn std::error::Error>> {
    let provider = Simulated::new()
        .call("write_file", json!({"path": "note.txt", "content": "from the agent\n"}))
        .say("Done.");
    Ok(Agent::builder()
        .instructions("Work in the selected project head.")
        .provider(provider)
        .model("simulated")
        .workspace_policy(WorkspacePolicy::read_write())
        .build()?)
}

pub fn make_repository(folder: &Path) -> Outcome {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("README.md"), "# Project\n")?;
    let git = |arguments: &[&str]| -> Outcome {
        let mut command = Command::new("git");
        command.current_dir(folder).args(["-c", "user.name=Test", "-c", "user.email=test@example.org"]);
        let output = command.args(arguments).output()?;
        if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into()) }
    };
    git(&["init", "--quiet", "--initial-branch=main"])?;
    git(&["add", "."])?;
    git(&["commit", "--quiet", "--message=first"])
}
