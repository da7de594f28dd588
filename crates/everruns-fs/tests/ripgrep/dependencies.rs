//! The sources of packages that this project is built from, which every machine has that can build it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// Packages with much text, a very large file in C, texts in many encodings, lines that end in CR LF, binary files, and
/// ignore files of their own.
const PACKAGES: [&str; 14] = [
    "bstr",
    "clap_builder",
    "encoding_rs",
    "gix",
    "half",
    "indexmap",
    "libsqlite3-sys",
    "memchr",
    "proptest",
    "regex-automata",
    "rustls-platform-verifier",
    "similar",
    "sqlx-core",
    "tokio",
];

/// A second copy of the large file.
const LEFT_OUT: [&str; 1] = ["sqlcipher"];

/// Makes a Git repository at `target` with a folder for each package.
pub(crate) fn copy_to(target: &Path) {
    std::fs::create_dir(target).unwrap();
    for (name, source) in sources() {
        copy(&source, &target.join(name));
    }
    let git = ["init", "--quiet"];
    run("git", &git, target);
}

fn sources() -> Vec<(&'static str, PathBuf)> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    // Of other platforms than the host's, packages may not be there.
    let version = run(&cargo, &["-vV"], root);
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .unwrap();
    let described = run(
        &cargo,
        &[
            "metadata",
            "--format-version=1",
            "--locked",
            "--offline",
            "--all-features",
            "--filter-platform",
            host,
        ],
        root,
    );
    let described: Value = serde_json::from_str(&described).unwrap();
    let packages = described["packages"].as_array().unwrap();
    PACKAGES
        .into_iter()
        .map(|name| {
            let package = packages.iter().find(|package| package["name"] == name);
            let package = package.unwrap_or_else(|| panic!("{name} is no dependency any more"));
            let manifest = Path::new(package["manifest_path"].as_str().unwrap());
            (name, manifest.parent().unwrap().to_owned())
        })
        .collect()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().unwrap();
        if kind.is_dir() && !LEFT_OUT.contains(&entry.file_name().to_str().unwrap()) {
            copy(&from, &to);
        } else if kind.is_file() {
            std::fs::copy(&from, &to).unwrap();
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "cargo alone knows where the packages are"
)]
fn run(program: &str, arguments: &[&str], folder: &Path) -> String {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {told}");
    String::from_utf8(output.stdout).unwrap()
}
