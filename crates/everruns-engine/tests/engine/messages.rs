//! What people read when something is wrong.

use std::fmt::Write as _;

use everruns_core::clock::Timestamp;
use everruns_core::ids::{SessionId, WorkspaceBackendId, WorkspaceHeadId};
use everruns_core::session::LeaseOwner;
use everruns_core::workspace::WorkspaceError;
use everruns_engine::{BuildError, ResumeError, SessionEnvironmentError, SessionError};

fn session() -> SessionId {
    SessionId::new("ses_1").unwrap()
}

fn head() -> WorkspaceHeadId {
    WorkspaceHeadId::new("head_1").unwrap()
}

fn backend() -> WorkspaceBackendId {
    WorkspaceBackendId::new("local-git").unwrap()
}

fn listed(errors: &[&dyn std::error::Error]) -> String {
    let mut text = String::new();
    for error in errors {
        writeln!(text, "{error}").unwrap();
    }
    text
}

#[test]
fn build_errors() {
    let name = || "x".to_owned();
    insta::assert_snapshot!(listed(&[
        &BuildError::MissingProvider,
        &BuildError::MissingModel,
        &BuildError::DuplicateWorkspaceProvider { id: backend() },
        &BuildError::DuplicateTool { name: name() },
        &BuildError::ReservedToolName { name: name() },
        &BuildError::DuplicateRoot { name: name() },
        &BuildError::DuplicateFile { path: name() },
        &BuildError::FolderMissing {
            path: "/no/such".into()
        },
        &BuildError::NotAFolder {
            path: "/a/file".into()
        },
        &BuildError::NoIterations,
    ]));
}

#[test]
fn session_errors() {
    insta::assert_snapshot!(listed(&[
        &SessionEnvironmentError::ProviderConflict { id: backend() },
        &SessionEnvironmentError::AlreadyStarted { session: session() },
        &SessionEnvironmentError::HeadBound {
            head: head(),
            session: session()
        },
        &SessionEnvironmentError::HeadClaimed {
            head: head(),
            session: session()
        },
        &SessionError::TakenOver { session: session() },
        &SessionError::EmptyMessage,
        &SessionError::Stopped,
    ]));
}

#[test]
fn resume_errors() {
    insta::assert_snapshot!(listed(&[
        &ResumeError::NotFound { session: session() },
        &ResumeError::NotBound { session: session() },
        &ResumeError::AgentNotAttached { session: session() },
        &ResumeError::WorkspaceProviderUnavailable {
            session: session(),
            id: backend()
        },
        &ResumeError::HeadUnavailable {
            session: session(),
            source: WorkspaceError::HeadArchived { head: head() }
        },
        &ResumeError::BindingCorrupt {
            session: session(),
            source: "its payload is no object".into()
        },
        &ResumeError::IdentityMismatch {
            session: session(),
            expected: "head a".into(),
            found: "head b".into()
        },
        &ResumeError::HeadClaimed {
            session: session(),
            head: head(),
            holder: session()
        },
        &ResumeError::SessionBusy {
            session: session(),
            owner: LeaseOwner("process 1".into()),
            expires_at: Timestamp::default()
        },
    ]));
}

/// The names to come say the same, so that a program that shows them may change over at any time.
#[test]
fn c25_the_names_to_come_say_the_same() {
    assert_eq!(
        BuildError::DuplicateWorkspaceBackend { id: backend() }.to_string(),
        BuildError::DuplicateWorkspaceProvider { id: backend() }.to_string()
    );
    assert_eq!(
        SessionEnvironmentError::BackendConflict { id: backend() }.to_string(),
        SessionEnvironmentError::ProviderConflict { id: backend() }.to_string()
    );
}
