use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use everruns_core::file_system::{
    FileSystemError, GrepQuery, LastLink, LinkTarget, Precondition, Removal, Replace, SearchEvent,
    SearchQuery, SearchTarget, SessionFileSystem as _, SessionFileSystemExt as _,
};

use everruns_core::path::RootName;
use everruns_fs::disk::{DiskFileSystem, DiskOptions, Resolution};
use everruns_fs::{MountedFileSystem, RootAccess, WorkspaceRootSet};

use crate::support::{Fixture, each_resolution, path, search};

/// How often reads race against the swapper: twice in each round, for each way of resolving paths, so 100,000 times. Those
/// that are once in a round have twice the rounds.
const ROUNDS: u64 = 25_000;

/// How often the slower operations do on a disk that they wait for. In memory they do 100,000 times, too.
const SLOW_ROUNDS: u64 = 500;

/// How often searches do in memory.
const SEARCHES: u64 = 4_000;

/// How often a move between trees goes out and back, for each way of resolving paths.
const MOVES: u64 = 5_000;

/// A folder that is in memory, where there is one.
const MEMORY: &str = "/dev/shm";

/// How the kernel tells such a folder: `TMPFS_MAGIC` of `linux/magic.h`.
const TMPFS: u64 = 0x0102_1994;

/// How long an operation goes on until it has met the folder as well as the link.
const PATIENCE: Duration = Duration::from_mins(1);

/// Runs `test` once for each way of resolving paths, in a folder in memory if there is one; `true` tells that it is.
async fn each_in_memory<F: Future<Output = ()>>(test: impl Fn(Fixture, bool) -> F) {
    let is_in_memory = rustix::fs::statfs(MEMORY)
        .is_ok_and(|at| u64::try_from(at.f_type).is_ok_and(|kind| kind == TMPFS));
    if !is_in_memory {
        eprintln!("{MEMORY} is not in memory: {SLOW_ROUNDS} rounds instead of 100,000");
    }
    for resolution in [Resolution::Kernel, Resolution::Walk] {
        let folder = if is_in_memory {
            tempfile::tempdir_in(MEMORY).unwrap()
        } else {
            tempfile::tempdir().unwrap()
        };
        test(Fixture::within(folder, resolution), is_in_memory).await;
    }
}

/// Swaps `a/dir` between a folder and a link out of the tree, and `a/file` between a file and such a link.
struct Swapper {
    stop: Arc<AtomicBool>,
    swaps: Arc<AtomicU64>,
    thread: JoinHandle<()>,
}

impl Swapper {
    fn start(fixture: &Fixture) -> Self {
        fixture.put("a/dir/secret", "inside");
        fixture.link("../../head-evil", "a/dir-link");
        fixture.put("a/file", "inside");
        fixture.link("../../head-evil/secret", "a/file-link");
        let (stop, swaps) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicU64::new(0)),
        );
        let (stopped, swapped) = (Arc::clone(&stop), Arc::clone(&swaps));
        let folder = fixture.root.join("a");
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                let swaps =
                    exchange(&folder, "dir", "dir-link") + exchange(&folder, "file", "file-link");
                swapped.fetch_add(swaps, Ordering::Relaxed);
                // A write that met the file puts a file in place of whatever is there now.
                let is_link = |name: &str| folder.join(name).is_symlink();
                if !is_link("file") && !is_link("file-link") {
                    drop(std::fs::remove_file(folder.join("file-link")));
                    drop(std::os::unix::fs::symlink(
                        "../../head-evil/secret",
                        folder.join("file-link"),
                    ));
                }
            }
        });
        Self {
            stop,
            swaps,
            thread,
        }
    }

    fn swaps(&self) -> u64 {
        self.swaps.load(Ordering::Relaxed)
    }

    fn stop(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap();
        self.swaps.load(Ordering::Relaxed)
    }
}

/// Counts 1 when it was done: a file that is being replaced may be gone for a moment.
fn exchange(folder: &Path, left: &str, right: &str) -> u64 {
    let paths: [PathBuf; 2] = [folder.join(left), folder.join(right)];
    let swapped = rustix::fs::renameat_with(
        rustix::fs::CWD,
        &paths[0],
        rustix::fs::CWD,
        &paths[1],
        rustix::fs::RenameFlags::EXCHANGE,
    );
    u64::from(swapped.is_ok())
}

/// Operations that race against a [`Swapper`], and what became of them.
struct Race {
    swapper: Swapper,
    begun: Instant,
    /// How many found the folder or the file.
    inside: u64,
    /// How many found the link.
    refused: u64,
    /// How many had a swap take place while they ran.
    met: u64,
}

impl Race {
    fn start(fixture: &Fixture) -> Self {
        Self {
            swapper: Swapper::start(fixture),
            begun: Instant::now(),
            inside: 0,
            refused: 0,
            met: 0,
        }
    }

    async fn run<T>(
        &mut self,
        work: impl Future<Output = Result<T, FileSystemError>>,
    ) -> Option<T> {
        let before = self.swapper.swaps();
        let done = work.await;
        self.met += u64::from(self.swapper.swaps() != before);
        match done {
            Ok(done) => {
                self.inside += 1;
                Some(done)
            }
            Err(error) => {
                assert_expected(&error);
                self.refused += 1;
                None
            }
        }
    }

    /// Whether another round follows: there are `rounds`, and more until both ends were met.
    fn goes_on(&self, round: u64, rounds: u64) -> bool {
        let has_both = self.inside > 0 && self.refused > 0 && self.met > 0;
        round < rounds || (!has_both && self.is_patient())
    }

    fn is_patient(&self) -> bool {
        self.begun.elapsed() < PATIENCE
    }

    /// It was a race, and nothing outside was touched.
    fn finish(self, fixture: &Fixture) {
        let Self {
            swapper,
            inside,
            refused,
            met,
            ..
        } = self;
        let swaps = swapper.stop();
        let counts = format!("{swaps} swaps, {inside} inside, {refused} refused, {met} met a swap");
        assert!(
            swaps > 100 && inside > 0 && refused > 0 && met > 0,
            "{counts}"
        );
        fixture.assert_outside_untouched();
    }
}

fn assert_expected(error: &FileSystemError) {
    if let FileSystemError::PartialMove { source, .. } = error {
        return assert_expected(source);
    }
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
        let mut race = Race::start(&fixture);
        let mut round = 0;
        while race.goes_on(round, ROUNDS) {
            round += 1;
            for text in ["a/dir/secret", "a/file"] {
                let read = race.run(fixture.files.read_all(text)).await;
                assert!(read.is_none_or(|bytes| bytes == "inside"));
            }
        }
        race.finish(&fixture);
    })
    .await;
}

/// Puts an entry beside the secret that only the folder has, and one that only the other end of the link has.
fn tell_apart(fixture: &Fixture) {
    std::fs::write(fixture.outside.join("outside-only"), "12345").unwrap();
    fixture.put("a/dir/inside-only", "123");
}

fn forget_outside(fixture: &Fixture) {
    std::fs::remove_file(fixture.outside.join("outside-only")).unwrap();
}

/// Proves H12: looking at an entry never tells of anything outside.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h12_stats_against_swapped_links_stay_inside() {
    each_resolution(|fixture| async move {
        tell_apart(&fixture);
        let mut race = Race::start(&fixture);
        let mut round = 0;
        while race.goes_on(round, ROUNDS) {
            round += 1;
            let stat = race
                .run(fixture.files.stat(&path("a/dir/inside-only")))
                .await;
            assert!(stat.is_none_or(|stat| stat.size == 3));
            let outside = fixture.files.stat(&path("a/dir/outside-only")).await;
            assert_expected(&outside.unwrap_err());
        }
        forget_outside(&fixture);
        race.finish(&fixture);
    })
    .await;
}

/// Proves H12: a listing never shows anything outside.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h12_lists_against_swapped_links_stay_inside() {
    each_resolution(|fixture| async move {
        tell_apart(&fixture);
        let mut race = Race::start(&fixture);
        let mut round = 0;
        while race.goes_on(round, 2 * ROUNDS) {
            round += 1;
            let listed = race.run(fixture.files.list_all(&path("a/dir"))).await;
            let names = listed.map(|entries| entries.into_iter().map(|entry| entry.name));
            assert!(names.is_none_or(|names| names.eq(["inside-only", "secret"])));
        }
        forget_outside(&fixture);
        race.finish(&fixture);
    })
    .await;
}

/// Proves H12: a path never resolves to anything but itself while it leads inside.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h12_resolved_paths_against_swapped_links_stay_inside() {
    each_resolution(|fixture| async move {
        let mut race = Race::start(&fixture);
        let at = path("a/dir/secret");
        let mut round = 0;
        while race.goes_on(round, 2 * ROUNDS) {
            round += 1;
            let resolved = race.run(fixture.files.resolve(&at, LastLink::Follow)).await;
            assert!(resolved.is_none_or(|resolved| resolved == at));
        }
        race.finish(&fixture);
    })
    .await;
}

/// Proves H12: writes never reach anything outside.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h12_writes_against_swapped_links_stay_inside() {
    each_in_memory(|fixture, is_in_memory| async move {
        let mut race = Race::start(&fixture);
        let mut round = 0;
        let rounds = if is_in_memory {
            50_000 / 3 + 1
        } else {
            SLOW_ROUNDS / 5
        };
        while race.goes_on(round, rounds) {
            round += 1;
            for text in ["a/dir/secret", "a/dir/new/deep", "a/file"] {
                race.run(fixture.files.write_all(text, "inside")).await;
            }
        }
        race.finish(&fixture);
    })
    .await;
}

/// Proves H12: folders are never made outside.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h12_new_folders_against_swapped_links_stay_inside() {
    each_in_memory(|fixture, is_in_memory| async move {
        let mut race = Race::start(&fixture);
        let mut round = 0;
        let rounds = if is_in_memory { 50_000 } else { SLOW_ROUNDS };
        while race.goes_on(round, rounds) {
            round += 1;
            let at = path(&format!("a/dir/{round}/deep"));
            race.run(fixture.files.create_dir(&at)).await;
        }
        race.finish(&fixture);
        assert_eq!(std::fs::read_dir(&fixture.outside).unwrap().count(), 1);
    })
    .await;
}

/// Proves H12: removals and moves never reach anything outside.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h12_removals_and_moves_against_swapped_links_stay_inside() {
    each_in_memory(|fixture, is_in_memory| async move {
        fixture.put("mine", "mine");
        let mut race = Race::start(&fixture);
        let at = path("a/dir/secret");
        let (mut removed, mut moved) = (0, 0);
        let mut round = 0;
        let wanted = |removed: u64, moved: u64| removed == 0 || moved == 0;
        let rounds = if is_in_memory { 25_000 } else { SLOW_ROUNDS };
        while race.goes_on(round, rounds) || (wanted(removed, moved) && race.is_patient()) {
            round += 1;
            let work = fixture
                .files
                .remove(&at, Removal::Recursive, Precondition::Any);
            removed += u64::from(race.run(work).await.is_some());
            let from = path("mine");
            let work = fixture.files.rename(&from, &at, Replace::File);
            if race.run(work).await.is_some() {
                moved += 1;
                fixture.put("mine", "mine");
            }
        }
        assert!(removed > 0 && moved > 0, "{removed} removed, {moved} moved");
        race.finish(&fixture);
    })
    .await;
}

/// Proves H12: no link is made, and no text of one told, outside.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h12_links_made_against_swapped_links_stay_inside() {
    each_in_memory(|fixture, is_in_memory| async move {
        std::os::unix::fs::symlink("told", fixture.outside.join("link")).unwrap();
        let mut race = Race::start(&fixture);
        let target = LinkTarget::new("secret").unwrap();
        let mut round = 0;
        let rounds = if is_in_memory { ROUNDS } else { SLOW_ROUNDS };
        while race.goes_on(round, rounds) {
            round += 1;
            let (at, read) = (path("a/dir/made"), path("a/dir/link"));
            let work = fixture.files.create_link(&at, &target, Replace::File);
            race.run(work).await;
            let told = fixture.files.read_link(&read).await;
            assert_expected(&told.unwrap_err());
        }
        std::fs::remove_file(fixture.outside.join("link")).unwrap();
        race.finish(&fixture);
    })
    .await;
}

/// Proves H12 and H07: a move between trees takes nothing from outside, puts nothing there, and loses nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h12_h07_moves_between_trees_against_swapped_links_stay_inside() {
    each_in_memory(|fixture, is_in_memory| async move {
        let other = fixture.temp.path().join("other");
        std::fs::create_dir(&other).unwrap();
        let options = DiskOptions::new(fixture.temp.path().join("locks"));
        let docs = DiskFileSystem::open(&other, options.resolution(fixture.files.resolution()));
        let roots = WorkspaceRootSet::new()
            .with_root(
                RootName::new("docs").unwrap(),
                Arc::new(docs.unwrap()),
                RootAccess::ReadWrite,
            )
            .unwrap();
        let mounts = MountedFileSystem::new(Arc::new(fixture.files.clone()), roots);
        let mut race = Race::start(&fixture);
        let (inside, there) = (path("a/dir/secret"), path("/roots/docs/got"));
        let (mut out, mut back, mut round) = (0, 0, 0);
        let wanted = |out: u64, back: u64| out == 0 || back == 0;
        let rounds = if is_in_memory { MOVES } else { SLOW_ROUNDS / 2 };
        while race.goes_on(round, rounds) || (wanted(out, back) && race.is_patient()) {
            round += 1;
            let work = mounts.rename(&inside, &there, Replace::File);
            out += u64::from(race.run(work).await.is_some());
            if let Ok(got) = std::fs::read(other.join("got")) {
                assert_eq!(got, b"inside");
            }
            let work = mounts.rename(&there, &inside, Replace::File);
            back += u64::from(race.run(work).await.is_some());
        }
        assert!(out > 0 && back > 0, "{out} out, {back} back");
        let folder = fixture.root.join("a");
        race.finish(&fixture);
        let places = [
            other.join("got"),
            folder.join("dir/secret"),
            folder.join("dir-link/secret"),
        ];
        let is_left = |at: &PathBuf| std::fs::read(at).is_ok_and(|bytes| bytes == b"inside");
        assert!(places.iter().any(is_left), "what moved is lost");
    })
    .await;
}

/// Proves H12: a search never shows anything outside.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h12_searches_against_swapped_links_stay_inside() {
    each_in_memory(|fixture, is_in_memory| async move {
        std::fs::write(fixture.outside.join("needle"), "needle").unwrap();
        let mut race = Race::start(&fixture);
        let mut round = 0;
        let rounds = if is_in_memory { SEARCHES / 2 } else { SLOW_ROUNDS / 2 };
        while race.goes_on(round, rounds) {
            round += 1;
            let grep = SearchQuery::new(SearchTarget::Grep(GrepQuery::new("inside|needle|^secret")));
            let (events, _) = race.run(search(&fixture.files, grep)).await.unwrap();
            for event in &events {
                assert!(
                    matches!(event, SearchEvent::Line { text, .. } if text == "inside"),
                    "{event:?}"
                );
            }
            let is_in_folder = |event: &SearchEvent| {
                matches!(event, SearchEvent::Line { path, .. } if path.file_name() == Some("secret"))
            };
            // A search is not refused: what is a link when its turn comes is passed over.
            if !events.iter().any(is_in_folder) {
                race.inside -= 1;
                race.refused += 1;
            }
            let glob = SearchQuery::new(SearchTarget::Glob {
                pattern: "needle".to_owned(),
            });
            let (events, _) = search(&fixture.files, glob).await.unwrap();
            assert_eq!(events, []);
        }
        std::fs::remove_file(fixture.outside.join("needle")).unwrap();
        race.finish(&fixture);
    })
    .await;
}
