//! Every AI-agent session in its own exact, isolated, forkable, resumable working environment.
//!
//! An [`Agent`] describes behaviour. A [`Session`] owns the conversation. An [`Environment`] fixes what a session executes
//! on, beginning with one [`WorkspaceHead`]: a stable, mutable view of a [`Workspace`], for example a Git worktree.
//!
//! # Features
//!
//! | feature | brings |
//! |---|---|
//! | `openai` (default) | `OpenAI` and compatible endpoints |
//! | `tools` (default) | the file tools that a model calls |
//! | `git` | `LocalGitWorkspace`: Git worktrees as heads |
//! | `sqlite` | `Engine::local` and `SqliteSessionStore`: durable sessions in an embedded database |
//! | `local` | `git` and `sqlite` |
//! | `postgres` | `PostgresSessionStore` |
//! | `anthropic` | `Anthropic` |
//! | `compute` | commands on a head, confined by the kernel where the host can |
//!
//! The names used every day are at the top; what implementors of a backend, store, provider or file system need is in
//! the modules.

mod engine;

pub mod compat;

pub use engine::{Engine, EngineBuilder};
#[cfg(feature = "compute")]
pub use everruns_compute::HostCompute;
#[cfg(all(feature = "compute", target_os = "linux"))]
pub use everruns_compute::{LandlockBuilder, LandlockCompute};
pub use everruns_core::environment::{Environment, EnvironmentBuilder, EnvironmentError};
pub use everruns_core::ids::{
    IdError, SessionId, WorkspaceBackendId, WorkspaceHeadId, WorkspaceId,
};
pub use everruns_core::workspace::{
    ArchiveReceipt, BindingError, BindingPayload, CommitIdentity, CommitReceipt, CommitRequest,
    ConflictSide, DegradedFact, DestroyReceipt, DiffBase, DiffLine, DiffLineKind, DiffRequest,
    DoctorReport, EntryState, FileChange, FileDiff, Finding, Hunk, IgnoredReport, IncludedFile,
    MergeConflict, MergeOutcome, MergeRequest, MergeStrategy, PruneReceipt, RestorePlan,
    RestoreReceipt, RestoreStep, SkippedFile, StatusEntry, UncapturedEntry, UpdateOutcome,
    UpdateRequest, Workspace, WorkspaceBackend, WorkspaceBinding, WorkspaceCheckpoint,
    WorkspaceDescriptor, WorkspaceDiff, WorkspaceError, WorkspaceHead, WorkspaceHeadAccess,
    WorkspaceHeadBuilder, WorkspaceHeadDescriptor, WorkspaceHeadName, WorkspaceHeadRequest,
    WorkspaceHeadResource, WorkspaceHeadState, WorkspaceHeadStatus, WorkspacePatch,
};
pub use everruns_core::{
    BoxError, clock, compute, entropy, failpoint, file_system, model, path, session,
};
pub use everruns_engine::engine::DeleteError;
pub use everruns_engine::session::{
    HistoryMessage, HistoryPage, HistoryQuery, HistoryRewind, PlaceFiles, Rewound, SessionEvents,
    SessionInspection, SessionPlace, SessionUpdate, SessionUpdates,
};
pub use everruns_engine::transfer;
pub use everruns_engine::{
    Agent, AgentBuilder, BuildError, CheckpointPolicy, InMemorySessionStore, PendingTurn,
    ResumeError, Session, SessionEnvironmentError, SessionError, Tool, ToolContext, ToolError,
    ToolOutput, Turn,
};
pub use everruns_fs::{
    AuditEvent, AuditFileSystem, AuditOperation, AuditOutcome, AuditSink,
    DirectoryWorkspaceBackend, FileLimits, FileUsage, LimitsFileSystem, MemoryCommit,
    MemoryFileSystem, MemoryWorkspaceBackend, MountedFileSystem, PolicyDecision, PolicyError,
    PolicyFileSystem, RootAccess, RootError, SeedError, SeededFile, SeededFileSystem,
    WorkspacePolicy, WorkspacePolicyBuilder, WorkspaceRootSet,
};
#[cfg(feature = "git")]
pub use everruns_git::{LocalGitWorkspace, LocalGitWorkspaceBuilder};
#[cfg(feature = "anthropic")]
pub use everruns_models::Anthropic;
#[cfg(feature = "openai")]
pub use everruns_models::OpenAI;
pub use everruns_models::{Simulated, SimulatedStep};
#[cfg(feature = "postgres")]
pub use everruns_store::PostgresSessionStore;
#[cfg(feature = "sqlite")]
pub use everruns_store::SqliteSessionStore;
