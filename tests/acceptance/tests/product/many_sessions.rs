//! A thousand sessions on Git heads under the usual limit of open files.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use everruns::file_system::FileSystemError;
use everruns::session::SessionQuery;
use everruns::{
    Agent, Engine, LocalGitWorkspace, Session, SessionError, Simulated, Workspace, WorkspaceError,
    WorkspacePolicy,
};
use everruns_testkit::git::GitFixture;
use futures::StreamExt as _;
use serde_json::json;

/// How many sessions begin at the same time.
const AT_ONCE: usize = 4;

const LIMIT: usize = 1_024;
const WANTED: usize = 1_000;
/// What the process, the database and the operations under way may have open besides one folder a session.
const BESIDES: usize = 64;
const PROJECT: &str = "EVERRUNS_TEST_MANY_PROJECT";

fn agent() -> Agent {
    let script = Simulated::new()
        .call(
            "write_file",
            json!({"path": "made.txt", "content": "made\n"}),
        )
        .say("Done.");
    Agent::builder()
        .provider(script)
        .model("simulated")
        .workspace_policy(WorkspacePolicy::read_write())
        .build()
        .unwrap()
}

/// One more head with a session that has started on it.
async fn begin(
    engine: &Engine,
    workspace: &Workspace,
    number: usize,
) -> Result<Session, SessionError> {
    let head = workspace.head(format!("head {number}")).create().await;
    let head = head.map_err(SessionError::Workspace)?;
    engine.create(agent()).workspace(head).start().await
}

/// Looking takes a file as well, which what is still being cleared away behind a refusal may leave none for.
fn open_files() -> usize {
    let began = Instant::now();
    loop {
        match std::fs::read_dir("/proc/self/fd") {
            Ok(open) => return open.count(),
            Err(error) => assert!(began.elapsed() < Duration::from_secs(10), "{error}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

async fn recorded(engine: &Engine) -> usize {
    let query = SessionQuery {
        limit: 10_000,
        ..SessionQuery::default()
    };
    engine.sessions(query).await.unwrap().sessions.len()
}

/// Proves H75: sessions on Git heads cost one open file each while they are idle; where the limit is reached, the error
/// says what to do, nothing is lost, and dropping handles is enough to go on.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the present test binary runs one of its own tests under a limit"
)]
fn h75_a_thousand_sessions_on_git_heads_are_bounded() {
    let project = GitFixture::sample();
    let script = format!(
        "ulimit -n {LIMIT} || exit 77; exec \"$0\" --exact many_sessions::child_with_many_sessions --nocapture"
    );
    let status = Command::new("sh")
        .args(["-c", &script])
        .arg(std::env::current_exe().unwrap())
        .env(PROJECT, project.path())
        .stdin(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child_with_many_sessions() {
    let Some(project) = std::env::var_os(PROJECT).map(PathBuf::from) else {
        return;
    };
    let beside = |name: &str| project.parent().unwrap().join(name);
    let engine = Engine::local(beside("many-sessions")).await.unwrap();
    let backend = Arc::new(LocalGitWorkspace::new(beside("many-state")).unwrap());
    let workspace = Workspace::open(backend, project.to_str().unwrap())
        .await
        .unwrap();
    let (mut sessions, refused) = begin_all(&engine, &workspace).await;
    let open = open_files();
    println!(
        "{} sessions, {open} open files, {refused:?}",
        sessions.len()
    );
    assert!(
        sessions.len() >= WANTED - BESIDES && open <= sessions.len() + BESIDES,
        "{} sessions, {open} open files, {refused:?}",
        sessions.len()
    );
    if let Some(error) = &refused {
        assert!(
            matches!(
                error,
                SessionError::Workspace(
                    WorkspaceError::TooManyOpenFiles { .. }
                        | WorkspaceError::FileSystem(FileSystemError::TooManyOpenFiles { .. })
                )
            ),
            "{error:?}"
        );
        assert!(error.to_string().contains("ulimit -n"), "{error}");
    }

    // Dropping handles is enough, also for those who were refused.
    let kept = sessions.len() - 100;
    let dropped: Vec<_> = sessions.split_off(kept);
    let ids: Vec<_> = dropped.iter().map(|one| one.session_id().clone()).collect();
    let heads: Vec<_> = dropped
        .iter()
        .map(|one| one.workspace_head().unwrap().id().clone())
        .collect();
    drop(dropped);
    assert!(open_files() <= sessions.len() + BESIDES);
    // Of those that were on their way when one was refused, some may have got as far as the record.
    let (begun, recorded) = (kept + ids.len(), recorded(&engine).await);
    assert!(
        (begun..begun + AT_ONCE).contains(&recorded),
        "{recorded} of {begun} sessions"
    );
    for session in [&sessions[0], &sessions[kept - 1]] {
        assert!(session.send_and_wait("Make it.").await.unwrap().success);
        let status = session.workspace_head().unwrap().status().await.unwrap();
        assert_eq!(status.entries.len(), 1);
    }
    for (id, head) in ids.iter().zip(&heads).step_by(25) {
        let resumed = engine.resume(id).await.unwrap();
        assert_eq!(resumed.workspace_head().unwrap().id(), head);
        assert!(resumed.send_and_wait("Make it.").await.unwrap().success);
    }
    begin(&engine, &workspace, 100_000).await.unwrap();
}

/// Begins as many sessions as are wanted or fit.
async fn begin_all(engine: &Engine, workspace: &Workspace) -> (Vec<Session>, Option<SessionError>) {
    let mut begun = futures::stream::iter(0..WANTED)
        .map(|number| begin(engine, workspace, number))
        .buffer_unordered(AT_ONCE);
    let (mut sessions, mut refused) = (Vec::new(), None);
    while let Some(outcome) = begun.next().await {
        match outcome {
            Ok(session) => sessions.push(session),
            Err(error) => {
                refused = Some(error);
                break;
            }
        }
    }
    (sessions, refused)
}
