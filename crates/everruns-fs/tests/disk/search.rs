use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use everruns_core::file_system::{
    FileSystemError, GrepQuery, GrepShow, Precondition, Removal, SearchEvent, SearchLimits,
    SearchQuery, SearchTarget, SessionFileSystem as _, Truncation,
};
use everruns_fs::disk::Resolution;
use everruns_fs::search::compare_by_components;

use crate::support::{Fixture, each_resolution, path, paths, search, snapshot};

fn glob(pattern: &str) -> SearchQuery {
    SearchQuery::new(SearchTarget::Glob {
        pattern: pattern.to_owned(),
    })
}

fn grep(pattern: &str) -> SearchQuery {
    SearchQuery::new(SearchTarget::Grep(GrepQuery::new(pattern)))
}

fn lines(events: &[SearchEvent]) -> Vec<(String, u64, String, bool)> {
    events
        .iter()
        .map(|event| match event {
            SearchEvent::Line {
                path,
                number,
                text,
                is_match,
                ..
            } => (path.relative().to_owned(), *number, text.clone(), *is_match),
            other => panic!("{other:?}"),
        })
        .collect()
}

/// A tree of some hundred files in folders whose order by name differs from that of whole paths.
fn plant(fixture: &Fixture) {
    for folder in ["a", "a-b", "a.b", "z/deep/er", "ignored", "."] {
        for n in 0..20 {
            let text = format!("one {n}\nneedle {}\nlast", n % 3);
            fixture.put(&format!("{folder}/file{n}.rs"), &text);
            fixture.put(&format!("{folder}/file{n}.txt"), "nothing\r\nNEEDLE 1\r\n");
        }
    }
    fixture.put(".hidden/file.rs", "needle 1\n");
    fixture.put(".gitignore", "ignored/\n*.log\n");
    fixture.put("a/noise.log", "needle 1\n");
    fixture.put("binary", "needle 1\n\0\n");
}

/// The search does what a naive walk over the same files does.
#[tokio::test]
async fn a_search_equals_a_naive_walk() {
    each_resolution(|fixture| async move {
        plant(&fixture);
        let mut expected_paths = Vec::new();
        let mut expected_lines = Vec::new();
        let all: BTreeMap<_, _> = snapshot(&fixture.root);
        for (file, bytes) in all {
            let text = file.to_str().unwrap().to_owned();
            let left_out = text.starts_with("ignored/")
                || file.extension() == Some("log".as_ref())
                || text.split('/').any(|part| part.starts_with('.'));
            if left_out {
                continue;
            }
            if file.extension() == Some("rs".as_ref()) {
                expected_paths.push(text.clone());
            }
            if bytes.contains(&0) {
                continue;
            }
            for (index, line) in String::from_utf8(bytes).unwrap().lines().enumerate() {
                if line.to_lowercase().contains("needle 1") {
                    expected_lines.push((text.clone(), index as u64 + 1, line.to_owned(), true));
                }
            }
        }
        let by_components =
            |left: &String, right: &String| compare_by_components(&path(left), &path(right));
        expected_paths.sort_by(by_components);
        expected_lines.sort_by(|left, right| by_components(&left.0, &right.0));
        let (events, summary) = search(&fixture.files, glob("*.rs")).await.unwrap();
        assert_eq!(paths(&events), expected_paths);
        assert_eq!(summary.matches, expected_paths.len() as u64);
        assert_eq!(summary.truncation, None);
        let mut query = GrepQuery::new("needle 1");
        query.ignore_case = true;
        let query = SearchQuery::new(SearchTarget::Grep(query));
        let (events, summary) = search(&fixture.files, query).await.unwrap();
        assert_eq!(lines(&events), expected_lines);
        assert_eq!(summary.binary, 1);
    })
    .await;
}

/// A search in small pages gives each result once, in the same order.
#[tokio::test]
async fn a_truncated_search_continues_where_it_ended() {
    each_resolution(|fixture| async move {
        plant(&fixture);
        for whole in [glob("**/*.rs"), grep("needle|one|last")] {
            let (expected, _) = search(&fixture.files, whole.clone()).await.unwrap();
            for limits in [
                SearchLimits {
                    matches: 7,
                    ..SearchLimits::default()
                },
                SearchLimits {
                    bytes: 100,
                    ..SearchLimits::default()
                },
            ] {
                let mut query = whole.clone();
                query.limits = limits;
                let mut all = Vec::new();
                loop {
                    let (events, summary) = search(&fixture.files, query.clone()).await.unwrap();
                    assert!(summary.matches <= limits.matches as u64);
                    all.extend(events);
                    if summary.truncation.is_none() {
                        assert_eq!(summary.resume_after, None);
                        break;
                    }
                    assert!(summary.resume_after > query.after || query.after.is_some());
                    query.after = summary.resume_after;
                    query.after_line = summary.resume_line;
                }
                assert_eq!(all, expected);
            }
        }
    })
    .await;
}

/// Proves H47: one file that is too much is cut, and the search goes on in it.
#[tokio::test]
async fn h47_limits_hold_and_are_stated() {
    each_resolution(|fixture| async move {
        fixture.put("a", &"needle\n".repeat(10_000));
        fixture.put("b", "needle\n");
        fixture.put("c", &format!("{}needle\n", "x".repeat(1 << 20)));
        fixture.put("d", &"y".repeat(1 << 20));
        let mut query = grep("needle");
        query.limits.matches = 100;
        query.limits.line_bytes = 50;
        query.limits.file_bytes = (1 << 20) + 10;
        let (events, summary) = search(&fixture.files, query.clone()).await.unwrap();
        assert_eq!(events.len(), 100);
        assert_eq!(summary.truncation, Some(Truncation::Matches));
        assert_eq!(summary.resume_after, Some(path("a")));
        assert_eq!(summary.resume_line, Some(100));
        query.after = summary.resume_after;
        query.after_line = summary.resume_line;
        let (events, summary) = search(&fixture.files, query.clone()).await.unwrap();
        assert_eq!(lines(&events).first().unwrap().1, 101);
        assert_eq!(summary.resume_line, Some(200));
        query.after_line = None;
        let (events, summary) = search(&fixture.files, query.clone()).await.unwrap();
        assert_eq!(paths(&events), ["b", "c"]);
        assert_eq!(lines(&events)[1].2, format!("{}needle", "x".repeat(44)));
        assert_eq!(summary.truncation, None);
        query.limits.file_bytes = 1 << 20;
        let (events, summary) = search(&fixture.files, query.clone()).await.unwrap();
        assert_eq!(paths(&events), ["b"]);
        assert_eq!(summary.too_large, 1);
        query.limits.time = Duration::ZERO;
        let (events, summary) = search(&fixture.files, query).await.unwrap();
        assert_eq!(events, []);
        assert_eq!(summary.truncation, Some(Truncation::Time));
        assert_eq!(summary.resume_after, Some(path("a")));
    })
    .await;
}

/// Letters in an order in which no automaton finds a period.
fn disorder(length: usize) -> String {
    let mut random = 7_u32;
    let mut next = || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if random >> 31 == 0 { 'a' } else { 'b' }
    };
    (0..length).map(|_| next()).collect()
}

/// Proves H47: a pattern that takes minutes in one line of one file costs that file alone, and the search says so.
#[tokio::test]
async fn h47_no_line_takes_longer_than_a_search_may() {
    let fixture = Fixture::new(Resolution::Kernel);
    fixture.put("slow", &disorder(40_000));
    fixture.put("z", &format!("{}cd\n", "a".repeat(1_001)));
    for (show, multiline) in [
        (GrepShow::Lines, false),
        (GrepShow::Counts, false),
        (GrepShow::Files, true),
    ] {
        let mut lines = GrepQuery::new("[ab]*a[ab]{1000}[cd][cd]");
        (lines.multiline, lines.show) = (multiline, show);
        let began = Instant::now();
        let query = SearchQuery::new(SearchTarget::Grep(lines));
        let (events, summary) = search(&fixture.files, query).await.unwrap();
        assert!(began.elapsed() < Duration::from_mins(1), "{show:?}");
        assert_eq!(
            (summary.too_slow, summary.truncation),
            (1, None),
            "{show:?}"
        );
        assert_eq!((events.len(), summary.matches), (1, 1), "{show:?}");
    }
    let began = Instant::now();
    let huge = grep("[ab]*a[ab]{8000}[cd][cd]");
    let (_, summary) = search(&fixture.files, huge).await.unwrap();
    assert_eq!((summary.too_slow, summary.truncation), (1, None));
    assert!(
        began.elapsed() < Duration::from_mins(1),
        "{:?}",
        began.elapsed()
    );
}

/// Proves H47: time also ends within a file, and a search that nobody waits for ends there, too.
#[test]
fn h47_a_search_ends_within_a_file_when_its_time_is_up() {
    let fixture = Fixture::new(Resolution::Kernel);
    let lines: Vec<_> = (0..5_000)
        .map(|n| format!("{n} {}\n", disorder(1_500)))
        .collect();
    fixture.put("a", "nothing\n");
    fixture.put("slow", &lines.concat());
    let mut query = grep("[ab]*a[ab]{1000}[cd][cd]");
    query.limits.time = Duration::from_millis(50);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let began = Instant::now();
    let (_, summary) = runtime
        .block_on(search(&fixture.files, query.clone()))
        .unwrap();
    assert_eq!(summary.truncation, Some(Truncation::Time));
    assert_eq!(summary.resume_after, Some(path("a")));
    // What is too much even for a page of its own does not hold up the next one.
    query.after = summary.resume_after;
    let (_, summary) = runtime
        .block_on(search(&fixture.files, query.clone()))
        .unwrap();
    assert_eq!(summary.too_slow, 1);
    assert!(
        began.elapsed() < Duration::from_mins(1),
        "{:?}",
        began.elapsed()
    );
    query.limits.time = Duration::from_hours(1);
    let stream = runtime.block_on(fixture.files.search(query)).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    drop(stream);
    let began = Instant::now();
    // Waits for the thread that searches.
    drop(runtime);
    assert!(
        began.elapsed() < Duration::from_mins(1),
        "{:?}",
        began.elapsed()
    );
}

/// A large text gives the same lines, in parts, as it gives at once.
#[tokio::test]
async fn large_texts_show_what_small_ones_do() {
    let fixture = Fixture::new(Resolution::Kernel);
    let line = |n: usize| match n % 1_000 {
        0 => format!("{n} needle é\r\n"),
        1 => format!("{n} {} needle\n", "x".repeat(100_000)),
        _ => format!("{n} hay \u{fffd}\n"),
    };
    let text: Vec<_> = (0..10_000).map(line).collect();
    fixture.put("large", &text.concat());
    for (pattern, most) in [
        (r"\bneedle\b", 20),
        (r"(\w{1,50} ){1,3}needle$", 20),
        (r"^\d+ hay \W$", 9_980),
    ] {
        let mut lines = GrepQuery::new(pattern);
        lines.context = 1;
        let mut query = SearchQuery::new(SearchTarget::Grep(lines));
        query.limits = SearchLimits {
            matches: usize::MAX,
            bytes: usize::MAX,
            ..query.limits
        };
        let (events, summary) = search(&fixture.files, query).await.unwrap();
        let expected = regex_lines(pattern, &text);
        let found: Vec<_> = lines_that_match(&events);
        assert_eq!(found, expected, "{pattern}");
        assert!(
            !expected.is_empty() && expected.len() <= most,
            "{pattern}: {}",
            expected.len()
        );
        assert_eq!(
            (summary.too_slow, summary.truncation),
            (0, None),
            "{pattern}"
        );
    }
}

/// The numbers of the lines that match, each looked at alone by the same library.
fn regex_lines(pattern: &str, text: &[String]) -> Vec<u64> {
    use grep_matcher::Matcher as _;
    let matcher = grep_regex::RegexMatcherBuilder::new()
        .multi_line(true)
        .line_terminator(Some(b'\n'))
        .build(pattern)
        .unwrap();
    (1..)
        .zip(text)
        .filter(|(_, line)| {
            matcher
                .is_match(line.trim_end_matches('\n').as_bytes())
                .unwrap()
        })
        .map(|(number, _)| number)
        .collect()
}

fn lines_that_match(events: &[SearchEvent]) -> Vec<u64> {
    let number = |event: &SearchEvent| match event {
        SearchEvent::Line {
            number,
            is_match: true,
            ..
        } => Some(*number),
        _ => None,
    };
    events.iter().filter_map(number).collect()
}

/// Proves H47: a gigabyte of one line, ten million matches and a pattern that backtracks elsewhere are bounded with the
/// default limits, and what was cut is stated.
#[tokio::test]
async fn h47_enormous_files_are_bounded_in_time_and_output() {
    let fixture = Fixture::new(Resolution::Kernel);
    let gigabyte = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(fixture.root.join("gigabyte"))
        .unwrap();
    gigabyte.set_len(1 << 30).unwrap();
    fixture.put("line", &"a".repeat(16 << 20));
    fixture.put("matches", &"a\n".repeat(10_000_000));
    for pattern in ["a", "(a*)*b|(a|aa)+$", "(?:a{1,50}){1,50}"] {
        let began = Instant::now();
        let (events, summary) = search(&fixture.files, grep(pattern)).await.unwrap();
        assert!(
            began.elapsed() < Duration::from_secs(40),
            "{pattern}: {:?}",
            began.elapsed()
        );
        assert_eq!(summary.too_large, 1, "{pattern}");
        let limits = SearchLimits::default();
        assert!(
            events.len() <= limits.matches,
            "{pattern}: {}",
            events.len()
        );
        let shown: usize = lines(&events).iter().map(|line| line.2.len()).sum();
        assert!(shown <= limits.bytes, "{pattern}: {shown}");
        assert!(summary.truncation.is_some(), "{pattern}");
    }
    // Counting goes through all of it, which takes an unoptimised build long.
    fixture.put("matches", &"a\n".repeat(500_000));
    let mut counts = GrepQuery::new("a");
    counts.show = GrepShow::Counts;
    let query = SearchQuery::new(SearchTarget::Grep(counts));
    let (events, summary) = search(&fixture.files, query).await.unwrap();
    let count = |name: &str, lines| SearchEvent::Count {
        path: path(name),
        lines,
    };
    assert_eq!(events, [count("line", 1), count("matches", 500_000)]);
    assert_eq!(summary.truncation, None);
}

/// Proves H47: patterns that cannot be used, or would take too much, are typed errors.
#[tokio::test]
async fn h47_bad_patterns_are_typed_errors() {
    each_resolution(|fixture| async move {
        for query in [
            glob("["),
            glob(""),
            grep("("),
            grep("(a{1000}){1000}"),
            grep("a\nb"),
            grep(&"x".repeat(1 << 17)),
        ] {
            let Err(error) = search(&fixture.files, query.clone()).await else {
                panic!("{query:?} was accepted");
            };
            assert!(
                matches!(error, FileSystemError::InvalidPattern { .. }),
                "{error}"
            );
        }
        for (folder, is_missing) in [("none", true), ("file", false)] {
            fixture.put("file", "x");
            let mut query = glob("*");
            query.folder = path(folder);
            let error = search(&fixture.files, query).await.unwrap_err();
            match error {
                FileSystemError::NotFound { .. } => assert!(is_missing),
                FileSystemError::NotADirectory { .. } => assert!(!is_missing),
                other => panic!("{other}"),
            }
        }
    })
    .await;
}

#[tokio::test]
async fn ignore_files_are_honoured_as_git_does() {
    each_resolution(|fixture| async move {
        fixture.put(".gitignore", "*.tmp\n!keep.tmp\n/top\nbuild/\n# comment\n");
        fixture.put("sub/.gitignore", "!again.tmp\nlocal\n");
        fixture.put("sub/.ignore", "private\n");
        for name in [
            "a.tmp",
            "keep.tmp",
            "top",
            "sub/top",
            "build/x",
            "sub/build/x",
            "sub/again.tmp",
            "sub/local",
            "local",
            "sub/private",
            "private",
            "plain",
        ] {
            fixture.put(name, "needle");
        }
        let (events, _) = search(&fixture.files, grep("needle")).await.unwrap();
        let expected = [
            "keep.tmp",
            "local",
            "plain",
            "private",
            "sub/again.tmp",
            "sub/top",
        ];
        assert_eq!(paths(&events), expected);
        // A search below knows the rules from above.
        let mut query = grep("needle");
        query.folder = path("sub");
        let (events, _) = search(&fixture.files, query.clone()).await.unwrap();
        assert_eq!(paths(&events), ["sub/again.tmp", "sub/top"]);
        query.honour_ignores = false;
        let (events, _) = search(&fixture.files, query).await.unwrap();
        let expected = [
            "sub/again.tmp",
            "sub/build/x",
            "sub/local",
            "sub/private",
            "sub/top",
        ];
        assert_eq!(paths(&events), expected);
    })
    .await;
}

/// An ignore file that is a link, or lies above the tree, is not read.
#[tokio::test]
async fn h10_ignore_files_from_outside_have_no_effect() {
    each_resolution(|fixture| async move {
        std::fs::write(fixture.temp.path().join(".gitignore"), "*\n").unwrap();
        fixture.link("../../.gitignore", "a/.gitignore");
        fixture.put("a/file", "x");
        let (events, _) = search(&fixture.files, glob("*")).await.unwrap();
        assert_eq!(paths(&events), ["a/file"]);
    })
    .await;
}

#[tokio::test]
async fn greps_show_context_and_span_lines() {
    each_resolution(|fixture| async move {
        fixture.put("f", "1\n2\nfn a(\n  b)\n5\n6\r\n7 a+b\n");
        let mut query = GrepQuery::new(r"fn a\([^)]*\)");
        query.multiline = true;
        query.context = 1;
        let query = SearchQuery::new(SearchTarget::Grep(query));
        let (events, _) = search(&fixture.files, query).await.unwrap();
        let line =
            |number, text: &str, is_match| ("f".to_owned(), number, text.to_owned(), is_match);
        assert_eq!(
            lines(&events),
            [
                line(2, "2", false),
                line(3, "fn a(", true),
                line(4, "  b)", true),
                line(5, "5", false)
            ]
        );
        let mut query = GrepQuery::new("A+B");
        query.fixed = true;
        query.ignore_case = true;
        query.context = 1;
        query.globs = vec!["*.none".to_owned(), "f".to_owned()];
        let query = SearchQuery::new(SearchTarget::Grep(query));
        let (events, _) = search(&fixture.files, query).await.unwrap();
        assert_eq!(
            lines(&events),
            [line(6, "6", false), line(7, "7 a+b", true)]
        );
    })
    .await;
}

#[tokio::test]
async fn refused_paths_are_neither_shown_nor_opened() {
    each_resolution(|fixture| async move {
        fixture.put("open/file", "needle");
        fixture.put("closed/file", "needle");
        fixture.put("open/secret", "needle");
        // Would be reported as special if it were opened, and block without care.
        let query = grep("needle").also_filter(std::sync::Arc::new(|path, is_folder| {
            assert!(
                !path.relative().starts_with("closed/"),
                "entered a refused folder"
            );
            !(is_folder && path.relative() == "closed") && path.file_name() != Some("secret")
        }));
        let (events, summary) = search(&fixture.files, query).await.unwrap();
        assert_eq!(paths(&events), ["open/file"]);
        assert_eq!(summary.files, 1);
    })
    .await;
}

/// A dropped search stops: it does not go through the rest of the tree.
#[tokio::test(flavor = "multi_thread")]
async fn h55_a_dropped_search_stops() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    let fixture = Fixture::new(Resolution::Kernel);
    for n in 0..600 {
        fixture.put(&format!("f{n}"), "x");
    }
    let seen = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&seen);
    // Nothing matches, so that the search never notices by a result that nobody listens.
    let query = grep("needle").also_filter(Arc::new(move |_, _| {
        counter.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(1));
        true
    }));
    drop(fixture.files.search(query).await.unwrap());
    tokio::time::sleep(Duration::from_millis(300)).await;
    let stopped_at = seen.load(Ordering::Relaxed);
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(seen.load(Ordering::Relaxed), stopped_at);
    assert!(stopped_at < 600);
}

/// A search that finds nothing in its time still gets further each time, without telling refused names.
#[tokio::test]
async fn a_search_that_runs_out_of_time_gets_further() {
    let fixture = Fixture::new(Resolution::Kernel);
    for n in 0..400 {
        fixture.put(&format!("f{n:03}"), "x");
        fixture.put(&format!("f{n:03}-secret.rs"), "x");
    }
    fixture.put("z.rs", "x");
    let mut query = glob("*.rs").also_filter(std::sync::Arc::new(|path, _| {
        std::thread::sleep(Duration::from_micros(200));
        !path.relative().contains("secret")
    }));
    query.limits.time = Duration::from_millis(20);
    let mut pages = 0;
    loop {
        let (events, summary) = search(&fixture.files, query.clone()).await.unwrap();
        pages += 1;
        assert!(pages < 400, "the search does not get further");
        if summary.truncation.is_none() {
            assert_eq!(paths(&events), ["z.rs"]);
            break;
        }
        let resume = summary.resume_after.unwrap();
        assert!(!resume.relative().contains("secret"), "{resume}");
        query.after = Some(resume);
    }
    assert!(pages > 1);
}

/// A tree as deep as paths go is searched to its end, and one that is deeper as far as paths go.
#[tokio::test]
async fn deep_trees_are_searched_and_removed() {
    each_resolution(|fixture| async move {
        let deepest = "d/".repeat(255);
        fixture.put(&format!("{deepest}file"), "needle");
        fixture.put(&format!("{deepest}d/d/d/file"), "needle");
        let (events, summary) = search(&fixture.files, grep("needle")).await.unwrap();
        assert_eq!(paths(&events), [format!("{deepest}file")]);
        assert_eq!(summary.truncation, None);
        fixture
            .files
            .remove(&path("d"), Removal::Recursive, Precondition::Any)
            .await
            .unwrap();
        assert!(!fixture.root.join("d").exists());
    })
    .await;
}
