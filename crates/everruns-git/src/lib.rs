//! Git worktrees as workspace heads, by gitoxide in process.
//!
//! [`LocalGitWorkspace`] is the backend. Its heads are real linked worktrees of the user's repository, which Git's
//! own tools list and accept; the user's configuration, index, working tree, hooks and branches are never written,
//! and nothing that a repository names is ever run.
//!
//! | module | topic |
//! |---|---|
//! | `backend` | the core's traits |
//! | `head` | a head's life: create, restore, archive, destroy, recover |
//! | `checkpoint` | the whole state of a head as commits |
//! | `commit`, `advance` | commits, and branches that move together with their worktrees |
//! | `diff`, `merge`, `status`, `scan` | comparing |
//! | `worktree`, `index`, `files`, `ignored` | a head on disk |
//! | `doctor` | leftovers, explained and put right |
//! | `repository` | the user's repository, not trusted |
//! | `state`, `trash` | this backend's own records, locks and intents; folders on their way out |

mod advance;
mod backend;
mod blocking;
mod checkpoint;
mod commit;
mod context;
mod convert;
mod diff;
mod doctor;
mod error;
mod files;
mod flush;
mod head;
mod ignored;
mod index;
mod merge;
mod names;
mod objects;
mod repository;
mod scan;
mod state;
mod status;
mod threads;
mod trash;
mod worktree;

pub use backend::{LocalGitWorkspace, LocalGitWorkspaceBuilder};
pub use error::GitError;
