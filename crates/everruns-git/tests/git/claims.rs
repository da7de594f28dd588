//! Who may use a head.

use everruns_core::ids::SessionId;
use everruns_core::workspace::{WorkspaceError, WorkspaceHead, WorkspaceHeadAccess};

use crate::fixture::Scene;

fn session(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

/// Proves C06: the claim lies with the head, so another backend over the same state sees it.
#[tokio::test]
async fn c06_an_isolated_head_is_claimed_by_one_session() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    head.claim(&session("first")).await.unwrap();
    head.claim(&session("first")).await.unwrap();
    let other = WorkspaceHead::reopen(scene.reopened(), &head.binding())
        .await
        .unwrap();
    let refused = other.claim(&session("second")).await.unwrap_err();
    assert!(
        matches!(&refused, WorkspaceError::HeadClaimed { session, .. } if session.as_str() == "first"),
        "{refused}"
    );
    other.release(&session("second")).await.unwrap();
    assert!(
        other.claim(&session("second")).await.is_err(),
        "only the holder can give it up"
    );
    head.release(&session("first")).await.unwrap();
    other.claim(&session("second")).await.unwrap();
}

#[tokio::test]
async fn c06_of_many_claims_at_once_one_wins() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let mut tasks = Vec::new();
    for number in 0..8 {
        let other = WorkspaceHead::reopen(scene.reopened(), &head.binding())
            .await
            .unwrap();
        tasks.push(tokio::spawn(async move {
            other.claim(&session(&format!("s{number}"))).await.is_ok()
        }));
    }
    let mut won = 0;
    for task in tasks {
        won += u32::from(task.await.unwrap());
    }
    assert_eq!(won, 1);
}

/// Proves C07: a shared head takes several sessions.
#[tokio::test]
async fn c07_a_shared_head_takes_several_sessions() {
    let scene = Scene::new();
    let head = scene
        .workspace()
        .await
        .head("pair")
        .shared()
        .create()
        .await
        .unwrap();
    assert_eq!(head.access(), WorkspaceHeadAccess::Shared);
    head.claim(&session("first")).await.unwrap();
    let other = WorkspaceHead::reopen(scene.reopened(), &head.binding())
        .await
        .unwrap();
    other.claim(&session("second")).await.unwrap();
}

/// H54: a head with a turn at work is not destroyed from elsewhere; one that is only claimed is.
#[tokio::test]
async fn h54_a_head_in_use_is_not_destroyed_from_elsewhere() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    head.claim(&session("first")).await.unwrap();
    let hold = head.hold(&session("first")).await.unwrap();
    let other = WorkspaceHead::reopen(scene.reopened(), &head.binding())
        .await
        .unwrap();
    let busy = other.destroy().await.unwrap_err();
    assert!(matches!(busy, WorkspaceError::HeadBusy { .. }), "{busy}");
    assert!(busy.is_retryable());
    assert!(scene.folder(&head).exists());
    drop(hold);
    other.destroy().await.unwrap();
    assert!(!scene.folder(&head).exists());
}
