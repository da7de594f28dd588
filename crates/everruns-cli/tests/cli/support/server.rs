use everruns_acceptance::openai_server::{ScriptedOpenAi, ScriptedStep, SeenRequest};

/// A scripted server on a runtime of its own, so that tests can wait for processes.
pub(crate) struct Server {
    runtime: Option<tokio::runtime::Runtime>,
    scripted: ScriptedOpenAi,
    url: String,
}

impl Server {
    pub(crate) fn start(steps: Vec<ScriptedStep>) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let (server, url) = runtime.block_on(ScriptedOpenAi::start(steps)).unwrap();
        Self {
            runtime: Some(runtime),
            scripted: server,
            url,
        }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn requests(&self) -> Vec<SeenRequest> {
        self.scripted.requests()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // A delayed answer is not waited for.
            runtime.shutdown_background();
        }
    }
}
