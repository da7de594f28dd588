use everruns_core::file_system::SessionFileSystemExt as _;
use everruns_fs::MemoryFileSystem;

use crate::support::{Fixture, each_resolution, open};

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
