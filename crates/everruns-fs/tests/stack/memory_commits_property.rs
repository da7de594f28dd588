//! Heads in memory that commit, merge and update at random.

use std::collections::BTreeMap;

use everruns_core::workspace::{MergeOutcome, UpdateOutcome, WorkspaceError};
use proptest::prelude::*;

use crate::memory_commits::{commit_if_any, dirty, get, head, own, put, remove, workspace};

/// One step of a head in the property below.
#[derive(Clone, Copy, Debug)]
enum Step {
    Write(u8, u8),
    Remove(u8),
    Commit,
    Merge,
    Update,
}

fn step() -> impl Strategy<Value = (usize, Step)> {
    let step = prop_oneof![
        4 => (0_u8..3, any::<u8>()).prop_map(|(file, content)| Step::Write(file, content)),
        1 => (0_u8..3).prop_map(Step::Remove),
        2 => Just(Step::Commit),
        2 => Just(Step::Merge),
        2 => Just(Step::Update),
    ];
    (0_usize..3, step)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    /// Heads that each change files of their own never conflict, and in the end all have what each made of its own.
    #[test]
    fn work_on_files_of_ones_own_comes_together(steps in prop::collection::vec(step(), 1..40)) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let (_, workspace) = workspace().await;
            let mut heads = Vec::new();
            for name in ["a", "b", "c"] {
                heads.push(head(&workspace, name).await);
            }
            let mut made: BTreeMap<String, String> = BTreeMap::new();
            for (who, step) in steps {
                let head = &heads[who];
                match step {
                    Step::Write(file, content) => {
                        let at = format!("{who}/{file}");
                        put(head, &at, &content.to_string()).await;
                        made.insert(at, content.to_string());
                    }
                    Step::Remove(file) => {
                        let at = format!("{who}/{file}");
                        if made.remove(&at).is_some() {
                            // A file that no commit had is none that an update could know to be removed.
                            commit_if_any(head).await;
                            remove(head, &at).await;
                            commit_if_any(head).await;
                        }
                    }
                    Step::Commit => commit_if_any(head).await,
                    Step::Merge => {
                        let outcome = head.merge_into("main").await.unwrap();
                        assert!(!matches!(outcome, MergeOutcome::Conflicts(_)), "{outcome:?}");
                    }
                    Step::Update => match head.update_from("main").await {
                        Ok(UpdateOutcome::Conflicts(conflicts)) => panic!("{conflicts:?}"),
                        Ok(_) | Err(WorkspaceError::LocalChanges { .. }) => {}
                        Err(error) => panic!("{error:?}"),
                    },
                }
                for (at, content) in made.iter().filter(|(at, _)| at.starts_with(&who.to_string())) {
                    assert_eq!(&get(head, at).await, content, "{at} after {step:?}");
                }
            }
            for head in &heads {
                commit_if_any(head).await;
                head.merge_into("main").await.unwrap();
            }
            for head in &heads {
                head.update_from("main").await.unwrap();
                assert!(dirty(head).await.is_empty());
                let diff = head.diff_between(
                    everruns_core::workspace::DiffBase::Revision("main".to_owned()),
                    everruns_core::workspace::DiffBase::Revision(own(head)),
                );
                assert!(!diff.await.unwrap().changed);
                let files = head.diff().await.unwrap().files;
                let paths: Vec<String> = files.into_iter().map(|file| file.path).collect();
                let expected: Vec<String> = made.keys().cloned().collect();
                assert_eq!(paths, expected);
                for (at, content) in &made {
                    assert_eq!(&get(head, at).await, content, "{at} in {}", head.name());
                }
            }
        });
    }
}
