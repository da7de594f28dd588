use std::fmt;

use everruns_core::file_system::FileAccess;
use everruns_core::path::WorkspacePath;

/// What a policy says about one path, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PolicyDecision {
    /// Whether it is allowed.
    pub allowed: bool,
    /// The rule that decided, for people.
    pub rule: String,
}

/// The rule that refuses a path. It borrows its glob, so that judging a path costs no allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal<'a> {
    GitInternal,
    Sensitive(&'static str),
    Hidden,
    BuildFolder(&'static str),
    Denied(FileAccess, &'a str),
    NotAllowed(FileAccess),
}

/// A refusal, and the name of the path that it is about, where that is another one than was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Judgement<'a> {
    pub(super) refusal: Refusal<'a>,
    pub(super) other_name: Option<WorkspacePath>,
}

impl<'a> From<Refusal<'a>> for Judgement<'a> {
    fn from(refusal: Refusal<'a>) -> Self {
        Self {
            refusal,
            other_name: None,
        }
    }
}

impl fmt::Display for Judgement<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.refusal.fmt(f)?;
        match &self.other_name {
            None => Ok(()),
            Some(name) => write!(f, ", as it is also {name}"),
        }
    }
}

impl fmt::Display for Refusal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GitInternal => f.write_str("Git's own folder is never accessible"),
            Self::Sensitive(kind) => write!(f, "{kind} is protected (allow_sensitive)"),
            Self::Hidden => f.write_str("hidden files are not allowed (allow_hidden)"),
            Self::BuildFolder(name) => write!(
                f,
                "what a build makes in `{name}` is not written by hand (protect_build_folders)"
            ),
            Self::Denied(access, glob) => write!(f, "deny_{access} `{}`", glob.escape_debug()),
            Self::NotAllowed(access) => write!(f, "no allow_{access} rule matches"),
        }
    }
}
