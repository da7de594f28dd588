use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use everruns_compute::HostCompute;
use everruns_core::compute::{CommandEnd, CommandOutcome, CommandRequest, Compute};

/// A shell command.
pub(crate) fn sh(script: &str) -> CommandRequest {
    let mut request = CommandRequest::new("sh");
    request.arguments = vec!["-c".into(), script.into()];
    request.timeout = Duration::from_secs(20);
    request
}

pub(crate) async fn run(compute: &dyn Compute, script: &str) -> CommandOutcome {
    compute.run(sh(script)).await.unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub(crate) fn succeeded(outcome: &CommandOutcome) -> bool {
    outcome.end == CommandEnd::Exited(0)
}

/// Every compute that this host can run, in this folder.
pub(crate) fn computes(folder: &Path) -> Vec<Arc<dyn Compute>> {
    let host: Arc<dyn Compute> = Arc::new(HostCompute::in_folder(folder));
    let mut all = vec![host];
    #[cfg(target_os = "linux")]
    if let Some(landlock) = crate::landlock::confined(folder) {
        all.push(Arc::new(landlock));
    }
    all
}

/// Waits until no process has this text in its arguments.
pub(crate) async fn gone(text: &str) -> bool {
    for _ in 0..100 {
        if !is_running(text) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    false
}

pub(crate) fn is_running(text: &str) -> bool {
    let mut processes = Path::new("/proc").read_dir().unwrap().flatten();
    processes.any(|process| {
        let arguments = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        arguments
            .split(|byte| *byte == 0)
            .any(|argument| argument == text.as_bytes())
    })
}
