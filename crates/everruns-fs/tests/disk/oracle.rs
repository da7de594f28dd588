use everruns_core::file_system::{
    FileSystemError, LastLink, ReadRange, SessionFileSystem as _, SessionFileSystemExt as _,
};
use everruns_core::path::WorkspacePath;
use everruns_fs::disk::Resolution;
use proptest::prelude::*;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::support::{Fixture, open, path};

#[derive(Clone, Debug)]
enum Entry {
    File,
    Folder,
    Link(String),
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![3 => "a", 3 => "b", 1 => "c"]
}

fn relative(most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(name(), 1..=most).prop_map(|parts| parts.join("/"))
}

fn target() -> impl Strategy<Value = String> {
    let part = prop_oneof![4 => name(), 2 => Just("..".to_owned()), 1 => Just(".".to_owned())];
    let end = prop_oneof![6 => Just(""), 1 => Just("/"), 1 => Just("/.")];
    (prop::collection::vec(part, 1..4), end).prop_map(|(parts, end)| parts.join("/") + end)
}

fn entry() -> impl Strategy<Value = Entry> {
    prop_oneof![
        Just(Entry::File),
        Just(Entry::Folder),
        target().prop_map(Entry::Link),
    ]
}

/// What the kernel itself says when it follows the links beneath the top folder.
fn by_the_kernel(fixture: &Fixture, relative: &str, flags: OFlags) -> Result<Vec<u8>, Errno> {
    let folder = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = rustix::fs::openat(CWD, &fixture.root, folder, Mode::empty())?;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let file = loop {
        // The kernel gives up on `..` when anything is renamed anywhere meanwhile.
        match rustix::fs::openat2(&root, relative, flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN) => {}
            other => break other?,
        }
    };
    let mut bytes = vec![0; 100];
    if flags.contains(OFlags::DIRECTORY) {
        return Ok(Vec::new());
    }
    let length = rustix::io::read(&file, &mut bytes)?;
    bytes.truncate(length);
    Ok(bytes)
}

fn is_same(ours: &Result<Vec<u8>, FileSystemError>, kernel: &Result<Vec<u8>, Errno>) -> bool {
    match (ours, kernel) {
        (Ok(ours), Ok(kernel)) => ours == kernel,
        (Err(ours), Err(kernel)) => matches!(
            (ours, *kernel),
            (FileSystemError::NotFound { .. }, Errno::NOENT)
                | (FileSystemError::NotADirectory { .. }, Errno::NOTDIR)
                | (FileSystemError::NotAFile { .. }, Errno::ISDIR)
                | (FileSystemError::Escapes { .. }, Errno::XDEV)
                | (FileSystemError::LinkLoop { .. }, Errno::LOOP)
        ),
        _ => false,
    }
}

fn check(entries: &[(String, Entry)], asked: &[String]) {
    let fixture = Fixture::new(Resolution::Kernel);
    for (relative, entry) in entries {
        let at = fixture.root.join(relative);
        let folder = at.parent().unwrap();
        // A file or link made earlier may be in the way; then this entry is left out.
        if std::fs::create_dir_all(folder).is_err() || !is_plain(&fixture, folder) {
            continue;
        }
        drop(match entry {
            Entry::File => std::fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(&at)
                .and_then(|mut file| std::io::Write::write_all(&mut file, relative.as_bytes())),
            Entry::Folder => std::fs::create_dir(&at),
            Entry::Link(target) => std::os::unix::fs::symlink(target, &at),
        });
    }
    let walk = open(fixture.temp.path(), Resolution::Walk);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        for text in asked {
            for files in [&fixture.files, &walk] {
                let expected = by_the_kernel(&fixture, text, OFlags::RDONLY);
                let read = files.read_all(text).await.map(Vec::from);
                assert!(
                    is_same(&read, &expected),
                    "read {text}: {read:?}, {expected:?}"
                );
                let expected = by_the_kernel(&fixture, text, OFlags::RDONLY | OFlags::DIRECTORY);
                let listed = files.list_all(&path(text)).await.map(|_| Vec::new());
                assert!(
                    is_same(&listed, &expected),
                    "list {text}: {listed:?}, {expected:?}"
                );
            }
            for last in [LastLink::Follow, LastLink::Keep] {
                let resolved = [
                    fixture.files.resolve(&path(text), last).await,
                    walk.resolve(&path(text), last).await,
                ];
                assert_eq!(format!("{:?}", resolved[0]), format!("{:?}", resolved[1]));
                assert_direct(&fixture, text, &resolved[0], last).await;
                let [Ok(resolved), _] = resolved else {
                    continue;
                };
                assert_resolved(&fixture, text, &resolved, last).await;
            }
        }
    });
    fixture.assert_outside_untouched();
}

/// The folder is reached without links, so that making an entry in it stays inside.
fn is_plain(fixture: &Fixture, folder: &std::path::Path) -> bool {
    folder
        .ancestors()
        .take_while(|above| *above != fixture.root)
        .all(|above| !above.is_symlink())
}

/// A resolved path has no link in it, and leads to the same bytes.
async fn assert_resolved(fixture: &Fixture, text: &str, resolved: &WorkspacePath, last: LastLink) {
    let host = fixture.root.join(resolved.relative());
    let above = match last {
        LastLink::Follow => host.as_path(),
        LastLink::Keep => host.parent().unwrap(),
    };
    assert!(is_plain(fixture, above), "{text} resolved to {resolved}");
    if let (Ok(before), Ok(after)) = (
        fixture.files.read(&path(text), ReadRange::ALL).await,
        fixture.files.read(resolved, ReadRange::ALL).await,
    ) {
        assert_eq!(
            before.bytes(),
            after.bytes(),
            "{text} resolved to {resolved}"
        );
    }
}

/// What is read or looked at directly is what is there, and only where a path resolves to itself.
async fn assert_direct(
    fixture: &Fixture,
    text: &str,
    resolved: &Result<WorkspacePath, FileSystemError>,
    last: LastLink,
) {
    let (files, asked) = (&fixture.files, path(text));
    let is_itself = resolved.as_ref().is_ok_and(|resolved| *resolved == asked);
    match last {
        LastLink::Follow => {
            if let Ok(Some(content)) = files.read_direct(&asked, ReadRange::ALL).await {
                assert!(is_itself, "{text} goes through a link");
                let read = files.read(&asked, ReadRange::ALL).await.unwrap();
                assert_eq!(content, read, "{text}");
            } else if is_itself {
                files.read(&asked, ReadRange::ALL).await.unwrap_err();
            }
        }
        LastLink::Keep => {
            if let Ok(Some(stat)) = files.stat_direct(&asked).await {
                assert!(is_itself, "{text} goes through a link");
                assert_eq!(stat, files.stat(&asked).await.unwrap(), "{text}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    /// Proves H10, H13 and H18 against the kernel's own idea of staying beneath a folder.
    #[test]
    fn h18_links_lead_where_the_kernel_says(
        entries in prop::collection::vec((relative(2), entry()), 4..12),
        below in relative(2),
    ) {
        let mut asked = vec![below.clone()];
        for (entry, _) in &entries {
            asked.extend([entry.clone(), format!("{entry}/{below}")]);
        }
        check(&entries, &asked);
    }
}
