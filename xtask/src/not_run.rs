//! What tests that passed could not do on this host, as they said themselves.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;

/// How tests begin the line with which they say that something was not tested for want of what can be installed, and why.
const MISSING: [&str; 2] = ["NOT RUN: ", "NOT TESTED: "];
/// The same where the kernel of the host cannot do it, whatever is installed.
const IMPOSSIBLE: [&str; 1] = ["NOT POSSIBLE: "];

/// What was not tested.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct NotRun {
    /// For want of what can be installed: a failure in CI.
    pub(crate) missing: Vec<String>,
    /// As the kernel of the host cannot do it.
    pub(crate) impossible: Vec<String>,
}

impl NotRun {
    /// Each reason with the number of tests that gave it, from the report that the test runner has left at `report`.
    pub(crate) fn in_report(report: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read(report)
            .with_context(|| format!("the report {} is not there", report.display()))?;
        let text = String::from_utf8_lossy(&text);
        Ok(Self {
            missing: reasons(&text, &MISSING),
            impossible: reasons(&text, &IMPOSSIBLE),
        })
    }

    /// All reasons.
    pub(crate) fn all(&self) -> Vec<String> {
        self.missing
            .iter()
            .chain(&self.impossible)
            .cloned()
            .collect()
    }
}

fn reasons(report: &str, marks: &[&str]) -> Vec<String> {
    let mut tests: BTreeMap<String, u32> = BTreeMap::new();
    for test in report.split("<testcase ").skip(1) {
        let mut of_test: Vec<String> = test
            .lines()
            .filter_map(|line| reason(line, marks))
            .collect();
        of_test.sort();
        of_test.dedup();
        for reason in of_test {
            *tests.entry(reason).or_default() += 1;
        }
    }
    tests
        .into_iter()
        .map(|(reason, count)| match count {
            1 => format!("{reason} (1 test)"),
            _ => format!("{reason} ({count} tests)"),
        })
        .collect()
}

/// The reason that a line gives, whatever is before it.
fn reason(line: &str, marks: &[&str]) -> Option<String> {
    let behind = |mark: &&str| line.split_once(*mark).map(|(_, behind)| behind);
    let behind = marks.iter().find_map(behind)?;
    let text = behind.split('<').next().unwrap_or(behind).trim();
    let plain = [
        ("&quot;", "\""),
        ("&apos;", "'"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&amp;", "&"),
    ];
    let plain = plain
        .iter()
        .fold(text.to_owned(), |text, (escaped, plain)| {
            text.replace(escaped, plain)
        });
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_told_once_with_the_number_of_their_tests() {
        let report = r#"<?xml version="1.0"?>
<testsuites><testsuite name="store">
<testcase name="postgres::a" classname="store" time="0.01">
<system-out>running 1 test
test postgres::a ... ok</system-out>
<system-err>!!!!
NOT RUN: no PostgreSQL (initdb, postgres) in PATH
!!!!</system-err></testcase>
<testcase name="postgres::b" classname="store"><system-err>NOT RUN: no PostgreSQL (initdb, postgres) in PATH
NOT RUN: no PostgreSQL (initdb, postgres) in PATH</system-err></testcase>
<testcase name="disk" classname="fs"><system-err>NOT TESTED: no &quot;disk&quot; &amp; no mount</system-err></testcase>
<testcase name="folds" classname="fs"><system-err>NOT POSSIBLE: no kernel</system-err></testcase>
<testcase name="fine" classname="fs"><system-out>all is well</system-out></testcase>
</testsuite></testsuites>"#;
        assert_eq!(
            reasons(report, &MISSING),
            [
                "no \"disk\" & no mount (1 test)",
                "no PostgreSQL (initdb, postgres) in PATH (2 tests)"
            ]
        );
        assert_eq!(reasons(report, &IMPOSSIBLE), ["no kernel (1 test)"]);
        assert!(reasons("<testsuites></testsuites>", &MISSING).is_empty());
    }
}
