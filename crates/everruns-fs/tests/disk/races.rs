use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use everruns_core::file_system::{
    FileSystemError, GrepQuery, Precondition, SearchQuery, SearchTarget, SessionFileSystem as _,
    SessionFileSystemExt as _,
};

use crate::support::{Fixture, each_resolution, path, search};

/// How often reads race against the swapper: twice in each round, for each way of resolving paths, so 100,000 times.
const ROUNDS: usize = 25_000;

/// How often the slower operations do.
const SLOW_ROUNDS: usize = 500;

/// Swaps `a/dir` between a folder and a link out of the tree, and `a/file` between a file and such a link.
struct Swapper {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<u64>,
}

impl Swapper {
    fn start(fixture: &Fixture) -> Self {
        fixture.put("a/dir/secret", "inside");
        fixture.link("../../head-evil", "a/dir-link");
        fixture.put("a/file", "inside");
        fixture.link("../../head-evil/secret", "a/file-link");
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let folder = fixture.root.join("a");
        let thread = std::thread::spawn(move || {
            let exchange = |left: &str, right: &str| {
                let paths: [PathBuf; 2] = [folder.join(left), folder.join(right)];
                // A file that is being replaced may be gone for a moment.
                let _ = rustix::fs::renameat_with(
                    rustix::fs::CWD,
                    &paths[0],
                    rustix::fs::CWD,
                    &paths[1],
                    rustix::fs::RenameFlags::EXCHANGE,
                );
            };
            let mut swaps = 0;
            while !stopped.load(Ordering::Relaxed) {
                exchange("dir", "dir-link");
                exchange("file", "file-link");
                swaps += 1;
            }
            swaps
        });
        Self { stop, thread }
    }

    fn stop(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

fn assert_expected(error: &FileSystemError) {
    assert!(
        matches!(
            error,
            FileSystemError::Escapes { .. }
                | FileSystemError::NotFound { .. }
                | FileSystemError::LinkLoop { .. }
                | FileSystemError::NotADirectory { .. }
                | FileSystemError::Io { .. }
        ),
        "{error}"
    );
}

/// Proves H12: reads never give bytes from outside.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h12_reads_against_swapped_links_stay_inside() {
    each_resolution(|fixture| async move {
        let swapper = Swapper::start(&fixture);
        let (mut inside, mut refused) = (0, 0);
        for _ in 0..ROUNDS {
            for text in ["a/dir/secret", "a/file"] {
                match fixture.files.read_all(text).await {
                    Ok(bytes) => {
                        assert_eq!(bytes, "inside");
                        inside += 1;
                    }
                    Err(error) => {
                        assert_expected(&error);
                        refused += 1;
                    }
                }
            }
        }
        assert!(swapper.stop() > 100);
        assert!(
            inside > 0 && refused > 0,
            "{inside} inside, {refused} refused"
        );
        fixture.assert_outside_untouched();
    })
    .await;
}

/// Proves H12: writes never reach anything outside.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h12_writes_against_swapped_links_stay_inside() {
    each_resolution(|fixture| async move {
        let swapper = Swapper::start(&fixture);
        for round in 0..SLOW_ROUNDS / 5 {
            for text in ["a/dir/secret", "a/dir/new/deep", "a/file"] {
                if let Err(error) = fixture.files.write_all(text, "inside").await {
                    assert_expected(&error);
                }
            }
            let made = fixture
                .files
                .create_dir(&path(&format!("a/dir/{round}")))
                .await;
            if let Err(error) = made {
                assert_expected(&error);
            }
        }
        swapper.stop();
        fixture.assert_outside_untouched();
    })
    .await;
}

/// Proves H12: removals and moves never reach anything outside.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h12_removals_and_moves_against_swapped_links_stay_inside() {
    use everruns_core::file_system::{Removal, Replace};
    each_resolution(|fixture| async move {
        let swapper = Swapper::start(&fixture);
        fixture.put("mine", "mine");
        for _ in 0..SLOW_ROUNDS {
            let at = path("a/dir/secret");
            let removed = fixture
                .files
                .remove(&at, Removal::Recursive, Precondition::Any);
            if let Err(error) = removed.await {
                assert_expected(&error);
            }
            match fixture
                .files
                .rename(&path("mine"), &at, Replace::File)
                .await
            {
                Ok(()) => fixture.put("mine", "mine"),
                Err(error) => assert_expected(&error),
            }
        }
        swapper.stop();
        fixture.assert_outside_untouched();
    })
    .await;
}

/// Proves H12: a search never shows anything outside.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h12_searches_against_swapped_links_stay_inside() {
    each_resolution(|fixture| async move {
        let swapper = Swapper::start(&fixture);
        std::fs::write(fixture.outside.join("needle"), "needle").unwrap();
        for _ in 0..SLOW_ROUNDS / 2 {
            for target in [
                SearchTarget::Grep(GrepQuery::new("needle|^secret")),
                SearchTarget::Glob {
                    pattern: "needle".to_owned(),
                },
            ] {
                let (events, _) = search(&fixture.files, SearchQuery::new(target))
                    .await
                    .unwrap();
                assert_eq!(events, []);
            }
        }
        swapper.stop();
        std::fs::remove_file(fixture.outside.join("needle")).unwrap();
        fixture.assert_outside_untouched();
    })
    .await;
}
