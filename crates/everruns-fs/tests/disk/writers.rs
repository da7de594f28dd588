use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use everruns_core::file_system::{
    FileSystemError, Precondition, ReadRange, SessionFileSystem as _, SessionFileSystemExt as _,
};
use everruns_fs::disk::Resolution;

use crate::support::{Fixture, each_resolution, open, path};

/// Names the folder of the fixture to a child process of a test.
const CHILD: &str = "EVERRUNS_TEST_WRITER";

/// Not empty where the child process walks.
const WALKS: &str = "EVERRUNS_TEST_WRITER_WALKS";

/// How often each writer adds one.
const ADDITIONS: u32 = 100;

/// Adds one to the number in `counter` as often as asked, each time by compare-and-set.
async fn add(files: &impl everruns_core::file_system::SessionFileSystem) {
    let at = path("counter");
    let mut left = ADDITIONS;
    while left > 0 {
        let content = files.read(&at, ReadRange::ALL).await.unwrap();
        let number: u32 = std::str::from_utf8(content.bytes())
            .unwrap()
            .parse()
            .unwrap();
        let next = (number + 1).to_string();
        match files
            .write(&at, next.into(), Precondition::Matches(content.version()))
            .await
        {
            Ok(_) => left -= 1,
            Err(FileSystemError::Conflict { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// Proves H50 in one process: every addition of four writers counts once.
#[tokio::test(flavor = "multi_thread")]
async fn h50_writers_in_one_process_lose_nothing() {
    each_resolution(|fixture| async move {
        fixture.put("counter", "0");
        let second = open(fixture.temp.path(), fixture.files.resolution());
        let (a, b) = (fixture.files.clone(), fixture.files.clone());
        futures::join!(add(&a), add(&b), add(&second));
        assert_eq!(
            fixture.bytes("counter"),
            (3 * ADDITIONS).to_string().as_bytes()
        );
        fixture.assert_no_leftovers();
    })
    .await;
}

/// Proves H50: of many writers that expect one version, exactly one succeeds.
#[tokio::test(flavor = "multi_thread")]
async fn h50_exactly_one_writer_of_a_version_succeeds() {
    each_resolution(|fixture| async move {
        for round in 0..20 {
            let name = format!("f{round}");
            let at = path(&name);
            let precondition = if round % 2 == 0 {
                Precondition::Absent
            } else {
                Precondition::Matches(fixture.files.write_all(&name, "old").await.unwrap())
            };
            let second = open(fixture.temp.path(), fixture.files.resolution());
            let writes = (0..8).map(|writer| {
                let files = if writer % 2 == 0 {
                    &fixture.files
                } else {
                    &second
                };
                files.write(&at, writer.to_string().into(), precondition)
            });
            let results = futures::future::join_all(writes).await;
            assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
            let winner = results.iter().position(Result::is_ok).unwrap();
            assert_eq!(fixture.bytes(&name), winner.to_string().as_bytes());
        }
    })
    .await;
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test runs itself as a second process"
)]
fn start_child(fixture: &Fixture, walks: bool) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "writers::child_process_that_adds", "--nocapture"])
        .env(CHILD, fixture.temp.path())
        .env(WALKS, if walks { "1" } else { "" })
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Proves H50 in several processes, however each of them resolves paths: every addition counts once, and every file that
/// is to be new has one maker.
#[tokio::test(flavor = "multi_thread")]
async fn h50_writers_in_several_processes_lose_nothing() {
    each_resolution(|fixture| async move {
        fixture.put("counter", "0");
        let children = [start_child(&fixture, true), start_child(&fixture, false)];
        add(&fixture.files).await;
        let own = make(&fixture.files).await;
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        assert_eq!(
            fixture.bytes("counter"),
            (3 * ADDITIONS).to_string().as_bytes()
        );
        let makers = crate::support::snapshot(&fixture.root.join("made"));
        assert_eq!(makers.len(), ADDITIONS as usize);
        let is_ours = |bytes: &&Vec<u8>| **bytes == std::process::id().to_string().into_bytes();
        assert_eq!(makers.values().filter(is_ours).count(), own);
        let counted: usize = crate::support::snapshot(&fixture.temp.path().join("counts"))
            .into_values()
            .map(|count| String::from_utf8(count).unwrap().parse::<usize>().unwrap())
            .sum();
        assert_eq!(own + counted, ADDITIONS as usize);
        fixture.assert_no_leftovers();
    })
    .await;
}

/// Makes the files that nobody else has made yet, and says how many.
async fn make(files: &impl everruns_core::file_system::SessionFileSystem) -> usize {
    let mut made = 0;
    for number in 0..ADDITIONS {
        let at = path(&format!("made/{number}"));
        let maker = std::process::id().to_string();
        match files.write(&at, maker.into(), Precondition::Absent).await {
            Ok(_) => made += 1,
            Err(FileSystemError::Conflict { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
    made
}

/// The other process of the test above; on its own it has nothing to add to.
#[tokio::test]
async fn child_process_that_adds() {
    let Some(folder) = std::env::var_os(CHILD) else {
        return;
    };
    let walks = std::env::var_os(WALKS).is_some_and(|walks| !walks.is_empty());
    let resolution = if walks {
        Resolution::Walk
    } else {
        Resolution::Kernel
    };
    let files = open(folder.as_ref(), resolution);
    add(&files).await;
    let made = make(&files).await;
    let counts = std::path::Path::new(&folder).join("counts");
    std::fs::create_dir_all(&counts).unwrap();
    std::fs::write(
        counts.join(std::process::id().to_string()),
        made.to_string(),
    )
    .unwrap();
}

/// Proves H51a: readers see whole versions only.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h51a_readers_during_rewrites_see_whole_versions() {
    const SIZE: usize = 2 << 20;
    const REWRITES: usize = 1_000;
    let fixture = Fixture::new(Resolution::Kernel);
    let version = |byte: u8| bytes::Bytes::from(vec![byte; SIZE]);
    let versions = [version(b'a'), version(b'b')];
    fixture
        .files
        .write(&path("f"), versions[0].clone(), Precondition::Any)
        .await
        .unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let reader = {
        let (files, done) = (fixture.files.clone(), Arc::clone(&done));
        let versions = versions.clone();
        tokio::spawn(async move {
            let mut reads = 0;
            while !done.load(Ordering::Relaxed) {
                let bytes = files.read_all("f").await.unwrap();
                assert!(versions.contains(&bytes), "a torn version");
                reads += 1;
            }
            reads
        })
    };
    for rewrite in 0..REWRITES {
        let bytes = versions[rewrite % 2].clone();
        fixture
            .files
            .write(&path("f"), bytes, Precondition::Any)
            .await
            .unwrap();
    }
    done.store(true, Ordering::Relaxed);
    assert!(reader.await.unwrap() > 0);
}
