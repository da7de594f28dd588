use everruns_core::file_system::{
    ContentVersion, FileSystemError, Precondition, ReadRange, SessionFileSystem as _,
    SessionFileSystemExt as _,
};

use crate::support::{each_resolution, path};

#[tokio::test]
async fn preconditions_decide_and_conflicts_change_nothing() {
    each_resolution(|fixture| async move {
        let files = &fixture.files;
        let at = path("deep/new/file");
        let one = files
            .write(&at, "one".into(), Precondition::Absent)
            .await
            .unwrap();
        assert_eq!(one, ContentVersion::of(b"one"));
        let conflict = |error: FileSystemError, expected: Option<ContentVersion>| {
            assert!(
                matches!(error, FileSystemError::Conflict { current, .. } if current == expected),
                "{error}"
            );
        };
        let error = files
            .write(&at, "x".into(), Precondition::Absent)
            .await
            .unwrap_err();
        conflict(error, Some(one));
        let two = files
            .write(&at, "two".into(), Precondition::Matches(one))
            .await
            .unwrap();
        let error = files
            .write(&at, "x".into(), Precondition::Matches(one))
            .await
            .unwrap_err();
        conflict(error, Some(two));
        for missing in ["none", "no/folder/none"] {
            let error = files
                .write(&path(missing), "x".into(), Precondition::Matches(one))
                .await
                .unwrap_err();
            conflict(error, None);
        }
        assert!(!fixture.root.join("no").exists());
        let content = files
            .read(
                &at,
                ReadRange {
                    offset: 1,
                    length: Some(1),
                },
            )
            .await
            .unwrap();
        assert_eq!(
            (content.bytes().as_ref(), content.version(), content.size()),
            (&b"w"[..], two, 3)
        );
        assert_eq!(files.version(&path("none")).await.unwrap(), None);
        fixture.assert_no_leftovers();
    })
    .await;
}

/// Proves H51: an editor outside changes the file between read and write.
#[tokio::test]
async fn h51_a_change_from_outside_is_a_conflict() {
    each_resolution(|fixture| async move {
        let files = &fixture.files;
        fixture.put("f", "one");
        let read = files.read(&path("f"), ReadRange::ALL).await.unwrap();
        // The same length and in place: neither size nor inode tells.
        fixture.put("f", "two");
        let error = files
            .write(
                &path("f"),
                "mine".into(),
                Precondition::Matches(read.version()),
            )
            .await
            .unwrap_err();
        let two = ContentVersion::of(b"two");
        assert!(
            matches!(error, FileSystemError::Conflict { current: Some(v), .. } if v == two),
            "{error}"
        );
        assert_eq!(fixture.bytes("f"), b"two");
    })
    .await;
}
