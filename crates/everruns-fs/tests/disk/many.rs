use std::path::PathBuf;
use std::process::{Command, Stdio};

use everruns_core::file_system::{
    FileSystemError, Precondition, SessionFileSystem as _, SessionFileSystemExt as _,
};
use everruns_fs::MemoryFileSystem;
use everruns_fs::disk::{DiskFileSystem, DiskOptions, Resolution};

use crate::support::{Fixture, each_resolution, open, path};

/// Where a child process finds its trees.
const FOLDER: &str = "EVERRUNS_TEST_MANY";

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn resident_bytes() -> usize {
    let pages = std::fs::read("/proc/self/statm").unwrap();
    let pages = String::from_utf8(pages).unwrap();
    let resident: usize = pages.split(' ').nth(1).unwrap().parse().unwrap();
    resident * rustix::param::page_size()
}

/// Proves H75 for one process: what is open costs one descriptor, and nothing more is left by its use.
#[tokio::test]
async fn h75_an_open_tree_costs_one_descriptor() {
    each_resolution(|fixture: Fixture| async move {
        fixture.put("f", "text");
        let before = open_files();
        let trees: Vec<_> = (0..300)
            .map(|_| open(fixture.temp.path(), fixture.files.resolution()))
            .collect();
        for tree in &trees {
            assert_eq!(tree.read_all("f").await.unwrap(), "text");
        }
        for tree in trees.iter().take(5) {
            tree.write_all("g", "text").await.unwrap();
        }
        assert!(open_files() <= before + trees.len() + 2);
        drop(trees);
        assert!(open_files() <= before + 2);
    })
    .await;
}

/// Proves H75 for files in memory: ten thousand forks share one tree.
#[tokio::test]
async fn h75_ten_thousand_forks_cost_what_differs() {
    let files = MemoryFileSystem::new();
    for number in 0..2_000 {
        files
            .write_all(&format!("d{}/f{number}", number % 50), vec![b'x'; 10_000])
            .await
            .unwrap();
    }
    let before = resident_bytes();
    let forks: Vec<_> = (0..10_000).map(|_| files.fork()).collect();
    for fork in forks.iter().step_by(100) {
        fork.write_all("d0/own", "changed").await.unwrap();
    }
    let more = resident_bytes().saturating_sub(before);
    // The tree alone has 20 MB.
    assert!(more < 40 << 20, "{more} bytes for 10,000 forks");
}

/// Runs a test of this binary in a process of its own, in which so many files may be open.
#[expect(
    clippy::disallowed_methods,
    reason = "a process of its own, as the limit is one of processes"
)]
fn run_with_open_files(limit: u32, test: &str, folder: &std::path::Path) {
    let script = format!("ulimit -n {limit} || exit 77; exec \"$0\" --exact {test} --nocapture");
    let status = Command::new("sh")
        .args(["-c", &script])
        .arg(std::env::current_exe().unwrap())
        .env(FOLDER, folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    if status.code() == Some(77) {
        let in_ci = std::env::var("CI").is_ok_and(|value| value == "true" || value == "1");
        assert!(!in_ci, "this process may not have {limit} files open");
        eprintln!("NOT TESTED: this process may not have {limit} files open");
        return;
    }
    assert!(status.success(), "{test} failed with {limit} open files");
}

/// The folder that the parent process gave; none when the test runs by itself.
fn given_folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

fn open_numbered(
    folder: &std::path::Path,
    number: usize,
) -> Result<DiskFileSystem, FileSystemError> {
    let root = folder.join(format!("head{number}"));
    std::fs::create_dir_all(&root).unwrap();
    DiskFileSystem::open(root, DiskOptions::new(folder.join("locks")))
}

/// Proves H75: a thousand heads at once work with the usual limit of 1,024 open files, and with one more than fits
/// there is an error that says what to do.
#[test]
fn h75_a_thousand_heads_work_under_the_usual_limit() {
    let folder = tempfile::tempdir().unwrap();
    run_with_open_files(1_024, "many::child_with_a_thousand_heads", folder.path());
}

#[tokio::test]
async fn child_with_a_thousand_heads() {
    let Some(folder) = given_folder() else { return };
    let mut trees = Vec::new();
    for number in 0..1_000 {
        trees.push(open_numbered(&folder, number).unwrap());
    }
    for (number, tree) in trees.iter().enumerate().step_by(37) {
        tree.write_all("d/f", number.to_string()).await.unwrap();
        assert_eq!(tree.read_all("d/f").await.unwrap(), number.to_string());
    }
    let refused = loop {
        match open_numbered(&folder, trees.len()) {
            Ok(tree) => trees.push(tree),
            Err(error) => break error,
        }
    };
    assert!(trees.len() < 1_024);
    assert!(
        matches!(refused, FileSystemError::TooManyOpenFiles { .. }),
        "{refused:?}"
    );
    assert!(refused.is_retryable());
    let told = refused.to_string();
    assert!(
        told.contains("drop heads") && told.contains("ulimit -n"),
        "{told}"
    );
    // Not one descriptor is left: reads and writes say the same, and change nothing.
    let read = trees[0].read_all("d/f").await.unwrap_err();
    assert!(
        matches!(read, FileSystemError::TooManyOpenFiles { .. }),
        "{read:?}"
    );
    let write = trees[0]
        .write(&path("d/f"), "new".into(), Precondition::Any)
        .await
        .unwrap_err();
    assert!(
        matches!(write, FileSystemError::TooManyOpenFiles { .. }),
        "{write:?}"
    );
    trees.truncate(900);
    assert_eq!(trees[0].read_all("d/f").await.unwrap(), "0");
    trees[0].write_all("d/f", "new").await.unwrap();
    assert_eq!(trees[0].read_all("d/f").await.unwrap(), "new");
}

/// Proves H75: ten thousand open trees cost their descriptors and little memory.
#[test]
fn h75_ten_thousand_open_trees_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    run_with_open_files(11_000, "many::child_with_ten_thousand_trees", folder.path());
}

#[tokio::test]
async fn child_with_ten_thousand_trees() {
    let Some(folder) = given_folder() else { return };
    // The same folder often is as good as many, and quicker to make.
    let first = open_numbered(&folder, 0).unwrap();
    first.write_all("f", "text").await.unwrap();
    let (files, bytes) = (open_files(), resident_bytes());
    let trees: Vec<_> = (0..10_000)
        .map(|_| open_numbered(&folder, 0).unwrap())
        .collect();
    for tree in trees.iter().step_by(10) {
        assert_eq!(tree.read_all("f").await.unwrap(), "text");
    }
    assert_eq!(open_files(), files + trees.len());
    let each = resident_bytes().saturating_sub(bytes) / trees.len();
    assert!(each < 4 << 10, "{each} bytes for each open tree");
    assert_eq!(trees[0].resolution(), first.resolution());
    assert_ne!(first.resolution(), Resolution::Auto);
    drop(trees);
    assert!(open_files() <= files + 2);
}
