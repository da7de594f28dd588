//! Databases in whose place comes what is made of a backup.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use everruns_core::failpoint;
use everruns_core::session::{SessionStore as _, StoreError};
use everruns_store::SqliteSessionStore;
use everruns_testkit::failpoints::{Child, argument, fail_at, is_child, kill_at};
use sqlx::ConnectOptions as _;
use sqlx::sqlite::SqliteConnectOptions;

use crate::support::samples::{id, new_session};

/// A folder with a database, which has the session `new` in its log, and a backup without it.
struct Scene {
    folder: PathBuf,
    _kept: Option<tempfile::TempDir>,
}

impl Scene {
    async fn new() -> Self {
        let kept = tempfile::tempdir().unwrap();
        let scene = Self {
            folder: kept.path().to_owned(),
            _kept: Some(kept),
        };
        let elsewhere = scene.at("elsewhere.db");
        let store = SqliteSessionStore::open(&elsewhere).await.unwrap();
        store.create(new_session("old")).await.unwrap();
        store.backup(scene.at("backup")).await.unwrap();
        store.create(new_session("new")).await.unwrap();
        // As a process that was killed leaves it.
        for suffix in ["", "-wal", "-shm"] {
            std::fs::copy(
                with_suffix(&elsewhere, suffix),
                with_suffix(&scene.database(), suffix),
            )
            .unwrap();
        }
        store.close().await;
        std::fs::remove_file(elsewhere).unwrap();
        assert!(with_suffix(&scene.database(), "-wal").exists());
        scene
    }

    async fn damaged() -> Self {
        let scene = Self::new().await;
        std::fs::write(scene.database(), "damaged").unwrap();
        scene
    }

    fn of(folder: OsString) -> Self {
        Self {
            folder: folder.into(),
            _kept: None,
        }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn database(&self) -> PathBuf {
        self.at("sessions.db")
    }

    async fn restore_over(&self, aside: &str) -> Result<bool, StoreError> {
        SqliteSessionStore::restore_over(self.at("backup"), self.database(), self.at(aside)).await
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.folder).unwrap();
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<String> = entries
            .map(|entry| name(entry).into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// The damaged database with its log, under one of its names.
    fn has_damaged(&self, name: &str, log: &[u8]) -> bool {
        let found = std::fs::read(with_suffix(&self.at(name), "-wal"));
        std::fs::read(self.at(name)).is_ok_and(|found| found == b"damaged")
            && found.is_ok_and(|found| found == log)
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Whether a database is of the backup; it must be sound, and have the older session.
async fn is_restored(database: &Path) -> bool {
    let store = SqliteSessionStore::open(database).await.unwrap();
    store.check_integrity().await.unwrap();
    store.session(&id("old")).await.unwrap();
    let newer = store.session(&id("new")).await;
    store.close().await;
    match newer {
        Ok(_) => false,
        Err(StoreError::NotFound { .. }) => true,
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn h73_a_replaced_database_is_kept_with_what_was_in_its_log() {
    let scene = Scene::new().await;
    assert!(scene.restore_over("aside").await.unwrap());
    assert_eq!(scene.names(), ["aside", "backup", "sessions.db"]);
    assert!(is_restored(&scene.database()).await);
    assert!(!is_restored(&scene.at("aside")).await);
    let error = scene.restore_over("aside").await.unwrap_err();
    assert!(matches!(error, StoreError::FileExists { .. }), "{error}");
    assert_eq!(scene.names(), ["aside", "backup", "sessions.db"]);
}

#[tokio::test]
async fn h73_a_damaged_database_is_kept_with_its_log() {
    let scene = Scene::damaged().await;
    let log = std::fs::read(scene.at("sessions.db-wal")).unwrap();
    assert!(scene.restore_over("aside").await.unwrap());
    assert!(scene.has_damaged("aside", &log));
    let names = ["aside", "aside-shm", "aside-wal", "backup", "sessions.db"];
    assert_eq!(scene.names(), names);
    assert!(is_restored(&scene.database()).await);
}

/// SQLite would apply what is in the log to the new database.
#[tokio::test]
async fn h73_a_log_without_its_database_is_moved_aside() {
    let scene = Scene::new().await;
    std::fs::remove_file(scene.database()).unwrap();
    assert!(!scene.restore_over("aside").await.unwrap());
    let names = ["aside-shm", "aside-wal", "backup", "sessions.db"];
    assert_eq!(scene.names(), names);
    assert!(is_restored(&scene.database()).await);
}

/// Proves H65 and H73 for the replacement of a database.
#[tokio::test]
async fn h65_h73_a_replacement_killed_at_each_step_leaves_one_of_both() {
    if is_child() {
        kill_at(argument("step").unwrap().to_str().unwrap());
        let scene = Scene::of(argument("folder").unwrap());
        scene.restore_over("aside").await.unwrap();
        return;
    }
    for (step, done) in [
        ("store.replace.after-lock", false),
        ("store.replace.before-exchange", false),
        ("store.replace.after-exchange", true),
    ] {
        let scene = Scene::new().await;
        kill_in(&scene, step).await;
        assert!(scene.database().exists(), "{step}");
        assert_eq!(is_restored(&scene.database()).await, done, "{step}");
        let left = scene.names();
        assert!(left.len() > 2, "{step}: {left:?}");
        // It can be done again, or once more, and nothing is left of the first time but the database before.
        assert!(scene.restore_over("aside again").await.unwrap());
        assert!(is_restored(&scene.database()).await, "{step}");
        assert_eq!(is_restored(&scene.at("aside again")).await, done, "{step}");
        let mut names = vec!["aside again", "backup", "sessions.db"];
        if done {
            names.insert(0, "aside");
            assert!(!is_restored(&scene.at("aside")).await, "{step}");
        }
        assert_eq!(scene.names(), names, "{step}: {left:?}");
    }
    for (step, first_name, done) in [
        ("store.replace.after-second-names", true, false),
        ("store.replace.after-log", false, false),
        ("store.replace.after-rename", false, true),
    ] {
        let scene = Scene::damaged().await;
        let log = std::fs::read(scene.at("sessions.db-wal")).unwrap();
        kill_in(&scene, step).await;
        assert!(scene.has_damaged("aside", &log), "{step}");
        assert_eq!(scene.has_damaged("sessions.db", &log), first_name, "{step}");
        if done {
            assert!(is_restored(&scene.database()).await, "{step}");
        } else {
            let error = SqliteSessionStore::open(scene.database()).await;
            let error = error.unwrap_err();
            assert!(
                matches!(error, StoreError::CorruptDatabase { .. }),
                "{step}: {error}"
            );
        }
        assert!(scene.restore_over("aside again").await.unwrap());
        assert!(is_restored(&scene.database()).await, "{step}");
        assert!(scene.has_damaged("aside", &log), "{step}");
        let copies = scene.names();
        let copies = copies.iter().filter(|name| name.contains(".restoring"));
        assert_eq!(copies.count(), 0, "{step}");
    }
}

async fn kill_in(scene: &Scene, step: &str) {
    let child =
        Child::of_test("replace::h65_h73_a_replacement_killed_at_each_step_leaves_one_of_both")
            .argument("step", step)
            .argument("folder", &scene.folder);
    let ended = tokio::task::spawn_blocking(move || child.run()).await;
    ended.unwrap().assert_killed();
}

/// In a process of its own, because failpoints are the process's.
#[tokio::test]
async fn h73_a_replacement_that_fails_at_a_step_changes_nothing() {
    if is_child() {
        let damaged = [
            "store.replace.after-second-names",
            "store.replace.after-log",
        ];
        for step in damaged {
            let scene = Scene::damaged().await;
            let (names, log) = (scene.names(), std::fs::read(scene.at("sessions.db-wal")));
            fail_at(step);
            let error = scene.restore_over("aside").await.unwrap_err();
            assert!(matches!(error, StoreError::Failpoint(_)), "{error}");
            assert_eq!(scene.names(), names, "{step}");
            assert!(scene.has_damaged("sessions.db", &log.unwrap()), "{step}");
            failpoint::disarm_all();
        }
        for step in [
            "store.replace.after-lock",
            "store.replace.before-exchange",
            "store.replace.after-exchange",
        ] {
            let scene = Scene::new().await;
            fail_at(step);
            let error = scene.restore_over("aside").await.unwrap_err();
            assert!(matches!(error, StoreError::Failpoint(_)), "{error}");
            assert_eq!(scene.names(), ["backup", "sessions.db"], "{step}");
            assert!(!is_restored(&scene.database()).await, "{step}");
            failpoint::disarm_all();
        }
        return;
    }
    let child = Child::of_test("replace::h73_a_replacement_that_fails_at_a_step_changes_nothing");
    let ended = tokio::task::spawn_blocking(move || child.run()).await;
    ended.unwrap().assert_passed();
}

/// Another process has the database open; that it is damaged meanwhile does not let go of it.
#[tokio::test]
async fn h73_a_database_that_is_open_elsewhere_is_not_replaced() {
    const NAME: &str = "replace::h73_a_database_that_is_open_elsewhere_is_not_replaced";
    if is_child() {
        let scene = Scene::of(argument("folder").unwrap());
        let store = SqliteSessionStore::open(scene.database()).await.unwrap();
        store.session(&id("new")).await.unwrap();
        std::fs::write(scene.at("opened"), "").unwrap();
        until(|| scene.at("enough").exists()).await;
        drop(store);
        return;
    }
    for damage in [false, true] {
        let scene = Scene::new().await;
        let child = Child::of_test(NAME).argument("folder", &scene.folder);
        let child = tokio::task::spawn_blocking(move || child.run());
        until(|| scene.at("opened").exists()).await;
        if damage {
            std::fs::write(scene.database(), "damaged").unwrap();
        }
        let names = scene.names();
        let error = scene.restore_over("aside").await.unwrap_err();
        assert!(matches!(error, StoreError::InUse { .. }), "{error}");
        assert_eq!(scene.names(), names);
        std::fs::write(scene.at("enough"), "").unwrap();
        child.await.unwrap().assert_passed();
        assert!(scene.restore_over("aside").await.unwrap());
        assert!(is_restored(&scene.database()).await);
    }
}

async fn until(what: impl Fn() -> bool) {
    let began = Instant::now();
    while !what() {
        assert!(began.elapsed() < Duration::from_secs(50), "it never is so");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Who opened the file before, and had not looked at it yet, writes neither into it nor beside the new one.
#[tokio::test]
async fn h73_one_that_comes_too_late_writes_nothing() {
    let scene = Scene::new().await;
    let options = SqliteConnectOptions::new().filename(scene.database());
    let mut late = options.connect().await.unwrap();
    assert!(scene.restore_over("aside").await.unwrap());
    let wal = sqlx::query("PRAGMA journal_mode = WAL")
        .execute(&mut late)
        .await;
    let written = sqlx::query("DELETE FROM sessions").execute(&mut late).await;
    let error = written.unwrap_err();
    let code = error.as_database_error().unwrap().code();
    // SQLITE_READONLY_DBMOVED
    assert_eq!(code.as_deref(), Some("1032"), "{error} after {wal:?}");
    drop(late);
    assert!(is_restored(&scene.database()).await);
    assert!(!is_restored(&scene.at("aside")).await);
}

/// What is somebody else's stays, whatever its name, and so does what another restoration is at work on.
#[tokio::test]
async fn h73_only_what_is_provably_left_is_cleared_away() {
    let scene = Scene::new().await;
    let strangers = [
        "aside.replacing-1",
        "notes.restoring-2026-11",
        "notes.restoring-1-2.part",
        "other.db.restoring",
        "sessions.db.restoring-1-2",
    ];
    for name in strangers {
        std::fs::write(scene.at(name), name).unwrap();
    }
    let mut options = std::fs::OpenOptions::new();
    let folder = options.read(true).open(&scene.folder).unwrap();
    folder.lock().unwrap();
    let names = scene.names();
    let error = scene.restore_over("aside").await.unwrap_err();
    assert!(matches!(error, StoreError::InUse { .. }), "{error}");
    assert_eq!(scene.names(), names);
    folder.unlock().unwrap();

    assert!(scene.restore_over("aside").await.unwrap());
    for name in strangers {
        assert_eq!(std::fs::read(scene.at(name)).unwrap(), name.as_bytes());
    }
    assert!(!scene.at("sessions.db.restoring").exists());
}

/// Something else has the name of the folder that a restoration works in, or is in one that has our mark.
#[tokio::test]
async fn h73_what_is_in_the_way_of_a_restoration_stays() {
    let scene = Scene::new().await;
    let work = scene.at("sessions.db.restoring");
    let refused = async || {
        let error = scene.restore_over("aside").await.unwrap_err();
        assert!(
            matches!(&error, StoreError::FileExists { location } if *location == work),
            "{error}"
        );
        assert!(!scene.at("aside").exists());
    };
    std::fs::write(&work, "mine").unwrap();
    refused().await;
    assert_eq!(std::fs::read(&work).unwrap(), b"mine");
    std::fs::remove_file(&work).unwrap();

    std::fs::create_dir(&work).unwrap();
    for other in ["copy", "copy.part", "exchange"] {
        std::fs::write(work.join(other), "mine").unwrap();
        refused().await;
        assert_eq!(std::fs::read(work.join(other)).unwrap(), b"mine");
        std::fs::remove_file(work.join(other)).unwrap();
    }
    std::fs::write(work.join("mark"), "mine").unwrap();
    refused().await;
    assert_eq!(std::fs::read(work.join("mark")).unwrap(), b"mine");

    // Cut off, as a machine leaves it that lost its power.
    std::fs::write(work.join("mark"), "everruns: a").unwrap();
    std::fs::write(work.join("copy"), "mine").unwrap();
    refused().await;
    assert_eq!(std::fs::read(work.join("copy")).unwrap(), b"mine");
    std::fs::remove_file(work.join("copy")).unwrap();
    assert!(scene.restore_over("aside").await.unwrap());
    assert_eq!(scene.names(), ["aside", "backup", "sessions.db"]);
}

/// The old database would be on a disk that is neither locked nor looked at.
#[tokio::test]
async fn h73_the_old_database_is_kept_beside_the_new_one() {
    let scene = Scene::new().await;
    let names = scene.names();
    let elsewhere = tempfile::tempdir().unwrap();
    let error = scene
        .restore_over(elsewhere.path().join("aside").to_str().unwrap())
        .await
        .unwrap_err();
    assert!(error.to_string().contains("same folder"), "{error}");
    assert_eq!(scene.names(), names);
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

/// In a process of its own, because failpoints are the process's.
#[tokio::test]
async fn h73_an_exchange_that_cannot_be_undone_keeps_both_databases() {
    if is_child() {
        let scene = Scene::new().await;
        fail_at("store.replace.after-exchange");
        fail_at("store.replace.before-exchange-back");
        let error = scene.restore_over("aside").await.unwrap_err();
        failpoint::disarm_all();
        let StoreError::HalfReplaced {
            location, before, ..
        } = error
        else {
            panic!("{error}");
        };
        assert_eq!(location, scene.database());
        assert!(is_restored(&scene.database()).await);
        assert!(!is_restored(&before).await);
        // The next one gives it the name that it was to have.
        assert!(scene.restore_over("aside again").await.unwrap());
        assert!(!is_restored(&scene.at("aside")).await);
        assert!(is_restored(&scene.at("aside again")).await);
        let names = ["aside", "aside again", "backup", "sessions.db"];
        assert_eq!(scene.names(), names);
        return;
    }
    let child =
        Child::of_test("replace::h73_an_exchange_that_cannot_be_undone_keeps_both_databases");
    let ended = tokio::task::spawn_blocking(move || child.run()).await;
    ended.unwrap().assert_passed();
}
