//! What an examination has found so far.

use std::path::Path;
use std::sync::Arc;

use everruns_core::workspace::{DoctorReport, Finding};

use crate::context::Context;
use crate::error::{GitError, Result};
use crate::state::{HeadRecord, HeadState, Intent, Layout};

/// An examination under way.
pub(super) struct Examination<'a> {
    /// What is examined.
    pub(super) context: &'a Arc<Context>,
    repair: bool,
    findings: Vec<Finding>,
}

impl<'a> Examination<'a> {
    pub(super) fn new(context: &'a Arc<Context>, repair: bool) -> Self {
        Self {
            context,
            repair,
            findings: Vec::new(),
        }
    }

    pub(super) fn layout(&self) -> &'a Layout {
        &self.context.layout
    }

    /// Notes something that only people can decide about.
    pub(super) fn tell(
        &mut self,
        kind: &str,
        subject: impl Into<String>,
        detail: impl Into<String>,
    ) {
        self.findings.push(Finding {
            kind: kind.to_owned(),
            subject: subject.into(),
            detail: detail.into(),
            repairable: false,
            repaired: false,
        });
    }

    /// Notes something that is provably ours, and puts it right by `repair` if that is asked for.
    ///
    /// A repair that fails is told in the finding; the examination goes on.
    pub(super) fn offer(
        &mut self,
        kind: &str,
        subject: impl Into<String>,
        detail: impl Into<String>,
        repair: impl FnOnce() -> Result<()>,
    ) {
        let mut finding = Finding {
            kind: kind.to_owned(),
            subject: subject.into(),
            detail: detail.into(),
            repairable: true,
            repaired: false,
        };
        if self.repair {
            match repair() {
                Ok(()) => finding.repaired = true,
                Err(failure) => finding.detail = format!("{}; {failure}", finding.detail),
            }
        }
        self.findings.push(finding);
    }

    /// Whether neither an operation under way nor a living head accounts for what is named `head`.
    pub(super) fn is_unaccounted(&self, workspace: &str, head: &str) -> Result<bool> {
        // In this order: a creation clears its intent after it recorded its head.
        match Intent::load(self.layout(), head) {
            Ok(None) => {}
            Err(failure) if failure.is_of_process() => return Err(failure),
            // What can't be read is there nevertheless.
            Ok(Some(_)) | Err(_) => return Ok(false),
        }
        match HeadRecord::load(self.layout(), workspace, head) {
            Ok(record) => Ok(record.state == HeadState::Destroyed),
            Err(GitError::HeadUnknown { .. }) => Ok(true),
            Err(failure) => Err(failure),
        }
    }

    /// Whether the worktree record at `record` is of no head that is recorded here, nor about to be.
    pub(super) fn is_unknown(&self, workspace: &str, record: &Path) -> Result<bool> {
        match record.file_name().and_then(|name| name.to_str()) {
            Some(id) => self.is_unaccounted(workspace, id),
            None => Ok(true),
        }
    }

    pub(super) fn into_report(mut self) -> DoctorReport {
        let key = |finding: &Finding| (finding.kind.clone(), finding.subject.clone());
        self.findings.sort_by_key(key);
        DoctorReport {
            findings: self.findings,
        }
    }
}

/// A path as a subject.
pub(super) fn shown(path: &Path) -> String {
    path.display().to_string()
}
