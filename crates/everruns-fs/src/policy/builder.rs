use std::sync::Arc;

use super::globs::{Globs, Sense};
use super::layer::Layer;
use super::{PolicyError, WorkspacePolicy};

/// A policy about to be built. It allows nothing until told.
///
/// Globs have the syntax of the `globset` crate; `*` stops at `/`, `**` does not.
///
/// * `src/*.rs` and `/workspace/src/*.rs` are the same: paths of the head.
/// * `/roots/docs/*.md` is about an additional root.
/// * A glob that starts with `**` is about the head and all roots.
/// * A glob without wildcards is a scope: the path and all below it.
/// * A denial always takes all below what it matches.
#[derive(Clone, Debug)]
#[must_use = "nothing is built before `build`"]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a rule of its own, which is on or off"
)]
pub struct WorkspacePolicyBuilder {
    allow_read: Vec<String>,
    allow_write: Vec<String>,
    deny_read: Vec<String>,
    deny_write: Vec<String>,
    hidden: bool,
    sensitive: bool,
    protect_build_folders: bool,
    recursive_delete: bool,
}

impl WorkspacePolicyBuilder {
    pub(super) fn new() -> Self {
        Self {
            allow_read: Vec::new(),
            allow_write: Vec::new(),
            deny_read: Vec::new(),
            deny_write: Vec::new(),
            hidden: true,
            sensitive: false,
            protect_build_folders: false,
            recursive_delete: false,
        }
    }

    /// Allows to read what `glob` matches.
    pub fn allow_read(mut self, glob: impl Into<String>) -> Self {
        self.allow_read.push(glob.into());
        self
    }

    /// Allows to read and write what `glob` matches.
    pub fn allow_write(mut self, glob: impl Into<String>) -> Self {
        self.allow_write.push(glob.into());
        self
    }

    /// Denies to read or write what `glob` matches, whatever allows it.
    pub fn deny_read(mut self, glob: impl Into<String>) -> Self {
        self.deny_read.push(glob.into());
        self
    }

    /// Denies to write what `glob` matches, whatever allows it.
    pub fn deny_write(mut self, glob: impl Into<String>) -> Self {
        self.deny_write.push(glob.into());
        self
    }

    /// Whether paths with a component that starts with a dot follow the globs like others. On by default:
    /// `.gitignore` and `.github` are part of a project. Turned off, they are denied.
    pub fn allow_hidden(mut self, allowed: bool) -> Self {
        self.hidden = allowed;
        self
    }

    /// Whether files that hold credentials by convention, such as `.env` and `*.pem`, follow the globs like
    /// others. Off by default: they are denied.
    pub fn allow_sensitive(mut self, allowed: bool) -> Self {
        self.sensitive = allowed;
        self
    }

    /// Whether folders that builds and package managers fill can only be read, whatever allows to write: `target`,
    /// `node_modules`, `build`, `dist`, `__pycache__`, `.venv`, `venv`, `.tox`, `.gradle`, `.next`, `.nuxt` and
    /// `bower_components`, spelled exactly so, at any depth, with all below them. Off by default, as these are
    /// ordinary names. It binds the file tools; a build that a compute runs writes there as before.
    pub fn protect_build_folders(mut self, protected: bool) -> Self {
        self.protect_build_folders = protected;
        self
    }

    /// Whether a folder may be removed with all below it at once. Off by default.
    pub fn allow_recursive_delete(mut self, allowed: bool) -> Self {
        self.recursive_delete = allowed;
        self
    }

    /// Compiles the policy.
    ///
    /// # Errors
    /// [`PolicyError`] names the glob that cannot be used.
    pub fn build(self) -> Result<WorkspacePolicy, PolicyError> {
        Ok(WorkspacePolicy::of(Arc::new(Layer {
            allow_read: Globs::compile(&self.allow_read, Sense::Allow)?,
            allow_write: Globs::compile(&self.allow_write, Sense::Allow)?,
            deny_read: Globs::compile(&self.deny_read, Sense::Deny)?,
            deny_write: Globs::compile(&self.deny_write, Sense::Deny)?,
            hidden: self.hidden,
            sensitive: self.sensitive,
            protect_build_folders: self.protect_build_folders,
            recursive_delete: self.recursive_delete,
        })))
    }
}
