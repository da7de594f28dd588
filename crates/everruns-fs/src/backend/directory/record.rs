use std::path::Path;

use everruns_core::clock::Timestamp;
use everruns_core::file_system::{
    FileSystemError, Precondition, ReadRange, SessionFileSystem as _,
};
use everruns_core::ids::WorkspaceHeadId;
use everruns_core::path::WorkspacePath;
use everruns_core::workspace::WorkspaceError;
use serde::{Deserialize, Serialize};

use crate::disk::{DiskFileSystem, DiskOptions};

const FORMAT: u32 = 1;

/// What is kept of a head beside the directory itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    format: u32,
    pub(super) created_at: Timestamp,
    pub(super) archived: bool,
}

/// The records, one file a head, written with compare-and-set so that processes do not undo one another.
#[derive(Clone, Debug)]
pub(super) struct Records {
    files: DiskFileSystem,
}

impl Records {
    /// Opens the records below the backend's `state` folder, made when missing. Blocks.
    pub(super) fn open(state: &Path) -> Result<Self, WorkspaceError> {
        let folder = state.join("records");
        std::fs::create_dir_all(&folder)
            .map_err(|error| WorkspaceError::io("make the state folder", &folder, error))?;
        let options = DiskOptions::new(state.join("record-locks"));
        Ok(Self {
            files: DiskFileSystem::open(&folder, options)?,
        })
    }

    pub(super) async fn get(
        &self,
        head: &WorkspaceHeadId,
    ) -> Result<Option<Record>, WorkspaceError> {
        Ok(self.read(head).await?.map(|(record, _)| record))
    }

    /// The head's record; a new one, made at `now`, when there is none.
    pub(super) async fn get_or_create(
        &self,
        head: &WorkspaceHeadId,
        now: Timestamp,
    ) -> Result<Record, WorkspaceError> {
        loop {
            if let Some((record, _)) = self.read(head).await? {
                return Ok(record);
            }
            let record = Record {
                format: FORMAT,
                created_at: now,
                archived: false,
            };
            if self.write(head, &record, Precondition::Absent).await? {
                return Ok(record);
            }
        }
    }

    /// Sets whether the head is archived; it must have a record.
    pub(super) async fn set_archived(
        &self,
        head: &WorkspaceHeadId,
        archived: bool,
    ) -> Result<(), WorkspaceError> {
        loop {
            let Some((mut record, version)) = self.read(head).await? else {
                return Err(WorkspaceError::HeadNotFound { head: head.clone() });
            };
            if record.archived == archived {
                return Ok(());
            }
            record.archived = archived;
            if self.write(head, &record, version).await? {
                return Ok(());
            }
        }
    }

    async fn read(
        &self,
        head: &WorkspaceHeadId,
    ) -> Result<Option<(Record, Precondition)>, WorkspaceError> {
        let content = match self.files.read(&path(head)?, ReadRange::ALL).await {
            Ok(content) => content,
            Err(FileSystemError::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let unusable = |reason: String| WorkspaceError::InvalidState {
            path: self.files.root().join(file_name(head)),
            reason,
        };
        let record: Record =
            serde_json::from_slice(content.bytes()).map_err(|error| unusable(error.to_string()))?;
        if record.format == FORMAT {
            Ok(Some((record, Precondition::Matches(content.version()))))
        } else {
            Err(unusable(format!(
                "its format is {}, not {FORMAT}",
                record.format
            )))
        }
    }

    /// Whether the record was written; `false` when another process was faster.
    async fn write(
        &self,
        head: &WorkspaceHeadId,
        record: &Record,
        precondition: Precondition,
    ) -> Result<bool, WorkspaceError> {
        let bytes = serde_json::to_vec(record)
            .map_err(|error| WorkspaceError::backend("write the head's record", error))?;
        match self
            .files
            .write(&path(head)?, bytes.into(), precondition)
            .await
        {
            Ok(_) => Ok(true),
            Err(FileSystemError::Conflict { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

fn file_name(head: &WorkspaceHeadId) -> String {
    format!("{head}.json")
}

fn path(head: &WorkspaceHeadId) -> Result<WorkspacePath, FileSystemError> {
    Ok(WorkspacePath::parse(&file_name(head))?)
}
