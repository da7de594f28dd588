use std::collections::BTreeMap;

use everruns_core::ids::WorkspaceHeadId;
use everruns_core::workspace::{WorkspaceError, WorkspaceHeadName, WorkspaceHeadState};

use super::state::HeadState;

/// The heads of a workspace, destroyed ones too. One is found without a look at the others.
#[derive(Debug, Default)]
pub(super) struct Heads {
    /// Oldest first.
    all: Vec<HeadState>,
    by_id: BTreeMap<WorkspaceHeadId, usize>,
    /// The latest of each name; one that comes later than another follows a destroyed one.
    by_name: BTreeMap<WorkspaceHeadName, usize>,
}

impl Heads {
    pub(super) fn iter(&self) -> impl Iterator<Item = &HeadState> {
        self.all.iter()
    }

    pub(super) fn get(&self, id: &WorkspaceHeadId) -> Option<&HeadState> {
        self.all.get(*self.by_id.get(id)?)
    }

    pub(super) fn get_mut(&mut self, id: &WorkspaceHeadId) -> Option<&mut HeadState> {
        let at = *self.by_id.get(id)?;
        self.all.get_mut(at)
    }

    /// Adds a head, unless another has its name and is not destroyed.
    pub(super) fn add(&mut self, head: HeadState) -> Result<(), WorkspaceError> {
        let descriptor = &head.descriptor;
        self.check_name(&descriptor.name)?;
        let at = self.all.len();
        self.by_id.insert(descriptor.id.clone(), at);
        self.by_name.insert(descriptor.name.clone(), at);
        self.all.push(head);
        Ok(())
    }

    pub(super) fn check_name(&self, name: &WorkspaceHeadName) -> Result<(), WorkspaceError> {
        let holder = self
            .by_name
            .get(name)
            .and_then(|&at| self.all.get(at))
            .map(|head| &head.descriptor)
            .filter(|head| head.state != WorkspaceHeadState::Destroyed);
        match holder {
            None => Ok(()),
            Some(head) => Err(WorkspaceError::NameTaken {
                name: name.to_string(),
                head: head.id.clone(),
            }),
        }
    }
}
