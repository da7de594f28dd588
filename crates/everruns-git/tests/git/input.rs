//! Wrong input: each has its own error, and nothing is left behind.

use std::sync::Arc;

use everruns_core::workspace::{Workspace, WorkspaceError};
use everruns_git::LocalGitWorkspace;

use crate::fixture::{Scene, git, snapshot};

async fn open(scene: &Scene, locator: &str) -> WorkspaceError {
    Workspace::open(Arc::clone(&scene.backend), locator)
        .await
        .unwrap_err()
}

#[tokio::test]
async fn locators_that_lead_nowhere() {
    let scene = Scene::new();
    let plain = scene.root.path().join("plain");
    std::fs::create_dir(&plain).unwrap();
    let missing = scene.root.path().join("missing");
    let path = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    assert!(matches!(
        open(&scene, &path(&missing)).await,
        WorkspaceError::NotFound { .. }
    ));
    assert!(matches!(
        open(&scene, &path(&plain)).await,
        WorkspaceError::NotARepository { .. }
    ));
    assert!(matches!(
        open(&scene, "").await,
        WorkspaceError::InvalidLocator { .. }
    ));
    assert!(matches!(
        open(&scene, "a\0b").await,
        WorkspaceError::InvalidLocator { .. }
    ));
    let file = scene.repository.path.join("README.md/x");
    assert!(matches!(
        open(&scene, &path(&file)).await,
        WorkspaceError::NotFound { .. }
    ));
}

#[tokio::test]
async fn h25_texts_that_are_no_revision() {
    let scene = Scene::new();
    let before = snapshot(&scene.repository.path);
    let workspace = scene.workspace().await;
    let long = "x".repeat(1 << 20);
    let texts = [
        "--output=f",
        "-x",
        "",
        " ",
        "main..other",
        "main...other",
        "^main",
        "nothing",
        "main\n",
        &long,
        "refs/heads/none",
        "HEAD^{tree}",
        "main:README.md",
        "HEAD~99",
        "@{-1}",
        "0000000000000000000000000000000000000000",
    ];
    for text in texts {
        let failure = workspace
            .head("x")
            .from_revision(text)
            .create()
            .await
            .unwrap_err();
        let shown: String = text.chars().take(40).collect();
        assert!(
            matches!(failure, WorkspaceError::UnknownRevision { .. }),
            "{shown:?}: {failure:?}"
        );
        assert!(failure.to_string().len() < 600);
    }
    assert!(workspace.heads().await.unwrap().is_empty());
    assert_eq!(snapshot(&scene.repository.path), before);
    for text in ["main", "HEAD", "HEAD~1", "refs/heads/main", "main^{commit}"] {
        workspace
            .head(text.replace('^', ""))
            .from_revision(text)
            .create()
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn a_name_is_taken_once() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let workspace = scene.workspace().await;
    let branches = git(&scene.repository.path, &["branch", "--list"]);
    let failure = workspace.head("one").create().await.unwrap_err();
    assert!(
        matches!(&failure, WorkspaceError::NameTaken { head: held, .. } if held == head.id()),
        "{failure}"
    );
    assert!(head.fork("one").await.is_err());
    assert_eq!(git(&scene.repository.path, &["branch", "--list"]), branches);
    assert_eq!(workspace.heads().await.unwrap().len(), 1);
    assert_eq!(
        std::fs::read_dir(scene.state.join("intents"))
            .unwrap()
            .count(),
        0
    );
    workspace.head("One").create().await.unwrap();
}

/// H29b: the state folder is never part of somebody's files.
#[tokio::test]
async fn h29b_state_inside_a_repository_or_head_is_refused() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let project = &scene.repository.path;
    let alias = scene.root.path().join("alias");
    std::os::unix::fs::symlink(project, &alias).unwrap();
    let inside = [
        project.join("state"),
        project.join(".git/state"),
        scene.folder(&head).join("s"),
        alias.join("s"),
    ];
    for path in inside {
        let failure = LocalGitWorkspace::new(&path).unwrap_err();
        assert!(
            matches!(failure, WorkspaceError::InvalidState { .. }),
            "{failure}"
        );
        assert!(!path.exists());
    }
}

/// Records of a newer version are refused and left alone.
#[tokio::test]
async fn a_newer_record_is_refused() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let path = scene
        .state
        .join("heads")
        .join(head.workspace_id().as_str())
        .join(format!("{}.json", head.id()));
    let newer = String::from_utf8(std::fs::read(&path).unwrap())
        .unwrap()
        .replace("\"format\": 1", "\"format\": 2");
    std::fs::write(&path, &newer).unwrap();
    let failure = scene
        .workspace()
        .await
        .reopen(&head.binding())
        .await
        .unwrap_err();
    assert!(
        matches!(failure, WorkspaceError::InvalidState { .. }),
        "{failure}"
    );
    assert_eq!(std::fs::read(&path).unwrap(), newer.as_bytes());
}

/// Proves C15: a binding that doesn't fit is an error, never another head.
#[tokio::test]
async fn c15_bindings_that_do_not_fit() {
    use everruns_core::ids::{WorkspaceHeadId, WorkspaceId};
    use everruns_core::workspace::BindingPayload;
    let scene = Scene::new();
    let (one, two) = (scene.head("one").await, scene.head("two").await);
    let backend = &scene.backend;

    let mut binding = one.binding();
    binding.payload = two.binding().payload;
    assert!(matches!(
        backend.reopen_head(&binding).await,
        Err(WorkspaceError::BindingCorrupt { .. })
    ));
    binding.payload = BindingPayload::default();
    assert!(matches!(
        backend.reopen_head(&binding).await,
        Err(WorkspaceError::BindingCorrupt { .. })
    ));
    for id in [
        "head_0000000000000000000a",
        "..",
        "x.json",
        "head_..",
        "HEAD",
    ] {
        let mut binding = one.binding();
        binding.head_id = WorkspaceHeadId::new(id).unwrap();
        let failure = backend.reopen_head(&binding).await.unwrap_err();
        assert!(
            matches!(failure, WorkspaceError::HeadNotFound { .. }),
            "{id}: {failure:?}"
        );
    }
    let mut binding = one.binding();
    binding.workspace_id = WorkspaceId::new("git-0123").unwrap();
    assert!(matches!(
        backend.reopen_head(&binding).await,
        Err(WorkspaceError::HeadNotFound { .. })
    ));
    let unknown = backend.workspace(&WorkspaceId::new("..").unwrap()).await;
    assert!(matches!(
        unknown,
        Err(WorkspaceError::WorkspaceNotFound { .. })
    ));
}
