//! Real trees: the sources of dependencies.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use everruns_core::file_system::GrepQuery;
use tempfile::TempDir;

use crate::dependencies;
use crate::ours::Ours;
use crate::rg::{self, Line};
use crate::same::same;

/// A Git repository of the sources, and which of its files are binary.
struct Sources {
    root: PathBuf,
    locks: PathBuf,
    binary: BTreeSet<String>,
    _folder: TempDir,
}

impl Sources {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("tree");
        dependencies::copy_to(&root);
        let binary = rg::binary(&root);
        assert!(binary.len() > 10, "{} binary files", binary.len());
        Self {
            locks: folder.path().join("locks"),
            root,
            binary,
            _folder: folder,
        }
    }

    fn ours(&self) -> Ours<'_> {
        Ours {
            root: &self.root,
            locks: &self.locks,
            folder: ".",
            honour_ignores: true,
            hidden: false,
        }
    }

    fn lines(&self, arguments: &[&str]) -> BTreeSet<Line> {
        let mut lines = rg::lines(&self.root, &[arguments, &["."]].concat());
        lines.retain(|(path, ..)| !self.binary.contains(path));
        lines
    }

    async fn same_lines(&self, query: GrepQuery, arguments: &[&str]) {
        let ours = self.ours().lines(query).await;
        same(&format!("{arguments:?}"), &ours, &self.lines(arguments));
    }
}

fn query(pattern: &str, change: impl FnOnce(&mut GrepQuery)) -> GrepQuery {
    let mut query = GrepQuery::new(pattern);
    change(&mut query);
    query
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_of_dependencies_are_those_that_rg_finds() {
    if !rg::is_there() {
        return;
    }
    let sources = Sources::new();
    for pattern in [
        "unsafe",
        "return",
        "^(pub )?(async )?fn \\w+",
        "\\p{Greek}|\\p{Han}{2}",
        "[^\\x00-\\x7f]",
        "\\d{4}-\\d\\d-\\d\\d",
        ";\\r$",
    ] {
        sources
            .same_lines(GrepQuery::new(pattern), &["-e", pattern])
            .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_of_dependencies_are_those_that_rg_finds_with_options() {
    if !rg::is_there() {
        return;
    }
    let sources = Sources::new();
    let rare = "SQLITE_API int sqlite3_open(";
    for (query, arguments) in [
        (query(rare, |query| query.fixed = true), vec!["-F", rare]),
        (
            query("todo|ünicode|STRASSE", |query| query.ignore_case = true),
            vec!["-i", "todo|ünicode|STRASSE"],
        ),
        (query("\\bPoll\\b", |_| ()), vec!["-w", "Poll"]),
        (
            query("panic!\\(", |query| query.context = 3),
            vec!["-C3", "panic!\\("],
        ),
        (
            query("impl[^{;]*\\{\\s*type \\w+", |query| query.multiline = true),
            vec!["-U", "impl[^{;]*\\{\\s*type \\w+"],
        ),
        (
            query("^/\\*\n\\*\\* The (?s:.{1,300}?)\\*/$", |query| {
                query.multiline = true;
                query.context = 1;
            }),
            vec!["-U", "-C1", "^/\\*\n\\*\\* The (?s:.{1,300}?)\\*/$"],
        ),
        (
            query("edition", |query| query.globs = vec!["*.toml".to_owned()]),
            vec!["--type-add", "x:*.toml", "-tx", "edition"],
        ),
        (
            query("assert", |query| {
                query.globs = vec!["*/src/**/*.rs".to_owned()];
            }),
            vec!["-g", "/*/src/**/*.rs", "assert"],
        ),
    ] {
        sources.same_lines(query, &arguments).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_of_dependencies_are_those_that_rg_finds() {
    if !rg::is_there() {
        return;
    }
    let sources = Sources::new();
    let root: &Path = &sources.root;
    let ours = sources.ours();
    same("files", &ours.files("**").await, &rg::files(root, &[]));
    for (honour_ignores, hidden, arguments) in [
        (true, true, vec!["--hidden", "-g!.git"]),
        (false, true, vec!["--no-ignore", "--hidden", "-g!.git"]),
        (false, false, vec!["--no-ignore"]),
    ] {
        let ours = Ours {
            honour_ignores,
            hidden,
            ..sources.ours()
        };
        let what = format!("{arguments:?}");
        same(&what, &ours.files("**").await, &rg::files(root, &arguments));
    }
    for glob in [
        "*.rs",
        "*.{c,h}",
        "/tokio/src/**/mod.rs",
        "**/tests/**",
        "*[0-9]*",
        "LICENSE*",
        "/*/*.toml",
    ] {
        let theirs = rg::files(root, &["-g", glob]);
        same(glob, &ours.files(glob).await, &theirs);
    }
    for file_type in ["rust", "c", "md", "toml", "txt"] {
        let theirs = rg::files(root, &["--type", file_type]);
        same(file_type, &ours.files_of_type(file_type).await, &theirs);
    }
    for (pattern, file_type) in [("\\bfn\\b", "rust"), ("^#\\s*define", "c")] {
        let theirs = rg::counts(root, &["--type", file_type, "-e", pattern, "."]);
        let ours = ours.counts(pattern, file_type).await;
        same(&format!("{file_type} {pattern}"), &ours, &theirs);
    }
    for pattern in ["PhantomData", "(?i)copyright"] {
        let mut theirs = rg::files_with(root, &["-e", pattern, "."]);
        theirs.retain(|path| !sources.binary.contains(path));
        let ours = ours.files_with(GrepQuery::new(pattern)).await;
        same(pattern, &ours, &theirs);
    }
    let below = Ours {
        folder: "tokio/src",
        ..sources.ours()
    };
    let mut theirs = sources.lines(&["-e", "Waker"]);
    theirs.retain(|(path, ..)| path.starts_with("tokio/src/"));
    same(
        "below",
        &below.lines(GrepQuery::new("Waker")).await,
        &theirs,
    );
}
