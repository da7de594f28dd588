use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use everruns_core::file_system::{
    FileKind, FileSystemError, PageRequest, Precondition, ReadRange, SessionFileSystem as _,
    SessionFileSystemExt as _,
};
use everruns_fs::disk::{DiskFileSystem, DiskOptions};

use crate::support::{each_resolution, path};

/// Proves H15: a write replaces the entry, so a hard link's partner keeps its bytes.
#[tokio::test]
async fn h15_the_partner_of_a_hard_link_keeps_its_bytes() {
    each_resolution(|fixture| async move {
        std::fs::hard_link(fixture.outside.join("secret"), fixture.root.join("mine")).unwrap();
        let files = &fixture.files;
        let content = files.read(&path("mine"), ReadRange::ALL).await.unwrap();
        files
            .write(
                &path("mine"),
                "changed".into(),
                Precondition::Matches(content.version()),
            )
            .await
            .unwrap();
        assert_eq!(fixture.bytes("mine"), b"changed");
        fixture.assert_outside_untouched();
        fixture.assert_no_leftovers();
    })
    .await;
}

/// Proves H16: FIFOs, sockets and devices are refused at once.
#[tokio::test]
async fn h16_special_files_are_refused_without_blocking() {
    each_resolution(|fixture| async move {
        let fifo = fixture.root.join("fifo");
        rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, 0o600.into()).unwrap();
        let _socket = UnixListener::bind(fixture.root.join("socket")).unwrap();
        fixture.link("fifo", "link");
        let files = &fixture.files;
        let started = Instant::now();
        for text in ["fifo", "socket", "link"] {
            for error in [
                files.read_all(text).await.unwrap_err(),
                files.write_all(text, "x").await.unwrap_err(),
                files
                    .write(&path(text), "x".into(), Precondition::Absent)
                    .await
                    .unwrap_err(),
            ] {
                let kind = FileKind::Special;
                assert!(
                    matches!(error, FileSystemError::NotAFile { kind: k, .. } if k == kind),
                    "{text}: {error}"
                );
            }
        }
        assert!(started.elapsed() < Duration::from_secs(1));
        assert_eq!(
            files.stat(&path("fifo")).await.unwrap().kind,
            FileKind::Special
        );
    })
    .await;
}

/// Proves H16 for a character device, where the test may make one.
#[tokio::test]
async fn h16_devices_are_refused() {
    each_resolution(|fixture| async move {
        let device = fixture.root.join("zero");
        let made = rustix::fs::mknodat(
            rustix::fs::CWD,
            &device,
            rustix::fs::FileType::CharacterDevice,
            0o600.into(),
            rustix::fs::makedev(1, 5),
        );
        if made.is_err() {
            // Only root may make devices; FIFOs and sockets are tested above.
            return;
        }
        let error = fixture.files.read_all("zero").await.unwrap_err();
        assert!(matches!(error, FileSystemError::NotAFile { .. }), "{error}");
    })
    .await;
}

/// Proves H42: names that are no Unicode are shown escaped, and only there.
#[tokio::test]
async fn h42_names_that_are_not_unicode_are_listed_escaped() {
    each_resolution(|fixture| async move {
        let name = std::ffi::OsStr::from_bytes(b"bad\xff\xfename");
        std::fs::write(fixture.root.join(name), "x").unwrap();
        fixture.put("good", "x");
        let page = fixture
            .files
            .list(&path("."), PageRequest::default())
            .await
            .unwrap();
        assert_eq!(page.unrepresentable, ["bad\\xff\\xfename"]);
        assert_eq!(page.entries.len(), 1);
        let error = fixture
            .files
            .read_all("bad\u{fffd}\u{fffd}name")
            .await
            .unwrap_err();
        assert!(matches!(error, FileSystemError::NotFound { .. }), "{error}");
    })
    .await;
}

/// Proves H44: an enormous file is a size error.
#[tokio::test]
async fn h44_a_sparse_file_of_a_tebibyte_is_too_large() {
    each_resolution(|fixture| async move {
        let huge = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(fixture.root.join("huge"))
            .unwrap();
        huge.set_len(1 << 40).unwrap();
        let files = &fixture.files;
        let part = ReadRange {
            offset: 0,
            length: Some(10),
        };
        let error = files.read(&path("huge"), part).await.unwrap_err();
        assert!(
            matches!(error, FileSystemError::TooLarge { size, .. } if size == 1 << 40),
            "{error}"
        );
        files.write_all("huge", "small").await.unwrap();
        assert_eq!(fixture.bytes("huge"), b"small");
    })
    .await;
}

/// Proves H44: a file that is cut and grown while it is read gives some content and no crash.
#[tokio::test(flavor = "multi_thread")]
async fn h44_a_file_truncated_during_reads_is_read() {
    each_resolution(|fixture| async move {
        fixture.put("f", &"x".repeat(1 << 20));
        let target = fixture.root.join("f");
        let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let stopped = std::sync::Arc::clone(&stop);
        let editor = std::thread::spawn(move || {
            let file = std::fs::OpenOptions::new()
                .write(true)
                .open(target)
                .unwrap();
            while !stopped.load(std::sync::atomic::Ordering::Relaxed) {
                file.set_len(10).unwrap();
                file.set_len(1 << 20).unwrap();
            }
        });
        for _ in 0..200 {
            let content = fixture
                .files
                .read(&path("f"), ReadRange::ALL)
                .await
                .unwrap();
            assert!(content.bytes().len() <= 1 << 20);
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        editor.join().unwrap();
    })
    .await;
}

#[tokio::test]
async fn files_over_the_limit_are_neither_read_nor_written() {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().join("root");
    std::fs::create_dir(&root).unwrap();
    let options = DiskOptions::new(temp.path().join("locks")).max_file_bytes(4);
    let files = DiskFileSystem::open(&root, options).unwrap();
    files.write_all("a", "1234").await.unwrap();
    assert_eq!(files.read_all("a").await.unwrap(), "1234");
    let error = files.write_all("a", "12345").await.unwrap_err();
    assert!(
        matches!(
            error,
            FileSystemError::TooLarge {
                size: 5,
                limit: 4,
                ..
            }
        ),
        "{error}"
    );
    std::fs::write(root.join("b"), "12345").unwrap();
    let error = files.read_all("b").await.unwrap_err();
    assert!(
        matches!(
            error,
            FileSystemError::TooLarge {
                size: 5,
                limit: 4,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(files.read_all("a").await.unwrap(), "1234");
}

#[tokio::test]
async fn a_write_keeps_the_mode_and_the_owner() {
    each_resolution(|fixture| async move {
        fixture.put("script", "#!/bin/sh\n");
        let script = fixture.root.join("script");
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o751)).unwrap();
        // Only root may give a file away; otherwise the owner stays who it is.
        drop(std::os::unix::fs::chown(&script, Some(1234), Some(5678)));
        let before = std::fs::metadata(&script).unwrap();
        fixture
            .files
            .write_all("script", "#!/bin/bash\n")
            .await
            .unwrap();
        let after = std::fs::metadata(&script).unwrap();
        assert_eq!(after.mode(), before.mode());
        assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()));
        assert_ne!(after.ino(), before.ino());
        assert!(
            fixture
                .files
                .stat(&path("script"))
                .await
                .unwrap()
                .executable
        );
        fixture.files.write_all("new", "x").await.unwrap();
        let reference = fixture.root.join("reference");
        std::fs::write(&reference, "x").unwrap();
        assert_eq!(
            std::fs::metadata(fixture.root.join("new")).unwrap().mode(),
            std::fs::metadata(reference).unwrap().mode()
        );
    })
    .await;
}
