//! A tree of what searches get wrong.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use everruns_core::file_system::{FileSystemError, GrepQuery};
use tempfile::TempDir;

use crate::ours::Ours;
use crate::rg;
use crate::same::same;

/// What only a file names that we do not read.
const BY_RGIGNORE: &str = "by-rgignore.txt";
/// What only lines name after one that is no Unicode; `rg` does not read them.
const AFTER_NO_UNICODE: &str = "odd-rules/after.txt";

struct Nasty {
    root: PathBuf,
    locks: PathBuf,
    _folder: TempDir,
}

fn utf16(text: &str, big: bool) -> Vec<u8> {
    let encode = if big {
        u16::to_be_bytes
    } else {
        u16::to_le_bytes
    };
    let units = std::iter::once(0xfeff).chain(text.encode_utf16());
    units.flat_map(encode).collect()
}

fn put(root: &Path, path: &str, bytes: impl AsRef<[u8]>) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

impl Nasty {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("tree");
        encodings(&root);
        sizes(&root);
        ignored(&root);
        names(&root);
        put(folder.path(), "outside.txt", "a needle outside\n");
        for (name, target) in [
            ("link-to-file", "plain.txt"),
            ("link-to-folder", "nested"),
            ("link-outside", "../outside.txt"),
            ("link-to-nothing", "nowhere"),
            ("link-to-itself", "link-to-itself"),
        ] {
            symlink(target, root.join(name)).unwrap();
        }
        let locks = folder.path().join("locks");
        Self {
            root,
            locks,
            _folder: folder,
        }
    }

    fn ours(&self, honour_ignores: bool, hidden: bool) -> Ours<'_> {
        Ours {
            root: &self.root,
            locks: &self.locks,
            folder: ".",
            honour_ignores,
            hidden,
        }
    }
}

fn encodings(root: &Path) {
    let text = "first line\r\nneedle, é and 漢字\r\n\r\nlast needle";
    put(root, "plain.txt", "a needle\n");
    put(root, "little.txt", utf16(text, false));
    put(root, "big.txt", utf16(text, true));
    put(
        root,
        "utf16-odd.txt",
        [&utf16(text, false)[..], b"x"].concat(),
    );
    put(
        root,
        "utf16-pairs.txt",
        utf16("needle 𝄞\n\u{feff}needle\n", true),
    );
    put(root, "only-a-mark.txt", [0xff, 0xfe]);
    put(root, "bom.txt", format!("\u{feff}needle first\n{text}"));
    put(root, "bom-alone.txt", "\u{feff}");
    put(root, "latin1.txt", b"caf\xe9 needle\n\xff\xff\n");
    put(root, "cut.txt", b"needle \xe6\xbc");
    put(root, "crlf.txt", text);
    put(
        root,
        "mixed.txt",
        "needle\r\nneedle\nneedle\rneedle\n\rneedle\r\r\n",
    );
    put(
        root,
        "controls.txt",
        "needle\x0b\x0c\x1b[0m\u{85}\u{2028}needle\n",
    );
}

fn sizes(root: &Path) {
    let long = "long ".repeat(15_000);
    put(root, "empty.txt", "");
    put(root, "one-end.txt", "\n");
    put(root, "ends.txt", "\n\n\n");
    put(root, "no-end.txt", "one\nneedle");
    put(
        root,
        "long.txt",
        format!("{long}needle{long}\nneedle\n{long}"),
    );
    let lines = "a line without it\n".repeat(4_000);
    put(root, "many.txt", format!("{lines}needle\n{lines}"));
    // Parts of what is read at once end within these.
    for size in [65_535, 65_536, 65_537] {
        let before = "x".repeat(size - 3);
        put(
            root,
            &format!("at-{size}.txt"),
            format!("{before}needle\nneedle"),
        );
        let before = format!("{}\n", "x".repeat(79)).repeat(size / 80);
        put(
            root,
            &format!("lines-{size}.txt"),
            format!("{before}needle\n"),
        );
    }
    put(root, "early-nul.bin", "needle\0\nneedle\n");
    put(
        root,
        "late-nul.txt",
        format!("needle before\n{lines}needle\n\0 needle\nneedle\n"),
    );
}

fn ignored(root: &Path) {
    put(
        root,
        ".gitignore",
        "# rules\r\n*.log\r\n!keep.log\n/top-only.txt\nbuild/*\n!build/kept/\nspace\\ \nspaces   \n\
         \\#odd\n\\!odd\n**/deep/**/gone.txt\nnested/**\n!nested/**/*.txt\n!nested/*/\nFoo.TXT\nno/slash/\n{a,b}.txt\n\
         [!x]-one.txt\n\n/\n",
    );
    for path in [
        "a.log",
        "keep.log",
        "top-only.txt",
        "sub/top-only.txt",
        "sub/keep.log",
        "build/gone.txt",
        "build/kept/there.txt",
        "space ",
        "spaces",
        "#odd",
        "!odd",
        "deep/gone.txt",
        "a/deep/b/c/gone.txt",
        "nested/a.rs",
        "nested/b.txt",
        "nested/more/c.rs",
        "nested/more/d.txt",
        "foo.txt",
        "Foo.TXT",
        "no/slash/e.txt",
        "x/no/slash/f.txt",
        "{a,b}.txt",
        "a.txt",
        "x-one.txt",
        "y-one.txt",
        "sub/b.log",
        "sub/secret.log",
        "sub/sub/c.log",
        "overruled/by-git.txt",
        "overruled/by-both.txt",
        "overruled/kept.txt",
        BY_RGIGNORE,
        AFTER_NO_UNICODE,
        "odd-rules/before.txt",
        "ignores-itself/g.txt",
    ] {
        put(root, path, "a needle\n");
    }
    put(root, "sub/.gitignore", "!*.log\nsecret.log\n");
    put(root, "sub/sub/.gitignore", "*.log");
    put(root, "overruled/.gitignore", "by-*.txt\n");
    put(root, "overruled/.ignore", "!by-git.txt\nkept.txt\n");
    put(root, "nested/more/.ignore", "!*.rs\n");
    put(root, ".rgignore", format!("{BY_RGIGNORE}\n"));
    put(
        root,
        "odd-rules/.gitignore",
        b"before.txt\n\xff\xfe\nafter.txt\n",
    );
    put(root, "ignores-itself/.gitignore", "*\n");
    std::fs::create_dir(root.join("folder-of-rules")).unwrap();
    std::fs::create_dir(root.join("folder-of-rules/.gitignore")).unwrap();
    put(root, "folder-of-rules/.gitignore/h.txt", "a needle\n");
}

fn names(root: &Path) {
    for path in [
        "-e",
        "--help",
        "two  words.txt",
        "e\u{301}.txt",
        "é.txt",
        "日本.rs",
        "quote'\".txt",
        "back`tick$.txt",
        "star*.txt",
        "[x].rs",
        "folder.rs/in.txt",
        "Makefile",
        "UPPER.RS",
        ".hidden.rs",
        ".config/settings.toml",
        "sub/.hidden/i.txt",
        ".github/workflows/ci.yml",
        "src/main.c",
        "src/main.h",
        "src/main.cpp",
        "src/lib.rs",
        "src/script.py",
    ] {
        put(root, path, "fn needle(Needle) {}\n");
    }
    std::fs::create_dir(root.join("empty-folder")).unwrap();
    UnixListener::bind(root.join("socket")).unwrap();
}

fn without(mut paths: BTreeSet<String>, left_out: &[&str]) -> BTreeSet<String> {
    paths.retain(|path| !left_out.contains(&path.as_str()));
    paths
}

#[tokio::test]
async fn files_of_a_nasty_tree_are_those_that_rg_finds() {
    if !rg::is_there() {
        return;
    }
    let nasty = Nasty::new();
    let root: &Path = &nasty.root;
    let (ours, theirs) = (
        nasty.ours(true, false).files("**").await,
        rg::files(root, &[]),
    );
    // These differences are meant, and there.
    assert!(ours.contains(BY_RGIGNORE) && !theirs.contains(BY_RGIGNORE));
    assert!(!ours.contains(AFTER_NO_UNICODE) && theirs.contains(AFTER_NO_UNICODE));
    let odd = [BY_RGIGNORE, AFTER_NO_UNICODE];
    same("files", &without(ours, &odd), &without(theirs, &odd));
    for (honour_ignores, arguments) in [(true, vec!["--hidden"]), (false, vec!["--hidden", "-u"])] {
        let ours = nasty.ours(honour_ignores, true).files("**").await;
        let theirs = rg::files(root, &arguments);
        let what = format!("{arguments:?}");
        same(&what, &without(ours, &odd), &without(theirs, &odd));
    }
    let all = nasty.ours(false, true);
    for glob in [
        "*.rs",
        "*.txt",
        "/*.txt",
        "sub/**",
        "\\[x\\].*",
        "*{h,c}",
        "**/in.txt",
        "é.txt",
    ] {
        let theirs = rg::files(root, &["-u", "--hidden", "-g", glob]);
        same(glob, &all.files(glob).await, &theirs);
    }
    for file_type in ["rust", "c", "cpp", "py", "make", "txt"] {
        let theirs = rg::files(root, &["-u", "--hidden", "-t", file_type]);
        same(file_type, &all.files_of_type(file_type).await, &theirs);
    }
}

#[tokio::test]
async fn lines_of_a_nasty_tree_are_those_that_rg_finds() {
    if !rg::is_there() {
        return;
    }
    let nasty = Nasty::new();
    let root: &Path = &nasty.root;
    let binary = rg::binary(root);
    let multiline = |pattern: &str| {
        let mut query = GrepQuery::new(pattern);
        query.multiline = true;
        query
    };
    let ignoring_case = |pattern: &str| {
        let mut query = GrepQuery::new(pattern);
        query.ignore_case = true;
        query
    };
    let mut queries = Vec::new();
    for pattern in [
        "needle",
        "^",
        "$",
        "^$",
        "^needle",
        "needle$",
        "needle\\r$",
        "\\r",
        "(?m)^last",
        "\\Aneedle",
        "needle\\z",
        "é|漢",
        "\\p{Han}",
        "(?-u:\\xff)",
        "(?-u:.)$",
        ".+",
        "\\bneedle\\b",
        "needle\\s",
        "[^a]needle",
        "x+needle",
        "𝄞",
        "\\x0b",
        "(?i)NEEDLE, É",
    ] {
        queries.push((GrepQuery::new(pattern), vec![pattern]));
    }
    queries.push((ignoring_case("NEEDLE"), vec!["-i", "NEEDLE"]));
    queries.push((ignoring_case("É AND"), vec!["-i", "É AND"]));
    queries.push((GrepQuery::new("\\bNeedle\\b"), vec!["-w", "Needle"]));
    for pattern in [
        "needle\\r?\\n",
        "needle\\nneedle",
        "(?s)first.*last",
        "\\n\\n",
        "\\A\\n",
        "\\s+needle",
        "line\\r\\n",
        "[^x]*needle",
        "$\\n^",
    ] {
        queries.push((multiline(pattern), vec!["-U", pattern]));
    }
    for (context, flag) in [(1, "-C1"), (5, "-C5")] {
        let mut query = GrepQuery::new("needle");
        query.context = context;
        queries.push((query, vec![flag, "needle"]));
        let mut query = multiline("needle\\r?\\n");
        query.context = context;
        queries.push((query, vec!["-U", flag, "needle\\r?\\n"]));
    }
    let ours = nasty.ours(false, true);
    for (query, arguments) in queries {
        let (pattern, flags) = arguments.split_last().unwrap();
        let all = [&["-u", "--hidden"], flags, &["-e", pattern, "."]].concat();
        let mut theirs = rg::lines(root, &all);
        theirs.retain(|(path, ..)| !binary.contains(path));
        let ours = ours.lines(query).await;
        same(&format!("{arguments:?}"), &ours, &theirs);
    }
}

#[test]
fn what_rg_refuses_is_refused() {
    if !rg::is_there() {
        return;
    }
    for pattern in [
        "a\\nb",
        "a\nb",
        "(",
        "[",
        "a{1000}{1000}{1000}",
        "(?P<a",
        "\\p{No}{x}\\q",
    ] {
        let query = everruns_core::file_system::SearchQuery::new(
            everruns_core::file_system::SearchTarget::Grep(GrepQuery::new(pattern)),
        );
        let ours = everruns_fs::search::CompiledSearch::new(query);
        assert!(
            matches!(ours, Err(FileSystemError::InvalidPattern { .. })),
            "{pattern}"
        );
        assert!(rg::refuses(pattern), "{pattern}");
    }
}
