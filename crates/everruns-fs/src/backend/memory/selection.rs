use std::collections::BTreeSet;

use everruns_core::path::WorkspacePath;

use crate::memory::{Tree, TreeChange};

/// Which of a head's paths a commit is about: files, and folders with everything below.
#[derive(Debug)]
pub(super) struct Selection(Vec<WorkspacePath>);

impl Selection {
    /// The paths `given`, below the head or below `/workspace`; those instead that none of `states` has anything at.
    pub(super) fn new(given: &[String], states: [&Tree; 2]) -> Result<Self, Vec<String>> {
        let mut wanted = Vec::with_capacity(given.len());
        let mut unknown = Vec::new();
        for text in given {
            match WorkspacePath::parse(text) {
                Ok(path) if states.iter().any(|state| state.get(&path).is_some()) => {
                    wanted.push(path);
                }
                _ => unknown.push(text.clone()),
            }
        }
        if unknown.is_empty() {
            Ok(Self(wanted))
        } else {
            Err(unknown)
        }
    }

    /// The changes that were asked for, and those that give way to them: a file where a folder is now.
    pub(super) fn of(&self, all: Vec<TreeChange>) -> Vec<TreeChange> {
        let made = all
            .iter()
            .filter(|change| change.after.is_some() && self.takes(&change.path));
        let mut above = BTreeSet::new();
        for change in made {
            let mut folder = change.path.parent();
            while let Some(path) = folder {
                folder = path.parent();
                if !above.insert(path) {
                    break;
                }
            }
        }
        all.into_iter()
            .filter(|change| {
                let gives_way = change.after.is_none() && above.contains(&change.path);
                gives_way || self.takes(&change.path)
            })
            .collect()
    }

    fn takes(&self, path: &WorkspacePath) -> bool {
        self.0.iter().any(|wanted| path.starts_with(wanted))
    }
}
