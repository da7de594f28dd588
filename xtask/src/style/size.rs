//! Sizes of the source files. Tests, in files of their own or at the end of a file, do not count.

use std::fmt;

use crate::files::TextFile;

const MOST_LINES: usize = 600;
const MOST_LINES_OF_NINE_IN_TEN: usize = 400;
const MOST_LINES_OF_HALF: usize = 150;

/// The lines of each source file, smallest first.
#[derive(Debug)]
pub(super) struct Sizes(Vec<(usize, String)>);

impl Sizes {
    /// Counts the lines of the Rust files that are not tests.
    pub(super) fn measure(files: &[TextFile]) -> Self {
        let mut sizes: Vec<(usize, String)> = files
            .iter()
            .filter(|file| file.is_rust() && !is_test(&file.path))
            .map(|file| (lines_without_tests(&file.text), file.path.clone()))
            .collect();
        sizes.sort();
        Self(sizes)
    }

    /// The files that are too long, and the measures of all that are too high.
    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems: Vec<String> = self
            .0
            .iter()
            .filter(|(lines, _)| *lines > MOST_LINES)
            .map(|(lines, path)| format!("{path}: {lines} lines, {MOST_LINES} at most"))
            .collect();
        for (name, percent, most) in [
            ("median", 50, MOST_LINES_OF_HALF),
            ("nine in ten", 90, MOST_LINES_OF_NINE_IN_TEN),
        ] {
            let lines = self.percentile(percent);
            if lines > most {
                problems.push(format!("file sizes, {name}: {lines} lines, {most} at most"));
            }
        }
        problems
    }

    /// The lines that this share of the files does not exceed.
    fn percentile(&self, percent: usize) -> usize {
        let rank = (self.0.len() * percent).div_ceil(100);
        self.0
            .get(rank.saturating_sub(1))
            .map_or(0, |(lines, _)| *lines)
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (median, most) = (self.percentile(50), self.percentile(90));
        let largest = self.0.last().map_or(0, |(lines, _)| *lines);
        write!(
            formatter,
            "lines a file: median {median}, nine in ten {most}, largest {largest}"
        )
    }
}

/// A file that holds tests only, by its place or name.
fn is_test(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or_default();
    name == "tests.rs" || name.ends_with("_tests.rs") || parts.any(|folder| folder == "tests")
}

/// The lines up to the test module at the end.
fn lines_without_tests(text: &str) -> usize {
    let mut before = "";
    for (index, line) in text.lines().enumerate() {
        if before == "#[cfg(test)]" && line.starts_with("mod ") && line.ends_with('{') {
            return index - 1;
        }
        before = line;
    }
    text.lines().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, lines: usize) -> TextFile {
        TextFile {
            path: path.to_owned(),
            text: "x\n".repeat(lines),
        }
    }

    #[test]
    fn a_long_file_is_found_and_tests_do_not_count() {
        let files = [
            file("crates/x/src/a.rs", 601),
            file("crates/x/src/b.rs", 10),
            file("crates/x/src/c.rs", 20),
            file("crates/x/tests/d.rs", 5000),
            file("crates/x/src/d/tests.rs", 5000),
            file("docs/a.md", 5000),
        ];
        let problems = Sizes::measure(&files).problems();
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert_eq!(problems[0], "crates/x/src/a.rs: 601 lines, 600 at most");
        assert!(problems[1].contains("nine in ten: 601"), "{problems:?}");
    }

    #[test]
    fn the_median_counts() {
        let files = [file("a.rs", 151), file("b.rs", 151), file("c.rs", 10)];
        assert_eq!(
            Sizes::measure(&files).problems(),
            ["file sizes, median: 151 lines, 150 at most"]
        );
    }

    #[test]
    fn a_test_module_at_the_end_does_not_count() {
        assert_eq!(
            lines_without_tests("a\nb\n\n#[cfg(test)]\nmod tests {\n    x\n}\n"),
            3
        );
        assert_eq!(lines_without_tests("a\n#[cfg(test)]\nmod tests;\nb\n"), 4);
    }
}
