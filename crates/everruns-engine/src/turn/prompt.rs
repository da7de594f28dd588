use std::fmt::Write as _;

use everruns_fs::{RootAccess, WorkspaceRootSet};

use crate::agent::Agent;

/// The agent's instructions, with what the model must know of where it works. Paths are those of the portable
/// namespace; where the bytes are on a host is nobody's business here.
pub(super) fn instructions(agent: &Agent) -> String {
    let parts = agent.parts();
    let mut text = parts.instructions.trim_end().to_owned();
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(
        "Your files are in /workspace; a relative path such as src/main.rs means /workspace/src/main.rs.",
    );
    describe_roots(&mut text, &parts.roots);
    text
}

fn describe_roots(text: &mut String, roots: &WorkspaceRootSet) {
    if roots.is_empty() {
        return;
    }
    text.push_str(" There are more folders beside it:");
    for name in roots.names() {
        let access = match roots.access(name) {
            Some(RootAccess::ReadWrite) => "can be read and changed",
            _ => "can only be read",
        };
        // Writing to a text cannot fail.
        let _infallible = write!(text, "\n- /roots/{name} {access}");
    }
}
