//! Checkpoints of many new objects, which are stored as one pack.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use everruns_testkit::disks::SmallDisk;

use crate::fixture::{Repository, Scene, git, porcelain, read, write};
use crate::full_disk::LEFT;

/// The packs of a repository, and how many objects are files of their own.
fn stored(project: &Path) -> (BTreeSet<PathBuf>, usize) {
    let objects = project.join(".git/objects");
    let mut packs = BTreeSet::new();
    let mut loose = 0;
    for entry in std::fs::read_dir(&objects).unwrap() {
        let folder = entry.unwrap();
        let name = folder.file_name().into_string().unwrap();
        if name == "info" {
            continue;
        }
        for file in std::fs::read_dir(folder.path()).unwrap() {
            if name == "pack" {
                packs.insert(file.unwrap().path());
            } else {
                loose += 1;
            }
        }
    }
    (packs, loose)
}

/// Work in `count` files, in folders of ten each.
pub(crate) fn work(folder: &Path, count: usize) {
    for number in 0..count {
        let path = folder.join(format!("work/{}/{number}.txt", number / 10));
        write(&path, &format!("work {number}\n").repeat(number % 50));
    }
}

async fn one_pack(scene: Scene) {
    let project = scene.repository.path.clone();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let (packs, loose) = stored(&project);
    work(&folder, 150);
    let before = porcelain(&folder);
    let kept = head.checkpoint().await.unwrap();
    assert_eq!(porcelain(&folder), before);

    let (now, still) = stored(&project);
    assert_eq!(still, loose, "no object is a file of its own");
    let new: Vec<&PathBuf> = now.difference(&packs).collect();
    let [index, pack] = new.as_slice() else {
        panic!("one pack and its index: {new:?}");
    };
    for file in [index, pack] {
        let mode = std::fs::metadata(file).unwrap().permissions().mode();
        assert_eq!(mode & 0o222, 0, "nobody may change {}", file.display());
    }
    let verified = git(&project, &["verify-pack", "-v", index.to_str().unwrap()]);
    assert!(verified.ends_with(": ok"), "{verified}");
    git(&project, &["fsck", "--strict"]);

    let again = head.checkpoint().await.unwrap();
    assert_eq!(again.revision, kept.revision);
    assert_eq!(stored(&project).0, now, "nothing is stored twice");
    let fork = head.fork("fork").await.unwrap();
    assert_eq!(porcelain(&scene.folder(&fork)), before);
    std::fs::remove_dir_all(folder.join("work")).unwrap();
    git(&project, &["gc", "-q", "--prune=now"]);
    head.restore(&kept).await.unwrap();
    assert_eq!(porcelain(&folder), before);
    assert_eq!(read(&folder.join("work/4/42.txt")), "work 42\n".repeat(42));
}

#[tokio::test]
async fn many_objects_are_one_pack() {
    one_pack(Scene::new()).await;
}

#[tokio::test]
async fn many_objects_are_one_pack_in_a_sha256_repository() {
    let root = tempfile::tempdir().unwrap();
    let repository = Repository::small_sha256(&root.path().join("project"));
    one_pack(Scene::around(root, repository)).await;
}

/// Few objects are files of their own, as Git stores them.
#[tokio::test]
async fn few_objects_are_no_pack() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let (packs, loose) = stored(&scene.repository.path);
    work(&scene.folder(&head), 20);
    head.checkpoint().await.unwrap();
    let (now, more) = stored(&scene.repository.path);
    assert_eq!(now, packs);
    assert!(more > loose + 20);
}

/// What is more than is held in memory is stored on the way, and still all there.
#[tokio::test]
async fn more_than_is_held_back_at_once_is_stored() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let count = 300 * threads;
    for number in 0..count {
        let content = format!("{number:07}\n").repeat(16_384);
        write(&folder.join(format!("large/{number}")), &content);
    }
    let kept = head.checkpoint().await.unwrap();
    let tree = git(&folder, &["ls-tree", "-r", "--name-only", &kept.revision]);
    assert_eq!(tree.matches("large/").count(), count);
    git(&folder, &["fsck", "--strict"]);
    let packs = stored(&scene.repository.path).0.len() / 2;
    assert!(packs > 1, "{packs} packs");
}

/// Proves H74 for a checkpoint that is stored as a pack.
#[tokio::test]
async fn h74_a_pack_on_a_full_disk() {
    for left in LEFT {
        let Some(disk) = SmallDisk::mount(8192) else {
            return;
        };
        let root = tempfile::TempDir::new_in(disk.folder()).unwrap();
        let repository = Repository::small(&root.path().join("project"));
        let scene = Scene::around(root, repository);
        let head = scene.head("one").await;
        let folder = scene.folder(&head);
        for number in 0..120 {
            let content = format!("{number}\n").repeat(1 + number);
            write(&folder.join(format!("work/{number}")), &content);
        }
        let before = porcelain(&folder);
        let packs = stored(&scene.repository.path).0;
        disk.fill(left);
        let outcome = head.checkpoint().await;
        let what = format!("checkpoint with {left} bytes left");
        if outcome.is_err() {
            assert!(
                matches!(
                    outcome,
                    Err(everruns_core::workspace::WorkspaceError::NoSpace { .. })
                ),
                "{what}: {outcome:?}"
            );
            let unfinished = stored(&scene.repository.path).0;
            let left_over = unfinished.difference(&packs).any(|path| {
                let name = path.file_name().unwrap().to_str().unwrap();
                !name.starts_with("pack-")
            });
            assert!(!left_over, "{what}: {unfinished:?}");
        }
        disk.free();
        assert_eq!(porcelain(&folder), before, "{what}");
        git(&scene.repository.path, &["fsck", "--strict"]);
        head.checkpoint().await.unwrap();
        crate::full_disk::nothing_is_left_over(&scene, &what).await;
    }
}
