use std::collections::BTreeSet;
use std::fmt::Debug;

use everruns_core::file_system::{
    FileKind, FileSystemError, LastLink, PageRequest, ReadRange, SessionFileSystem,
};
use everruns_core::path::WorkspacePath;

use super::fault::Fault;
use super::plain::{Faults, Plain};

/// Reads, and compares the bytes, the size and the version.
pub(super) async fn read(
    files: &dyn SessionFileSystem,
    plain: &Plain,
    path: &WorkspacePath,
    range: ReadRange,
) {
    let read = files.read(path, range).await;
    let Some(bytes) = plain.file(path).filter(|_| !plain.is_denied(path)) else {
        let fault = if plain.is_folder(path) {
            Fault::NotAFile
        } else {
            plain.nothing_at(path)
        };
        let faults = looked_for(plain, path, fault);
        assert_no_other(&files.read_direct(path, range).await, None, &faults);
        return assert_refused(&read, &faults);
    };
    let read = read.unwrap();
    let direct = files.read_direct(path, range).await;
    assert_no_other(&direct, Some(&read), &Faults::new());
    let start = bytes.len().min(usize::try_from(range.offset).unwrap());
    let length = range
        .length
        .map_or(bytes.len(), |length| usize::try_from(length).unwrap());
    let end = bytes.len().min(start + length);
    assert_eq!(read.bytes().as_ref(), &bytes[start..end], "{path}");
    assert_eq!(Some(read.version()), plain.version(path), "{path}");
    assert_eq!(read.size(), bytes.len() as u64, "{path}");
}

/// Looks at an entry, and compares its kind and size.
pub(super) async fn stat(files: &dyn SessionFileSystem, plain: &Plain, path: &WorkspacePath) {
    let stat = files.stat(path).await;
    let exists = plain.is_folder(path) || plain.file(path).is_some();
    if plain.is_denied(path) || !exists {
        let faults = looked_for(plain, path, plain.nothing_at(path));
        assert_no_other(&files.stat_direct(path).await, None, &faults);
        return assert_refused(&stat, &faults);
    }
    let stat = stat.unwrap();
    let direct = files.stat_direct(path).await;
    assert_no_other(&direct, Some(&stat), &Faults::new());
    let (kind, size) = match plain.file(path) {
        Some(bytes) => (FileKind::File, bytes.len() as u64),
        None => (FileKind::Directory, 0),
    };
    assert_eq!((stat.kind, stat.size), (kind, size), "{path}");
    let executable = plain.executables.contains(path);
    assert_eq!(stat.executable, executable, "{path}");
}

/// There are no links, so what is there, or could be, is found under its own name.
pub(super) async fn resolve(files: &dyn SessionFileSystem, plain: &Plain, path: &WorkspacePath) {
    for last in [LastLink::Follow, LastLink::Keep] {
        let resolved = files.resolve(path, last).await;
        if plain.is_denied(path) || plain.is_below_a_file(path) {
            let faults = looked_for(plain, path, Fault::NotADirectory);
            assert_refused(&resolved, &faults);
        } else {
            assert_eq!(resolved.unwrap(), *path);
        }
    }
}

/// Lists one page, and compares its names and where the next one starts.
pub(super) async fn list(
    files: &dyn SessionFileSystem,
    plain: &Plain,
    path: &WorkspacePath,
    limit: usize,
    after: Option<String>,
) {
    let request = PageRequest {
        limit,
        after: after.clone(),
    };
    let page = files.list(path, request).await;
    if plain.is_denied(path) || !plain.is_folder(path) {
        let fault = if plain.file(path).is_some() {
            Fault::NotADirectory
        } else {
            plain.nothing_at(path)
        };
        return assert_refused(&page, &looked_for(plain, path, fault));
    }
    let page = page.unwrap();
    let children = plain
        .below(path)
        .into_iter()
        .filter(|entry| entry.parent().as_ref() == Some(path) && !plain.is_denied(entry));
    let wanted: Vec<String> = children
        .map(|entry| entry.file_name().unwrap().to_owned())
        .filter(|name| after.as_ref().is_none_or(|after| name > after))
        .collect();
    let shown = wanted.len().min(limit.max(1));
    let names: Vec<&String> = page.entries.iter().map(|entry| &entry.name).collect();
    assert_eq!(names, wanted[..shown].iter().collect::<Vec<_>>(), "{path}");
    assert!(page.unrepresentable.is_empty(), "{path}");
    let next = (wanted.len() > shown).then(|| wanted[shown - 1].clone());
    assert_eq!(page.next, next, "the next page of {path}");
}

/// What is at a denied path is not told.
fn looked_for(plain: &Plain, path: &WorkspacePath, fault: Fault) -> Faults {
    if plain.is_denied(path) {
        BTreeSet::from([Fault::Denied])
    } else {
        BTreeSet::from([fault])
    }
}

/// A call that may say that it cannot tell says nothing else than the one that tells.
fn assert_no_other<T: Debug + PartialEq>(
    direct: &Result<Option<T>, FileSystemError>,
    told: Option<&T>,
    faults: &Faults,
) {
    match direct {
        Ok(None) => {}
        Ok(direct) => assert_eq!(direct.as_ref(), told),
        Err(_) => assert_refused(direct, faults),
    }
}

pub(super) fn assert_refused<T: Debug>(done: &Result<T, FileSystemError>, faults: &Faults) {
    match done {
        Ok(done) => panic!("gave {done:?}, though {faults:?}"),
        Err(error) => assert!(
            faults.contains(&Fault::of(error)),
            "{error:?}, expected {faults:?}"
        ),
    }
}
