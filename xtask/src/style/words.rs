//! Texts that tie the project to one machine.

use crate::files::TextFile;

/// Folders of the machines on which this was written. Split, so that this file may say them.
const MACHINE_FOLDERS: &[&str] = &[
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
];

/// Places from which packages come: cargo knows its registry, nothing else has to.
const REGISTRY_HOSTS: &[&str] = &[
    concat!("index.", "crates.io"),
    concat!("static.", "crates.io"),
    concat!("registry.", "npmjs"),
    concat!("pypi.", "org"),
    concat!("files.", "pythonhosted"),
    concat!("proxy.", "golang"),
    concat!("deb.", "debian.org"),
    concat!("replace", "-with"),
    concat!("CARGO_", "REGISTRIES"),
];

/// The machine paths and registry hosts in one file.
pub(super) fn problems(file: &TextFile) -> Vec<String> {
    let mut problems = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        let place = format!("{}:{}", file.path, index + 1);
        for folder in MACHINE_FOLDERS
            .iter()
            .filter(|folder| names_path(line, folder))
        {
            problems.push(format!("{place}: names the machine path {folder}"));
        }
        for host in REGISTRY_HOSTS.iter().filter(|host| line.contains(**host)) {
            problems.push(format!("{place}: names a package registry: {host}"));
        }
    }
    if file.path == "Cargo.lock" {
        problems.extend(foreign_sources(&file.text));
    }
    problems
}

/// Whether the path stands in the line by itself and is not the middle of a longer one.
fn names_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line.get(..at).and_then(|before| before.chars().last());
        !before.is_some_and(|last| last.is_alphanumeric() || "_-.~}*$>".contains(last))
    })
}

/// Packages in the lock file that do not come from the public registry or this workspace, and
/// packages of our own names that do not come from this workspace.
fn foreign_sources(lock: &str) -> Vec<String> {
    const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";
    let mut package = "";
    let mut problems = Vec::new();
    for line in lock.lines() {
        if let Some(name) = line.strip_prefix("name = ") {
            package = name.trim_matches('"');
        } else if let Some(source) = line.strip_prefix("source = ") {
            let source = source.trim_matches('"');
            if source != REGISTRY || package.starts_with("everruns") {
                problems.push(format!("Cargo.lock: {package} comes from {source}"));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        problems(&TextFile {
            path: path.to_owned(),
            text: text.to_owned(),
        })
        .len()
    }

    #[test]
    fn machine_paths_are_found_and_longer_paths_are_not() {
        for folder in MACHINE_FOLDERS {
            assert_eq!(
                found("a.md", &format!("see {folder}x\n\"{folder}y\"")),
                2,
                "{folder}"
            );
            assert_eq!(
                found("a.md", &format!("/proc/self{folder}x, tmp{folder}y")),
                0
            );
        }
    }

    #[test]
    fn registry_hosts_are_found() {
        for host in REGISTRY_HOSTS {
            assert_eq!(found("a.toml", &format!("x = \"{host}\"")), 1, "{host}");
        }
    }

    #[test]
    fn the_lock_file_has_one_source() {
        let public = "name = \"serde\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\n";
        assert_eq!(found("Cargo.lock", public), 0);
        assert_eq!(
            found("Cargo.lock", &public.replace("serde", "everruns-core")),
            1
        );
        assert_eq!(
            found("Cargo.lock", "source = \"git+https://example.com/a\"\n"),
            1
        );
    }
}
