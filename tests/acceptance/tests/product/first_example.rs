//! The example that the README opens with, run against a server that speaks `OpenAI`'s wire format.

use std::path::Path;
use std::process::Stdio;

use everruns_acceptance::openai_server::{ScriptedOpenAi, ScriptedStep};
use everruns_testkit::git::GitFixture;
use serde_json::json;
use tokio::process::Command;

const SOURCE: &str = include_str!("../../src/bin/readme_example.in");
const README: &str = include_str!("../../../../README.md");

/// Proves C05
#[test]
fn c05_the_readme_prints_the_example_that_is_tested() {
    assert!(
        README.contains(&format!("```rust\n{SOURCE}```")),
        "the README's first example is not the program that the tests run"
    );
}

/// Proves C05
#[tokio::test]
async fn c05_the_first_example_runs_and_changes_its_head_alone() {
    let project = GitFixture::sample();
    project.write("draft.txt", "not committed\n");
    let before = project.snapshot();
    let temporary = project.beside("temporary");
    std::fs::create_dir_all(&temporary).unwrap();
    let (server, base_url) = ScriptedOpenAi::start(vec![
        ScriptedStep::say("I look first.").and_call("read_file", json!({"path": "src/lib.rs"})),
        ScriptedStep::call(
            "edit_file",
            json!({"path": "src/lib.rs", "edits": [{"old_text": "42", "new_text": "43"}]}),
        ),
        ScriptedStep::call(
            "write_file",
            json!({"path": "/workspace/notes/fix.md", "content": "fixed\n"}),
        ),
        ScriptedStep::say("The test passes now."),
    ])
    .await
    .unwrap();

    let output = Command::new(env!("CARGO_BIN_EXE_first_example"))
        .current_dir(project.path())
        .env("TMPDIR", &temporary)
        .env("OPENAI_API_KEY", "a-key")
        .env("OPENAI_BASE_URL", &base_url)
        .stdin(Stdio::null())
        .output()
        .await
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "The test passes now.\n"
    );
    assert_eq!(server.remaining(), 0);

    before.assert_unchanged(&project.snapshot());
    let head = only_worktree(&project);
    let lib = std::fs::read(Path::new(&head).join("src/lib.rs")).unwrap();
    let lib = String::from_utf8(lib).unwrap();
    assert!(lib.contains("43"), "{lib}");
    assert_eq!(
        std::fs::read(Path::new(&head).join("notes/fix.md")).unwrap(),
        b"fixed\n"
    );
    for request in server.requests() {
        let said = request.body.to_string();
        assert!(
            !said.contains(project.path().to_str().unwrap()),
            "C04: a host path reached the model: {said}"
        );
        assert!(
            !said.contains("everruns-example"),
            "C04: a backend's path reached the model: {said}"
        );
    }
}

fn only_worktree(project: &GitFixture) -> String {
    let listed = project.git(&["worktree", "list", "--porcelain"]).text();
    let folders: Vec<_> = listed
        .lines()
        .filter_map(|line| line.strip_prefix("worktree "))
        .skip(1)
        .collect();
    assert_eq!(folders.len(), 1, "{listed}");
    folders[0].to_owned()
}
