use bytes::Bytes;
use everruns_core::file_system::SessionFileSystemExt as _;
use everruns_core::session::EventPayload;
use everruns_engine::{Agent, Engine, Session};
use serde_json::Value;

use super::{Script, Step, agent, recorded};

/// A session with a script that the test goes on with call by call.
pub(crate) struct Desk {
    pub(crate) script: Script,
    pub(crate) session: Session,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let script = Script::default();
        Self::of(script.clone(), agent(&script))
    }

    pub(crate) fn of(script: Script, agent: Agent) -> Self {
        Self {
            script,
            session: Engine::new().create(agent),
        }
    }

    /// Makes one call and gives its output.
    pub(crate) async fn call(&self, tool: &'static str, arguments: Value) -> String {
        self.script.then(Step::Call(vec![(tool, arguments)]));
        self.script.then(Step::Say("ok"));
        self.session.send_and_wait("Go on.").await.unwrap();
        self.script.last_output()
    }

    /// Writes to the head past the session, as another session or an editor would.
    pub(crate) async fn outside(&self, path: &str, text: impl Into<Bytes> + Send) {
        let files = self.session.workspace_head().unwrap().file_system();
        files.write_all(path, text).await.unwrap();
    }

    pub(crate) async fn content(&self, path: &str) -> String {
        let files = self.session.workspace_head().unwrap().file_system();
        String::from_utf8(files.read_all(path).await.unwrap().to_vec()).unwrap()
    }

    /// The facts that the last call recorded.
    pub(crate) async fn data(&self) -> Option<Value> {
        let events = recorded(&self.session).await;
        events.into_iter().rev().find_map(|event| match event {
            EventPayload::ToolResult { data, .. } => Some(data),
            _ => None,
        })?
    }
}
