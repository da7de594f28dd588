//! Files in memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use everruns_core::file_system::{
    ContentVersion, FileKind, FileSystemError, Precondition, Removal, Replace,
    SessionFileSystem as _, SessionFileSystemExt as _,
};
use everruns_core::path::WorkspacePath;
use everruns_fs::{MemoryFileSystem, MemoryOptions};
use proptest::prelude::*;

use crate::support::{memory, names, path, root, text};

#[tokio::test]
async fn forks_are_independent_both_ways() {
    let one = memory(&[("a/b", "1"), ("c", "1")]).await;
    let two = one.fork();
    one.write_all("a/b", "one").await.unwrap();
    two.write_all("a/new", "two").await.unwrap();
    two.remove(&path("c"), Removal::Entry, Precondition::Any)
        .await
        .unwrap();
    assert_eq!(
        (
            text(one.as_ref(), "a/b").await.unwrap(),
            text(&two, "a/b").await.unwrap()
        ),
        ("one".into(), "1".into())
    );
    assert_eq!(names(one.as_ref(), ".").await, ["a", "c"]);
    assert_eq!(names(one.as_ref(), "a").await, ["b"]);
    assert_eq!(names(&two, ".").await, ["a"]);
}

/// A fork shares everything, so a hundred thousand files cost what one costs.
#[tokio::test]
async fn forking_costs_the_same_for_any_size() {
    let fs = MemoryFileSystem::new();
    for folder in 0..100 {
        for file in 0..200 {
            let path = path(&format!("{folder}/{file}"));
            fs.write(&path, Bytes::from_static(b"x"), Precondition::Any)
                .await
                .unwrap();
        }
    }
    let started = std::time::Instant::now();
    let forks: Vec<MemoryFileSystem> = (0..10_000).map(|_| fs.fork()).collect();
    // Copying 20,000 entries as often would take minutes.
    assert!(
        started.elapsed() < std::time::Duration::from_secs(2),
        "{:?}",
        started.elapsed()
    );
    forks[0].write_all("5/5", "y").await.unwrap();
    assert_eq!(text(&fs, "5/5").await.unwrap(), "x");
}

#[tokio::test]
async fn h28_the_executable_bit_stays() {
    let fs = memory(&[("run", "1")]).await;
    fs.set_executable(&path("run"), true).unwrap();
    fs.write_all("run", "2").await.unwrap();
    fs.rename(&path("run"), &path("bin/run"), Replace::Never)
        .await
        .unwrap();
    assert!(fs.stat(&path("bin/run")).await.unwrap().executable);
    let folder = fs.set_executable(&path("bin"), true);
    assert!(matches!(folder, Err(FileSystemError::NotAFile { .. })));
}

/// Proves H44 and H75 in memory: files and trees are bounded, and what was there stays.
#[tokio::test]
async fn h44_h75_files_and_trees_are_bounded() {
    let fs = MemoryFileSystem::with_options(MemoryOptions {
        max_file_bytes: 10,
        max_total_bytes: 25,
        ..MemoryOptions::default()
    });
    let large = fs.write_all("a", vec![0_u8; 11]).await;
    assert!(matches!(
        large,
        Err(FileSystemError::TooLarge {
            size: 11,
            limit: 10,
            ..
        })
    ));
    fs.write_all("a", vec![1_u8; 10]).await.unwrap();
    fs.write_all("b", vec![1_u8; 10]).await.unwrap();
    let full = fs.write_all("c", vec![1_u8; 6]).await;
    assert!(matches!(full, Err(FileSystemError::NoSpace { .. })));
    fs.write_all("a", vec![1_u8; 5]).await.unwrap();
    fs.write_all("c", vec![1_u8; 6]).await.unwrap();
    fs.rename(&path("c"), &path("b"), Replace::File)
        .await
        .unwrap();
    fs.remove(&path("a"), Removal::Entry, Precondition::Any)
        .await
        .unwrap();
    fs.write_all("d", vec![1_u8; 10]).await.unwrap();
    assert_eq!(names(&fs, ".").await, ["b", "d"]);
}

#[tokio::test]
async fn paths_of_other_mounts_are_unknown() {
    let fs = memory(&[]).await;
    let path = path("a").with_mount(everruns_core::path::Mount::Root(root("docs")));
    let refused = fs.stat(&path).await;
    assert!(matches!(refused, Err(FileSystemError::UnknownRoot { .. })));
}

/// Proves H50 in one process: of many writers of one version, one wins.
#[tokio::test(flavor = "multi_thread")]
async fn h50_one_writer_of_a_version_wins() {
    let fs = memory(&[("a", "start")]).await;
    let version = ContentVersion::of(b"start");
    let writers: Vec<_> = (0..32)
        .map(|n| {
            let fs = Arc::clone(&fs);
            tokio::spawn(async move {
                let bytes = Bytes::from(format!("writer {n}"));
                fs.write(&path("a"), bytes, Precondition::Matches(version))
                    .await
            })
        })
        .collect();
    let mut won = Vec::new();
    for writer in writers {
        match writer.await.unwrap() {
            Ok(version) => won.push(version),
            Err(FileSystemError::Conflict { current, .. }) => assert!(current.is_some()),
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(won, [fs.version(&path("a")).await.unwrap().unwrap()]);
}

#[derive(Clone, Debug)]
enum Step {
    Write(String, u8, Wish),
    Remove(String, bool),
    Rename(String, String, bool),
    CreateDir(String),
}

#[derive(Clone, Copy, Debug)]
enum Wish {
    Any,
    Absent,
    Current,
    Stale,
}

fn any_path() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec!["a", "b", "c"]);
    prop::collection::vec(part, 1..4).prop_map(|parts| parts.join("/"))
}

fn any_step() -> impl Strategy<Value = Step> {
    let wish = prop::sample::select(vec![Wish::Any, Wish::Absent, Wish::Current, Wish::Stale]);
    prop_oneof![
        4 => (any_path(), any::<u8>(), wish).prop_map(|(path, byte, wish)| Step::Write(path, byte, wish)),
        2 => (any_path(), any::<bool>()).prop_map(|(path, all)| Step::Remove(path, all)),
        2 => (any_path(), any_path(), any::<bool>()).prop_map(|(from, to, over)| Step::Rename(from, to, over)),
        1 => any_path().prop_map(Step::CreateDir),
    ]
}

/// What a file system is, said as plainly as possible: `None` is a folder.
type Model = BTreeMap<String, Option<Vec<u8>>>;

fn above(path: &str) -> Vec<String> {
    let parts: Vec<&str> = path.split('/').collect();
    (1..parts.len()).map(|n| parts[..n].join("/")).collect()
}

fn below(model: &Model, path: &str) -> Vec<String> {
    let start = format!("{path}/");
    model
        .keys()
        .filter(|name| name.starts_with(&start))
        .cloned()
        .collect()
}

fn make_folders(model: &mut Model, path: &str) -> bool {
    if above(path)
        .iter()
        .any(|folder| matches!(model.get(folder), Some(Some(_))))
    {
        return false;
    }
    for folder in above(path) {
        model.entry(folder).or_insert(None);
    }
    true
}

/// Does the step in the model and says whether it succeeds.
fn apply(model: &mut Model, step: &Step) -> bool {
    match step {
        Step::Write(path, byte, wish) => {
            let current = model.get(path).cloned();
            let fails = matches!(
                (&current, wish),
                (Some(None), _)
                    | (Some(Some(_)), Wish::Absent)
                    | (None, Wish::Current)
                    | (_, Wish::Stale)
            );
            if fails
                || above(path)
                    .iter()
                    .any(|folder| matches!(model.get(folder), Some(Some(_))))
            {
                return false;
            }
            make_folders(model, path);
            model.insert(path.clone(), Some(vec![*byte]));
            true
        }
        Step::Remove(path, all) => match model.get(path) {
            None => false,
            Some(None) if !all && !below(model, path).is_empty() => false,
            Some(_) => {
                for name in below(model, path) {
                    model.remove(&name);
                }
                model.remove(path);
                true
            }
        },
        Step::Rename(from, to, over) => {
            let Some(moving) = model.get(from).cloned() else {
                return false;
            };
            let is_folder = moving.is_none();
            let into_itself = is_folder && to.starts_with(&format!("{from}/"));
            let taken = match model.get(to) {
                None => false,
                Some(there) => !over || is_folder || there.is_none(),
            };
            if into_itself || taken {
                return false;
            }
            if from == to {
                return true;
            }
            if above(to)
                .iter()
                .any(|folder| matches!(model.get(folder), Some(Some(_))))
            {
                return false;
            }
            let moved: Vec<(String, Option<Vec<u8>>)> = below(model, from)
                .into_iter()
                .map(|name| (name.replacen(from, to, 1), model.remove(&name).unwrap()))
                .collect();
            model.remove(from);
            make_folders(model, to);
            model.insert(to.clone(), moving);
            model.extend(moved);
            true
        }
        Step::CreateDir(path) => {
            if matches!(model.get(path), Some(Some(_))) || !make_folders(model, path) {
                return false;
            }
            model.insert(path.clone(), None);
            true
        }
    }
}

async fn perform(fs: &MemoryFileSystem, step: &Step) -> Result<(), FileSystemError> {
    match step {
        Step::Write(at, byte, wish) => {
            let at = path(at);
            let precondition = match wish {
                Wish::Any => Precondition::Any,
                Wish::Absent => Precondition::Absent,
                Wish::Stale => Precondition::Matches(ContentVersion::of(b"never written")),
                Wish::Current => match fs.version(&at).await {
                    Ok(Some(version)) => Precondition::Matches(version),
                    _ => Precondition::Matches(ContentVersion::of(b"nothing")),
                },
            };
            fs.write(&at, Bytes::from(vec![*byte]), precondition)
                .await
                .map(drop)
        }
        Step::Remove(at, all) => {
            let removal = if *all {
                Removal::Recursive
            } else {
                Removal::Entry
            };
            fs.remove(&path(at), removal, Precondition::Any).await
        }
        Step::Rename(from, to, over) => {
            let replace = if *over { Replace::File } else { Replace::Never };
            fs.rename(&path(from), &path(to), replace).await
        }
        Step::CreateDir(at) => fs.create_dir(&path(at)).await,
    }
}

async fn contents(fs: &MemoryFileSystem) -> Model {
    let mut found = Model::new();
    let mut open = vec![WorkspacePath::root()];
    while let Some(folder) = open.pop() {
        for entry in fs.list_all(&folder).await.unwrap() {
            let at = folder.join(&entry.name).unwrap();
            let is_folder = entry.stat.kind == FileKind::Directory;
            let bytes = if is_folder {
                None
            } else {
                Some(fs.read_all(at.relative()).await.unwrap().to_vec())
            };
            found.insert(at.relative().to_owned(), bytes);
            if is_folder {
                open.push(at);
            }
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Random operations give what a plain map gives; a fork taken on the way keeps the state of that moment.
    #[test]
    fn memory_agrees_with_a_plain_map(
        steps in prop::collection::vec(any_step(), 1..40),
        fork_at in 0_usize..40,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (fs, mut model) = (MemoryFileSystem::new(), Model::new());
            let mut fork = None;
            for (index, step) in steps.iter().enumerate() {
                if index == fork_at {
                    fork = Some((fs.fork(), model.clone()));
                }
                let done = perform(&fs, step).await;
                assert_eq!(done.is_ok(), apply(&mut model, step), "{step:?} gave {done:?}");
            }
            assert_eq!(contents(&fs).await, model);
            if let Some((fork, then)) = fork {
                assert_eq!(contents(&fork).await, then);
            }
        });
    }
}
