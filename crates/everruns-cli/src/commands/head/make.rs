//! Making heads.

use std::path::Path;

use super::keep::numbered;
use super::text::{head_json, head_text};
use crate::args::HeadRef;
use crate::failure::Failure;
use crate::output::{Output, shown};
use crate::repository::{open, open_head};
use crate::state::StateFolder;

pub(super) async fn create(
    state: &StateFolder,
    output: Output,
    repo: &Path,
    name: String,
    from: Option<String>,
    shared: bool,
) -> Result<(), Failure> {
    let workspace = open(state, repo).await?;
    let mut builder = workspace.head(name);
    if let Some(revision) = from {
        builder = builder.from_revision(revision);
    }
    if shared {
        builder = builder.shared();
    }
    let head = builder.create().await?;
    output.show(&head_json(&head), || {
        format!("made head {}", head_text(&head))
    })
}

pub(super) async fn fork(
    state: &StateFolder,
    output: Output,
    which: &HeadRef,
    name: String,
    checkpoint: Option<u64>,
) -> Result<(), Failure> {
    let (_, source) = open_head(state, which).await?;
    let (fork, began) = match checkpoint {
        None => (source.fork(name).await?, "its uncommitted work".to_owned()),
        Some(number) => {
            let kept = numbered(&source, number).await?;
            let fork = source.fork_from(name, &kept).await?;
            (fork, format!("the state of checkpoint {number}"))
        }
    };
    output.show(&head_json(&fork), || {
        format!(
            "forked {} with {began} into {}",
            shown(source.name()),
            head_text(&fork)
        )
    })
}
