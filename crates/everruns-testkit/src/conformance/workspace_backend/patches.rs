use everruns_core::workspace::{DiffRequest, WorkspaceError, WorkspaceHead};

use super::Subject;
use super::subject::{get, put, remove};
use crate::check::CheckResult;
use crate::git::GitFixture;

/// Applies a patch with the real `git`.
fn apply(fixture: &GitFixture, patch: &[u8]) -> CheckResult {
    let file = fixture.beside("patch");
    std::fs::write(&file, patch)?;
    let file = file.into_os_string();
    let arguments = ["apply".as_ref(), "--index".as_ref(), file.as_os_str()];
    let output = fixture.try_git_in(fixture.path(), &arguments);
    ensure!(
        output.status.success(),
        "git refuses a patch: {}\n{}",
        output.stderr,
        String::from_utf8_lossy(patch)
    );
    Ok(())
}

/// Ends the check with a failure unless these files are as in the head.
async fn same(fixture: &GitFixture, head: &WorkspaceHead, paths: &[&str]) -> CheckResult {
    for path in paths {
        let bytes = std::fs::read(fixture.path().join(path)).ok();
        let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        ensure_eq!(text, get(head, path).await?, "{path} as git makes it");
    }
    Ok(())
}

pub(super) async fn are_applied_by_git(subject: Subject) -> CheckResult {
    if !subject.can.patches {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    let paths = [
        "text",
        "edited",
        "no end",
        "empty",
        "binary",
        "gone",
        "ä/\"quoted\"",
        "empty too",
    ];
    put(&head, "text", "one\ntwo\n").await?;
    put(&head, "edited", &"line\n".repeat(30)).await?;
    put(&head, "no end", "one\ntwo").await?;
    put(&head, "empty", "").await?;
    put(&head, "binary", "a\0b").await?;
    put(&head, "gone", "gone\n").await?;
    let fixture = GitFixture::empty();
    let patch = head.patch(DiffRequest::default()).await?;
    ensure_eq!(
        (patch.files, patch.truncated, patch.omitted.len()),
        (6, false, 0),
        "what is in the patch"
    );
    apply(&fixture, &patch.bytes)?;
    same(&fixture, &head, &paths).await?;
    if !subject.can.checkpoints {
        return Ok(());
    }
    let then = head.checkpoint().await?;
    put(&head, "edited", &format!("{}\r\n", "line\n".repeat(28))).await?;
    put(&head, "no end", "one\ntwo\n").await?;
    put(&head, "binary", "a\0c").await?;
    put(&head, "ä/\"quoted\"", "x").await?;
    put(&head, "empty too", "").await?;
    remove(&head, "empty").await?;
    remove(&head, "gone").await?;
    let since = DiffRequest {
        from: (&then).into(),
        ..DiffRequest::default()
    };
    let mut skip = 0;
    loop {
        let page = DiffRequest {
            skip,
            limit: Some(3),
            ..since.clone()
        };
        let page = head.patch(page).await?;
        ensure!(page.files > 0, "a page of no files after {skip}");
        skip += page.files;
        apply(&fixture, &page.bytes)?;
        if !page.truncated {
            break;
        }
    }
    same(&fixture, &head, &paths).await
}

pub(super) async fn unsupported_is_told(subject: Subject) -> CheckResult {
    if subject.can.patches {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    refused!(
        head.patch(DiffRequest::default()).await,
        WorkspaceError::Unsupported { .. },
        "a patch"
    );
    Ok(())
}
