//! Random trees with ignore files, hidden names, binary files and odd encodings.
//!
//! No rule brings a hidden name back: to `rg` such a rule shows it, to us only the query does.

use std::path::Path;

use everruns_core::file_system::GrepQuery;
use proptest::prelude::*;

use crate::ours::Ours;
use crate::rg;

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "a",
        "b",
        "src",
        "a.rs",
        "b.log",
        "c.txt",
        ".hidden",
        ".x.rs",
        "out",
        "deep",
        "über.txt",
        "two words",
        "A.RS",
        "[x]",
        "-dash",
    ])
    .prop_map(str::to_owned)
}

fn path() -> impl Strategy<Value = String> {
    prop::collection::vec(name(), 1..4).prop_map(|parts| parts.join("/"))
}

fn rule() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec![
            "*.log", "*.rs", "!a.rs", "/a", "out/", "!out/", "src/*", "!src/a.rs", "**/deep",
            "deep/**", "b*", ".hidden", "# comment", "", "\\#x", "a/**/b", "*", "!*.txt",
            "two words", "c.txt  ", "[ab].*", "/src/", "!b.log", "\\[x\\]",
        ]).prop_map(str::to_owned),
        1 => path(),
    ]
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        6 => "[a-c ]{0,12}".prop_map(String::into_bytes),
        2 => Just(b"needle here".to_vec()),
        1 => Just(b"Needle NEEDLE".to_vec()),
        1 => Just("fn \u{e9}t\u{e9}(needle)".as_bytes().to_vec()),
        1 => Just(b"bad \xff needle \xfe".to_vec()),
        1 => Just(b"start {".to_vec()),
        1 => Just(b"} end".to_vec()),
    ]
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let ending = prop::sample::select(vec!["\n", "\r\n"]);
    let lines = prop::collection::vec(line(), 0..12);
    (lines, ending, any::<bool>()).prop_map(|(lines, ending, last)| {
        let mut bytes = lines.join(ending.as_bytes());
        if last && !bytes.is_empty() {
            bytes.extend_from_slice(ending.as_bytes());
        }
        bytes
    })
}

fn starting_with(start: &'static [u8]) -> impl Strategy<Value = Vec<u8>> {
    text().prop_map(move |bytes| [start, &bytes].concat())
}

fn utf16() -> impl Strategy<Value = Vec<u8>> {
    text().prop_map(|bytes| {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let units = text.encode_utf16().flat_map(u16::to_le_bytes);
        [0xff, 0xfe].into_iter().chain(units).collect()
    })
}

fn content() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        10 => text(),
        1 => starting_with(b"binary\0"),
        1 => starting_with(b"\xef\xbb\xbf"),
        1 => utf16(),
    ]
}

#[derive(Clone, Debug)]
struct Project {
    files: Vec<(String, Vec<u8>)>,
    rules: Vec<(Option<String>, &'static str, Vec<String>)>,
}

fn project() -> impl Strategy<Value = Project> {
    let file = (path(), content());
    let kind = prop::sample::select(vec![".gitignore", ".gitignore", ".ignore"]);
    let rules = (
        prop::option::of(path()),
        kind,
        prop::collection::vec(rule(), 1..5),
    );
    (
        prop::collection::vec(file, 3..25),
        prop::collection::vec(rules, 0..4),
    )
        .prop_map(|(files, rules)| Project { files, rules })
}

fn make(root: &Path, project: &Project) {
    for (path, bytes) in &project.files {
        let at = root.join(path);
        // A file made earlier may be in the way of a folder, or the other way round.
        if std::fs::create_dir_all(at.parent().unwrap()).is_ok() && !at.is_dir() {
            std::fs::write(at, bytes).unwrap();
        }
    }
    for (folder, name, rules) in &project.rules {
        let at = folder
            .as_ref()
            .map_or(root.to_owned(), |folder| root.join(folder));
        if at.is_dir() {
            std::fs::write(at.join(name), rules.join("\n")).unwrap();
        }
    }
    std::os::unix::fs::symlink("a", root.join("link")).ok();
}

fn query(pattern: &str, change: impl FnOnce(&mut GrepQuery)) -> GrepQuery {
    let mut query = GrepQuery::new(pattern);
    change(&mut query);
    query
}

/// Each query of ours beside the arguments that mean the same.
fn queries() -> Vec<(GrepQuery, Vec<&'static str>)> {
    vec![
        (query("needle", |_| ()), vec!["needle"]),
        (
            query("needle", |q| q.ignore_case = true),
            vec!["-i", "needle"],
        ),
        (query("^.", |_| ()), vec!["^."]),
        (query("^$", |_| ()), vec!["^$"]),
        (query("a$|\\}", |_| ()), vec!["a$|\\}"]),
        (query("\u{e9}", |_| ()), vec!["\u{e9}"]),
        (
            query("fn \u{e9}t\u{e9}(", |q| q.fixed = true),
            vec!["-F", "fn \u{e9}t\u{e9}("],
        ),
        (
            query("needle", |q| q.context = 2),
            vec!["-C", "2", "needle"],
        ),
        (
            query("\\{[^}]*\\}", |q| q.multiline = true),
            vec!["-U", "\\{[^}]*\\}"],
        ),
        (
            query("a\\r?\\n.*b", |q| {
                q.multiline = true;
                q.context = 1;
            }),
            vec!["-U", "-C", "1", "a\\r?\\n.*b"],
        ),
        (
            query("needle", |q| {
                q.globs = vec!["*.rs".to_owned(), "c.*".to_owned()];
            }),
            // A type filters by name like our globs do; a glob of `rg` would overrule the ignore files.
            vec![
                "--type-add",
                "x:*.rs",
                "--type-add",
                "x:c.*",
                "-tx",
                "needle",
            ],
        ),
    ]
}

async fn compare(project: &Project) {
    let folder = tempfile::tempdir().unwrap();
    let (root, locks) = (folder.path().join("tree"), folder.path().join("locks"));
    std::fs::create_dir(&root).unwrap();
    make(&root, project);
    let below = ["a", "src", "deep"]
        .into_iter()
        .find(|name| root.join(name).is_dir());
    for (folder, honour_ignores, hidden) in [
        (".", true, false),
        (".", true, true),
        (".", false, true),
        (below.unwrap_or("."), true, false),
    ] {
        let ours = Ours {
            root: &root,
            locks: &locks,
            folder,
            honour_ignores,
            hidden,
        };
        let mut arguments = Vec::new();
        if !honour_ignores {
            arguments.push("--no-ignore");
        }
        if hidden {
            arguments.push("--hidden");
        }
        // `rg` asked for a folder takes a rule such as `src/*` from above it wrongly, so it searches everything.
        let below = |path: &String| folder == "." || path.starts_with(&format!("{folder}/"));
        let mut theirs = rg::files(&root, &arguments);
        theirs.retain(below);
        if folder != "." && theirs.is_empty() {
            // The folder itself may be left out; asked for, it is searched by us.
            continue;
        }
        assert_eq!(
            ours.files("**").await,
            theirs,
            "files in {folder}, {arguments:?}"
        );
        for (query, same) in queries() {
            let (pattern, flags) = same.split_last().unwrap();
            let mut all = arguments.clone();
            all.extend(flags);
            all.extend(["-e", pattern, "."]);
            let mut theirs = rg::lines(&root, &all);
            theirs.retain(|(path, ..)| below(path));
            if !hidden {
                // A type of `rg` also brings hidden files that it matches.
                theirs.retain(|(path, ..)| !path.split('/').any(|name| name.starts_with('.')));
            }
            assert_eq!(ours.lines(query).await, theirs, "{folder} {all:?}");
        }
    }
    let ours = Ours {
        root: &root,
        locks: &locks,
        folder: ".",
        honour_ignores: false,
        hidden: true,
    };
    for glob in [
        "*.rs",
        "src/*",
        "**/deep/**",
        "/a/*",
        "[ab].*",
        "*.{rs,txt}",
        "src/**/*.rs",
        "?",
    ] {
        let same = ["--no-ignore", "--hidden", "-g", glob];
        let mut theirs = rg::files(&root, &same);
        if glob == "?" || glob == "[ab].*" {
            // To `rg`, a folder that a glob matches brings all below it; to us, a glob is about files.
            theirs.retain(|path| {
                let name = path.rsplit('/').next().unwrap();
                glob == "?" && name.chars().count() == 1
                    || glob == "[ab].*" && (name.starts_with("a.") || name.starts_with("b."))
            });
        }
        assert_eq!(ours.files(glob).await, theirs, "{glob}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 10,
        max_shrink_iters: 100,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn searches_of_random_trees_find_what_rg_finds(project in project()) {
        if rg::is_there() {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(compare(&project));
        }
    }
}
