use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// One line of a result: its file, its number, its text, and whether it matches or is context.
pub(crate) type Line = (String, u64, String, bool);

/// Whether `rg` is there. In CI it must be.
#[expect(
    clippy::disallowed_methods,
    reason = "the real program is what these tests compare with"
)]
pub(crate) fn is_there() -> bool {
    let found = Command::new("rg")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    let in_ci = std::env::var("CI").is_ok_and(|value| value == "true" || value == "1");
    assert!(found || !in_ci, "rg is missing: install ripgrep");
    if !found {
        eprintln!("NOT TESTED: rg is missing, so searches were compared with nothing");
    }
    found
}

#[expect(
    clippy::disallowed_methods,
    reason = "the real program is what these tests compare with"
)]
fn run(folder: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new("rg")
        .current_dir(folder)
        .args(["--no-config", "--no-require-git", "--no-ignore-global"])
        .args(["--no-ignore-exclude", "--no-messages"])
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    // 1 says that nothing was found.
    assert!(
        matches!(output.status.code(), Some(0 | 1)),
        "rg {arguments:?}: {:?} {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    output.stdout
}

/// Whether `pattern` is an error.
#[expect(
    clippy::disallowed_methods,
    reason = "the real program is what these tests compare with"
)]
pub(crate) fn refuses(pattern: &str) -> bool {
    let status = Command::new("rg")
        .args(["--no-config", "-e", pattern, "-"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.unwrap().code() == Some(2)
}

/// The files that `rg --files` lists.
pub(crate) fn files(folder: &Path, arguments: &[&str]) -> BTreeSet<String> {
    paths(folder, "--files", arguments)
}

/// The files in which something matches.
pub(crate) fn files_with(folder: &Path, arguments: &[&str]) -> BTreeSet<String> {
    paths(folder, "--files-with-matches", arguments)
}

fn paths(folder: &Path, what: &str, arguments: &[&str]) -> BTreeSet<String> {
    let mut all = vec![what, "--null"];
    all.extend(arguments);
    run(folder, &all)
        .split(|&byte| byte == 0)
        .filter(|name| !name.is_empty())
        .map(|name| relative(std::str::from_utf8(name).unwrap()))
        .collect()
}

/// The lines that `rg` finds, context included.
pub(crate) fn lines(folder: &Path, arguments: &[&str]) -> BTreeSet<Line> {
    let mut all = vec!["--json"];
    all.extend(arguments);
    let mut found = BTreeSet::new();
    for message in run(folder, &all).split(|&byte| byte == b'\n') {
        if message.is_empty() {
            continue;
        }
        let message: Value = serde_json::from_slice(message).unwrap();
        let is_match = message["type"] == "match";
        if !is_match && message["type"] != "context" {
            continue;
        }
        let data = &message["data"];
        let path = relative(&text(&data["path"]));
        let first = data["line_number"].as_u64().unwrap();
        let shown = text(&data["lines"]);
        let shown = shown.strip_suffix('\n').unwrap_or(&shown);
        for (number, line) in (first..).zip(shown.split('\n')) {
            let line = line.strip_suffix('\r').unwrap_or(line);
            found.insert((path.clone(), number, line.to_owned(), is_match));
        }
    }
    found
}

/// How many lines of each file match, as `rg --count` tells.
pub(crate) fn counts(folder: &Path, arguments: &[&str]) -> BTreeSet<(String, u64)> {
    let mut all = vec!["--count", "--null", "--with-filename"];
    all.extend(arguments);
    let output = String::from_utf8(run(folder, &all)).unwrap();
    output
        .lines()
        .map(|line| {
            let (path, count) = line.split_once('\0').unwrap();
            (relative(path), count.parse().unwrap())
        })
        .collect()
}

/// The files with a NUL byte, which are binary to us wherever it is. What `rg` shows of them depends on which files it
/// searched before.
pub(crate) fn binary(folder: &Path) -> BTreeSet<String> {
    let mut all = files(folder, &["--no-ignore", "--hidden"]);
    all.retain(|path| {
        let bytes = std::fs::read(folder.join(path)).unwrap();
        let is_utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
        !is_utf16 && bytes.contains(&0)
    });
    all
}

fn relative(path: &str) -> String {
    path.strip_prefix("./").unwrap_or(path).to_owned()
}

/// A text of the output: itself, or its bytes in base 64 when they are not Unicode.
fn text(value: &Value) -> String {
    if let Some(text) = value["text"].as_str() {
        return text.to_owned();
    }
    let bytes = base64(value["bytes"].as_str().unwrap());
    String::from_utf8_lossy(&bytes).into_owned()
}

fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut count, mut bytes) = (0_u32, 0, Vec::new());
    for digit in text.bytes().filter(|&digit| digit != b'=') {
        let value = DIGITS.iter().position(|&known| known == digit).unwrap();
        bits = (bits << 6) | u32::try_from(value).unwrap();
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff).unwrap());
        }
    }
    bytes
}
