//! Merges of heads in memory in any order, beside a model of sets of names.

use std::collections::BTreeSet;
use std::sync::Arc;

use everruns_core::file_system::{Precondition, Removal, SessionFileSystemExt as _};
use everruns_core::workspace::{
    MergeOutcome, Workspace, WorkspaceBackend, WorkspaceCheckpoint, WorkspaceHead,
};
use everruns_fs::MemoryWorkspaceBackend;
use proptest::prelude::*;

use crate::support::{names, path};

/// The names of a state; what a file holds is its name.
type Names = BTreeSet<String>;

/// What a state would merge: how it differs from what it starts from.
#[derive(Clone)]
struct Work {
    state: Names,
    base: Names,
}

struct Head {
    head: WorkspaceHead,
    work: Work,
}

struct Kept {
    checkpoint: WorkspaceCheckpoint,
    /// What names it, when destroying kept it.
    reference: Option<String>,
    work: Work,
}

struct Run {
    workspace: Workspace,
    main: Names,
    heads: Vec<Head>,
    kept: Vec<Kept>,
    made: usize,
}

impl Run {
    async fn new() -> Self {
        let backend: Arc<dyn WorkspaceBackend> = Arc::new(MemoryWorkspaceBackend::new());
        Self {
            workspace: Workspace::open(backend, "project").await.unwrap(),
            main: Names::new(),
            heads: Vec::new(),
            kept: Vec::new(),
            made: 0,
        }
    }

    fn name(&mut self) -> String {
        self.made += 1;
        format!("head {}", self.made)
    }

    async fn create(&mut self) {
        let name = self.name();
        let head = self.workspace.head(name).create().await.unwrap();
        let work = Work {
            state: self.main.clone(),
            base: self.main.clone(),
        };
        self.add(head, work).await;
    }

    async fn add(&mut self, head: WorkspaceHead, work: Work) {
        let files = head.file_system();
        let here: Names = names(files.as_ref(), ".").await.into_iter().collect();
        assert_eq!(here, work.state);
        self.heads.push(Head { head, work });
    }

    async fn edit(&mut self, at: usize, file: &str) {
        let Head { head, work } = &mut self.heads[at];
        let files = head.file_system();
        if work.state.remove(file) {
            files
                .remove(&path(file), Removal::Entry, Precondition::Any)
                .await
                .unwrap();
        } else {
            files.write_all(file, file.to_owned()).await.unwrap();
            work.state.insert(file.to_owned());
        }
    }

    async fn merge(&mut self, at: usize) {
        let Head { head, work } = &mut self.heads[at];
        let (id, Work { state, base }) = (head.id().clone(), work.clone());
        let outcome = head.merge_into("main").await.unwrap();
        work.base.clone_from(&state);
        let came: Names = state.difference(&base).cloned().collect();
        let went: Names = base.difference(&state).cloned().collect();
        let mut main: Names = self.main.difference(&went).cloned().collect();
        main.extend(came);
        let is_merged = matches!(outcome, MergeOutcome::Merged { .. });
        assert_eq!(is_merged, main != self.main, "{outcome:?}");
        self.main = main;
        // What the head kept of this very state is merged as well.
        for kept in &mut self.kept {
            if kept.checkpoint.head_id == id && kept.work.state == state {
                kept.work.base.clone_from(&state);
            }
        }
        let name = self.name();
        let look = self.workspace.head(name).create().await.unwrap();
        let there = names(look.file_system().as_ref(), ".").await;
        assert_eq!(there.into_iter().collect::<Names>(), self.main);
    }

    async fn keep(&mut self, at: usize) {
        let Head { head, work } = &self.heads[at];
        let checkpoint = head.checkpoint().await.unwrap();
        let work = work.clone();
        self.kept.push(Kept {
            checkpoint,
            reference: None,
            work,
        });
    }

    async fn destroy(&mut self, at: usize) {
        let Head { head, work } = self.heads.remove(at);
        let receipt = head.destroy().await.unwrap();
        match (receipt.checkpoint, receipt.kept_ref) {
            (Some(checkpoint), Some(reference)) => self.kept.push(Kept {
                checkpoint,
                reference: Some(reference),
                work,
            }),
            (None, None) => {}
            other => panic!("a receipt of half a checkpoint: {other:?}"),
        }
    }

    async fn begin_from(&mut self, at: usize, number: usize) {
        let name = self.name();
        let kept = &self.kept[number];
        let work = kept.work.clone();
        let head = match &kept.reference {
            Some(reference) => {
                let builder = self.workspace.head(name).from_revision(reference);
                builder.create().await
            }
            None => self.heads[at].head.fork_from(name, &kept.checkpoint).await,
        };
        self.add(head.unwrap(), work).await;
    }

    async fn step(&mut self, kind: u8, at: usize, file: u8) {
        if self.heads.is_empty() || kind == 0 {
            self.create().await;
        }
        // Mostly one of the latest, so that much happens to each.
        let at = self.heads.len() - 1 - at % self.heads.len().min(2);
        match kind {
            1..=4 => self.edit(at, &format!("{}", file % 2)).await,
            5 | 6 => self.merge(at).await,
            7 => self.keep(at).await,
            8 => {
                let name = self.name();
                let Head { head, work } = &self.heads[at];
                let (fork, work) = (head.fork(name).await.unwrap(), work.clone());
                self.add(fork, work).await;
            }
            9 => self.destroy(at).await,
            _ if !self.kept.is_empty() => {
                let number = self.kept.len() - 1 - usize::from(file) % self.kept.len().min(3);
                self.begin_from(at, number).await;
                self.merge(self.heads.len() - 1).await;
            }
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever a head is made from, it merges what its state changed since that state was merged, and nothing else.
    #[test]
    fn merges_bring_what_was_changed_and_nothing_else(
        steps in prop::collection::vec((0_u8..11, any::<usize>(), any::<u8>()), 1..80),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut run = Run::new().await;
            for (kind, at, file) in steps {
                run.step(kind, at, file).await;
            }
        });
    }
}
