//! One local directory as a shared head.

use std::path::PathBuf;
use std::sync::Arc;

use everruns_core::file_system::{FileSystemError, SessionFileSystemExt as _};
use everruns_core::ids::SessionId;
use everruns_core::workspace::{
    BindingPayload, Workspace, WorkspaceBackend, WorkspaceError, WorkspaceHead, WorkspaceHeadAccess,
};
use everruns_fs::DirectoryWorkspaceBackend;

use crate::support::text;

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("project")).unwrap();
        Self { folder }
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn open(&self) -> Result<Arc<dyn WorkspaceBackend>, WorkspaceError> {
        let backend =
            DirectoryWorkspaceBackend::open(self.project(), self.folder.path().join("state"))?;
        Ok(Arc::new(backend))
    }

    async fn head(&self) -> WorkspaceHead {
        let workspace = self.workspace().await;
        workspace.head("any name").shared().create().await.unwrap()
    }

    async fn workspace(&self) -> Workspace {
        let locator = self.project().to_str().unwrap().to_owned();
        Workspace::open(self.open().unwrap(), locator)
            .await
            .unwrap()
    }
}

/// Proves C18: the exact canonical path is in the binding, and ids are the same after a restart.
#[tokio::test]
async fn c18_the_binding_holds_the_exact_canonical_path() {
    let place = Place::new();
    let link = place.folder.path().join("link");
    std::os::unix::fs::symlink(place.project(), &link).unwrap();
    let through_link =
        DirectoryWorkspaceBackend::open(&link, place.folder.path().join("state")).unwrap();
    let canonical = std::fs::canonicalize(place.project()).unwrap();
    assert_eq!(through_link.path(), canonical);
    let head = place.head().await;
    assert_eq!(head.access(), WorkspaceHeadAccess::Shared);
    assert_eq!(head.name(), "project");
    let binding = head.binding();
    assert_eq!(binding.payload.value()["path"], canonical.to_str().unwrap());
    let again = WorkspaceHead::reopen(Arc::new(through_link), &binding)
        .await
        .unwrap();
    assert_eq!(again.descriptor(), head.descriptor());
}

/// Proves C18 and C07: sessions share the directory and see each other's changes, and the user's.
#[tokio::test]
async fn c18_sessions_share_the_directory() {
    let place = Place::new();
    let (one, two) = (place.head().await, place.head().await);
    assert_eq!(one.id(), two.id());
    for session in ["ses_1", "ses_2"] {
        one.claim(&SessionId::new(session).unwrap()).await.unwrap();
    }
    one.file_system().write_all("a", "one").await.unwrap();
    assert_eq!(text(two.file_system().as_ref(), "a").await.unwrap(), "one");
    std::fs::write(place.project().join("b"), "user").unwrap();
    assert_eq!(text(one.file_system().as_ref(), "b").await.unwrap(), "user");
}

/// Proves C15 and H08: a directory that takes the place of the recorded one is never used for it.
#[tokio::test]
async fn c15_h08_a_directory_in_its_place_is_another_head() {
    let place = Place::new();
    let head = place.head().await;
    head.file_system().write_all("a", "1").await.unwrap();
    let (binding, old) = (head.binding(), place.folder.path().join("old"));
    std::fs::rename(place.project(), &old).unwrap();
    let gone = head.claim(&SessionId::new("ses_1").unwrap()).await;
    assert!(matches!(gone, Err(WorkspaceError::HeadUnavailable { .. })));
    std::fs::create_dir(place.project()).unwrap();
    // The backend that is open, and one that opens the new directory.
    for backend in [Arc::clone(head.backend()), place.open().unwrap()] {
        let refused = WorkspaceHead::reopen(backend, &binding).await;
        assert!(
            matches!(refused, Err(WorkspaceError::HeadUnavailable { .. })),
            "{refused:?}"
        );
    }
    let stale = head.file_system().write_all("a", "2").await;
    assert!(
        matches!(stale, Err(FileSystemError::StaleRoot { .. })),
        "{stale:?}"
    );
    assert_eq!(std::fs::read(old.join("a")).unwrap(), b"1");
    assert!(place.head().await.id() != head.id());
}

#[tokio::test]
async fn c15_a_binding_to_another_directory_is_refused() {
    let (one, two) = (Place::new(), Place::new());
    let binding = one.head().await.binding();
    let refused = WorkspaceHead::reopen(two.open().unwrap(), &binding).await;
    assert!(matches!(
        refused,
        Err(WorkspaceError::HeadUnavailable { .. })
    ));
    let mut forged = binding.clone();
    forged.payload = two.head().await.binding().payload;
    let refused = WorkspaceHead::reopen(two.open().unwrap(), &forged).await;
    assert!(matches!(
        refused,
        Err(WorkspaceError::BindingCorrupt { .. })
    ));
    forged.payload = BindingPayload::new(serde_json::json!({"path": "/"})).unwrap();
    let refused = WorkspaceHead::reopen(two.open().unwrap(), &forged).await;
    assert!(matches!(
        refused,
        Err(WorkspaceError::BindingCorrupt { .. })
    ));
}

/// Proves C11 and C24: what a plain directory cannot do is said, and the directory is never removed.
#[tokio::test]
async fn c11_what_it_cannot_do_is_said_and_nothing_is_removed() {
    let place = Place::new();
    let head = place.head().await;
    head.file_system().write_all("a", "1").await.unwrap();
    let unsupported = |result: Result<(), WorkspaceError>| {
        assert!(
            matches!(result, Err(WorkspaceError::Unsupported { .. })),
            "{result:?}"
        );
    };
    unsupported(head.status().await.map(drop));
    unsupported(head.diff().await.map(drop));
    unsupported(head.checkpoint().await.map(drop));
    unsupported(head.fork("x").await.map(drop));
    unsupported(head.merge_into("main").await.map(drop));
    unsupported(head.destroy().await.map(drop));
    let workspace = place.workspace().await;
    unsupported(workspace.head("x").create().await.map(drop));
    unsupported(
        workspace
            .head("x")
            .shared()
            .from_revision("main")
            .create()
            .await
            .map(drop),
    );
    drop((workspace, head));
    assert_eq!(std::fs::read(place.project().join("a")).unwrap(), b"1");
    assert_eq!(std::fs::read_dir(place.project()).unwrap().count(), 1);
}

/// Proves H29b for this backend: its state is never among the user's files.
#[test]
fn h29b_state_inside_the_directory_is_refused() {
    let place = Place::new();
    let project = place.project();
    std::os::unix::fs::symlink(&project, place.folder.path().join("link")).unwrap();
    for state in [
        project.clone(),
        project.join("state"),
        place.folder.path().join("link/state"),
    ] {
        let refused = DirectoryWorkspaceBackend::open(&project, &state);
        assert!(
            matches!(refused, Err(WorkspaceError::InvalidState { .. })),
            "{state:?}"
        );
        assert_eq!(std::fs::read_dir(&project).unwrap().count(), 0, "{state:?}");
    }
}

#[test]
fn paths_that_are_no_directory_are_refused() {
    let place = Place::new();
    let state = place.folder.path().join("state");
    let open = |name: &str| DirectoryWorkspaceBackend::open(place.folder.path().join(name), &state);
    std::fs::write(place.folder.path().join("file"), "x").unwrap();
    assert!(matches!(
        open("missing"),
        Err(WorkspaceError::NotFound { .. })
    ));
    assert!(matches!(
        open("file"),
        Err(WorkspaceError::InvalidLocator { .. })
    ));
}

/// Proves H72 for this backend: a record that it cannot read is left as it is.
#[tokio::test]
async fn h72_damaged_records_are_refused() {
    let place = Place::new();
    let head = place.head().await;
    let record = place
        .folder
        .path()
        .join("state/records")
        .join(format!("{}.json", head.id()));
    let whole = std::fs::read(&record).unwrap();
    let newer = String::from_utf8(whole)
        .unwrap()
        .replace("\"format\":1", "\"format\":99");
    for damaged in ["", "{}", newer.as_str()] {
        std::fs::write(&record, damaged).unwrap();
        let refused = WorkspaceHead::reopen(place.open().unwrap(), &head.binding()).await;
        assert!(
            matches!(refused, Err(WorkspaceError::InvalidState { .. })),
            "{refused:?}"
        );
        assert_eq!(std::fs::read(&record).unwrap(), damaged.as_bytes());
    }
}
