//! Patches of heads in memory, applied by the real `git apply`.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use everruns_core::file_system::{
    FileKind, FileMode, PageRequest, Precondition, ReadRange, Removal, Replace,
};
use everruns_core::path::WorkspacePath;
use everruns_core::workspace::{
    DiffBase, DiffRequest, Workspace, WorkspaceBackend, WorkspaceError, WorkspaceHead,
};
use everruns_fs::MemoryWorkspaceBackend;
use everruns_testkit::git::GitFixture;
use proptest::prelude::*;

use crate::support::path;

/// What a tree holds: bytes and whether they are executable, by path.
type Files = BTreeMap<String, (Vec<u8>, bool)>;

async fn head() -> WorkspaceHead {
    let backend: Arc<dyn WorkspaceBackend> = Arc::new(MemoryWorkspaceBackend::new());
    let workspace = Workspace::open(backend, "project").await.unwrap();
    workspace.head("work").create().await.unwrap()
}

async fn put(head: &WorkspaceHead, at: &str, bytes: impl Into<Bytes>) {
    let files = head.file_system();
    let at = path(at);
    files
        .write(&at, bytes.into(), Precondition::Any)
        .await
        .unwrap();
}

async fn put_with_mode(head: &WorkspaceHead, at: &str, bytes: &'static str, mode: FileMode) {
    let files = head.file_system();
    let bytes = Bytes::from_static(bytes.as_bytes());
    let at = path(at);
    files
        .write_with_mode(&at, bytes, mode, Precondition::Any)
        .await
        .unwrap();
}

async fn remove(head: &WorkspaceHead, at: &str) {
    let files = head.file_system();
    files
        .remove(&path(at), Removal::Recursive, Precondition::Any)
        .await
        .unwrap();
}

async fn rename(head: &WorkspaceHead, from: &str, to: &str) {
    let files = head.file_system();
    files
        .rename(&path(from), &path(to), Replace::Never)
        .await
        .unwrap();
}

/// All files of the head now.
async fn files(head: &WorkspaceHead) -> Files {
    let files = head.file_system();
    let mut found = Files::new();
    let mut folders = vec![WorkspacePath::root()];
    while let Some(folder) = folders.pop() {
        let page = files.list(&folder, PageRequest::default()).await.unwrap();
        assert_eq!(page.next, None, "more than a page");
        for entry in page.entries {
            let at = folder.join(&entry.name).unwrap();
            if entry.stat.kind == FileKind::Directory {
                folders.push(at);
                continue;
            }
            let content = files.read(&at, ReadRange::ALL).await.unwrap();
            let bytes = content.bytes().to_vec();
            found.insert(at.relative().to_owned(), (bytes, entry.stat.executable));
        }
    }
    found
}

/// Writes `files` into a repository and commits them.
fn repository(files: &Files) -> GitFixture {
    let fixture = GitFixture::empty();
    for (at, (bytes, executable)) in files {
        let at = fixture.path().join(at);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(&at, bytes).unwrap();
        let mode = if *executable { 0o755 } else { 0o644 };
        std::fs::set_permissions(&at, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    fixture.git(&["add", "-A", "-f"]);
    fixture.git(&["commit", "-q", "--allow-empty", "-m", "before"]);
    fixture
}

fn written(folder: &Path, below: &str, found: &mut Files) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if below.is_empty() && name == ".git" {
            continue;
        }
        let at = format!("{below}{name}");
        let data = entry.metadata().unwrap();
        if data.is_dir() {
            written(&entry.path(), &format!("{at}/"), found);
        } else {
            let executable = data.permissions().mode() & 0o100 != 0;
            found.insert(at, (std::fs::read(entry.path()).unwrap(), executable));
        }
    }
}

/// What `git apply` makes of `before` with these patches, one after the other.
fn applied<'a>(before: &Files, patches: impl IntoIterator<Item = &'a Bytes>) -> Files {
    let fixture = repository(before);
    for patch in patches {
        if patch.is_empty() {
            continue;
        }
        let file = fixture.beside("patch");
        std::fs::write(&file, patch).unwrap();
        fixture.git(&["apply", "--index", file.to_str().unwrap()]);
    }
    let mut found = Files::new();
    written(&fixture.path(), "", &mut found);
    found
}

async fn patch_between(
    head: &WorkspaceHead,
    from: impl Into<DiffBase>,
    to: Option<DiffBase>,
) -> Bytes {
    let request = DiffRequest {
        from: from.into(),
        to,
        ..DiffRequest::default()
    };
    let patch = head.patch(request).await.unwrap();
    assert!(patch.omitted.is_empty() && !patch.truncated);
    patch.bytes
}

/// Proves H41, H42 and H45 for patches of files in memory: names, contents and modes survive byte for byte, both ways.
#[tokio::test]
async fn h41_h42_h45_patches_in_memory_are_applied_byte_for_byte() {
    let head = head().await;
    let numbers: Vec<String> = (1..=60).map(|n| format!("line {n}\n")).collect();
    let numbers = numbers.concat();
    put(&head, "crlf.txt", "one\r\ntwo\r\nthree\r\n").await;
    put(&head, "latin.txt", Bytes::from_static(b"caf\xe9\nplain\n")).await;
    put(&head, "no-end", "a\nb").await;
    put(&head, "gets-end", "a\nb").await;
    put(&head, "numbers", numbers.clone()).await;
    put(&head, "edited", numbers.clone()).await;
    put(&head, "binary", "a\0b\0c").await;
    put(&head, "binary-gone", vec![0; 3000]).await;
    put(&head, "empty-gone", "").await;
    put(&head, "with \"quote\"\tand ä", "x\n").await;
    put(&head, "space d", "x\n").await;
    put(&head, "folder/becomes-file", "x\n").await;
    put(&head, "becomes-folder", "x\n").await;
    put(&head, "mode", "#!/bin/sh\n").await;
    put_with_mode(&head, "plain", "#!/bin/sh\n", FileMode::Executable).await;
    put_with_mode(&head, "moves", "#!/bin/sh\n#", FileMode::Executable).await;
    let then = head.checkpoint().await.unwrap();
    let before = files(&head).await;

    put(
        &head,
        "crlf.txt",
        Bytes::from_static(b"one\r\nTWO\r\nthree\r\n\xff\xfe\r"),
    )
    .await;
    put(
        &head,
        "latin.txt",
        Bytes::from_static(b"caf\xe9\npl\xe4in\n\n"),
    )
    .await;
    put(&head, "no-end", "a\nc").await;
    put(&head, "gets-end", "a\nb\n").await;
    rename(&head, "numbers", "moved/nümbers").await;
    put(
        &head,
        "edited",
        numbers
            .replace("line 3\n", "three\n")
            .replace("line 50\n", ""),
    )
    .await;
    put(&head, "binary", "a\0b\0changed").await;
    remove(&head, "binary-gone").await;
    remove(&head, "empty-gone").await;
    let noise: Vec<u8> = (0..70_000_u32)
        .map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()[2])
        .collect();
    put(&head, "binary-new", noise).await;
    put(&head, "with \"quote\"\tand ä", "y\n").await;
    put(&head, "space d", "y\n").await;
    put(&head, "new space d", "y").await;
    put(&head, "empty", "").await;
    remove(&head, "folder").await;
    put(&head, "folder", "a file now\n").await;
    remove(&head, "becomes-folder").await;
    put(&head, "becomes-folder/file", "y\n").await;
    put_with_mode(&head, "mode", "#!/bin/sh\n", FileMode::Executable).await;
    put_with_mode(&head, "plain", "#!/bin/sh\nls\n", FileMode::Plain).await;
    rename(&head, "moves", "\"quoted\" place").await;
    put_with_mode(
        &head,
        "tools/run",
        "#!/bin/sh\necho ho\n",
        FileMode::Executable,
    )
    .await;
    let after = files(&head).await;

    let patch = patch_between(&head, &then, None).await;
    assert_eq!(applied(&before, [&patch]), after);
    let back = patch_between(&head, DiffBase::HeadBase, Some(DiffBase::from(&then))).await;
    assert_eq!(applied(&Files::new(), [&back]), before);
    let now = head.checkpoint().await.unwrap();
    let back = patch_between(&head, &now, Some(DiffBase::from(&then))).await;
    assert_eq!(applied(&after, [&back]), before);
}

#[tokio::test]
async fn patches_come_in_pages() {
    let head = head().await;
    for number in 0..25 {
        put(&head, &format!("{number:02}"), format!("{number}\n")).await;
    }
    let mut pages = Vec::new();
    let mut skip = 0;
    loop {
        let request = DiffRequest {
            skip,
            limit: Some(10),
            ..DiffRequest::default()
        };
        let page = head.patch(request).await.unwrap();
        skip += page.files;
        pages.push(page.bytes);
        if !page.truncated {
            break;
        }
    }
    assert_eq!((pages.len(), skip), (3, 25));
    assert_eq!(applied(&Files::new(), &pages), files(&head).await);
    let beyond = DiffRequest {
        skip: 25,
        ..DiffRequest::default()
    };
    let beyond = head.patch(beyond).await.unwrap();
    assert!(beyond.bytes.is_empty() && !beyond.truncated);
    let unknown = DiffRequest {
        from: DiffBase::Revision("--output=x".to_owned()),
        ..DiffRequest::default()
    };
    assert!(matches!(
        head.patch(unknown).await,
        Err(WorkspaceError::UnknownRevision { .. })
    ));
}

/// A file that is too large is named, and one that is large is in the patch as a whole.
#[tokio::test]
async fn large_files_are_whole_or_named() {
    use everruns_core::entropy::SystemEntropy;
    use everruns_fs::MemoryOptions;
    let options = MemoryOptions {
        max_file_bytes: 80 << 20,
        ..MemoryOptions::default()
    };
    let backend: Arc<dyn WorkspaceBackend> = Arc::new(MemoryWorkspaceBackend::with_options(
        options,
        Arc::new(SystemEntropy),
    ));
    let workspace = Workspace::open(backend, "project").await.unwrap();
    let head = workspace.head("work").create().await.unwrap();
    put(&head, "huge", vec![b'x'; (64 << 20) + 1]).await;
    put(&head, "large", vec![b'\n'; 9 << 20]).await;
    put(&head, "small", "small\n").await;
    let patch = head.patch(DiffRequest::default()).await.unwrap();
    assert_eq!((patch.files, patch.truncated), (3, false));
    assert_eq!(patch.omitted, ["huge"]);
    assert!(patch.bytes.len() < 1 << 20, "{} bytes", patch.bytes.len());
    let mut expected = files(&head).await;
    expected.remove("huge");
    assert_eq!(applied(&Files::new(), [&patch.bytes]), expected);
}

/// A file of few lines, of few kinds.
fn content() -> impl Strategy<Value = Option<(Vec<u8>, bool)>> {
    let word = prop::sample::select(vec![
        &b"a\n"[..],
        b"b\n",
        b"a",
        b"\n",
        b"\0",
        b"\r\n",
        b"--- a",
    ]);
    let words = prop::collection::vec(word, 0..12);
    prop::option::of((words.prop_map(|words| words.concat()), any::<bool>()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whatever two states hold, `git apply` makes the one of the other.
    #[test]
    fn any_state_is_made_of_any_other(
        states in prop::array::uniform2(prop::collection::btree_map("[ab\"]{1,2}|[cd] [ab]/[ab]", content(), 0..8)),
    ) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let head = head().await;
            let mut kept = Vec::new();
            for state in &states {
                let all = files(&head).await;
                for at in all.keys() {
                    remove(&head, at).await;
                }
                for (at, content) in state {
                    let Some((bytes, executable)) = content else { continue };
                    let mode = if *executable { FileMode::Executable } else { FileMode::Plain };
                    let (fs, bytes) = (head.file_system(), Bytes::copy_from_slice(bytes));
                    fs.write_with_mode(&path(at), bytes, mode, Precondition::Any).await.unwrap();
                }
                kept.push((head.checkpoint().await.unwrap(), files(&head).await));
            }
            let (from, before) = &kept[0];
            let (to, after) = &kept[1];
            let patch = patch_between(&head, from, Some(DiffBase::from(to))).await;
            assert_eq!(&applied(before, [&patch]), after);
        });
    }
}
