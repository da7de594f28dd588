use everruns_core::path::WorkspacePath;

/// Names of files that hold credentials by convention, in lower case.
const NAMES: &[&str] = &[
    ".env",
    ".envrc",
    ".git-credentials",
    ".htpasswd",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pgpass",
    ".pypirc",
    ".vault-token",
];
/// Ends of names of key stores, in lower case.
const ENDINGS: &[&str] = &[".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx"];
/// Beginnings of names of private keys, in lower case.
const KEYS: &[&str] = &["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];
/// Folders of credentials, in lower case.
const FOLDERS: &[&str] = &[".ssh", ".aws", ".azure", ".gnupg"];
/// Files of credentials that only their folder gives away, in lower case.
const FILES_IN: &[(&str, &str)] = &[
    (".cargo", "credentials"),
    (".cargo", "credentials.toml"),
    (".docker", "config.json"),
    (".kube", "config"),
    ("gcloud", "application_default_credentials.json"),
    ("gcloud", "credentials.db"),
    ("gh", "hosts.yml"),
];
/// What follows `.env.` in files made to be shared, in lower case.
const SHARED_ENV: &[&str] = &["example", "sample", "template", "dist"];

/// Folders that tools fill with what they make or fetch, spelled exactly.
const BUILD_FOLDERS: &[&str] = &[
    ".gradle",
    ".next",
    ".nuxt",
    ".tox",
    ".venv",
    "__pycache__",
    "bower_components",
    "build",
    "dist",
    "node_modules",
    "target",
    "venv",
];

/// The build folder that `path` is or lies in.
pub(super) fn build_folder(path: &WorkspacePath) -> Option<&'static str> {
    path.components()
        .find_map(|name| BUILD_FOLDERS.iter().copied().find(|folder| *folder == name))
}

/// What makes a path sensitive, `None` for ordinary ones. Case is ignored, as some disks ignore it.
pub(super) fn sensitive(path: &WorkspacePath) -> Option<&'static str> {
    let mut above: Option<&str> = None;
    for name in path.components() {
        if FOLDERS
            .iter()
            .any(|folder| name.eq_ignore_ascii_case(folder))
        {
            return Some("a folder of keys");
        }
        if NAMES.iter().any(|file| name.eq_ignore_ascii_case(file)) || is_private_env(name) {
            return Some("a credentials file");
        }
        if ENDINGS.iter().any(|ending| ends_with(name, ending))
            || KEYS.iter().any(|key| starts_with(name, key))
        {
            return Some("a key file");
        }
        let in_folder = |&(folder, file): &(&str, &str)| {
            above.is_some_and(|above| above.eq_ignore_ascii_case(folder))
                && name.eq_ignore_ascii_case(file)
        };
        if FILES_IN.iter().any(in_folder) {
            return Some("a credentials file");
        }
        above = Some(name);
    }
    None
}

/// Whether a component starts with a dot.
pub(super) fn hidden(path: &WorkspacePath) -> bool {
    path.components().any(|name| name.starts_with('.'))
}

/// `.env.<anything>`, apart from the ones that are made to be shared.
fn is_private_env(name: &str) -> bool {
    let Some(stage) = name.get(".env.".len()..) else {
        return false;
    };
    starts_with(name, ".env.")
        && !SHARED_ENV
            .iter()
            .any(|shared| stage.eq_ignore_ascii_case(shared))
}

fn starts_with(name: &str, start: &str) -> bool {
    name.as_bytes()
        .get(..start.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(start.as_bytes()))
}

/// A bare ending, such as a file called `.key`, counts too.
fn ends_with(name: &str, ending: &str) -> bool {
    name.len()
        .checked_sub(ending.len())
        .and_then(|at| name.as_bytes().get(at..))
        .is_some_and(|tail| tail.eq_ignore_ascii_case(ending.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_folders_are_told_from_folders_of_like_names() {
        let path = |text| WorkspacePath::parse(text).unwrap();
        for text in [
            "target",
            "a/target/debug/x",
            "web/node_modules/x/y.js",
            ".venv/bin",
        ] {
            assert!(build_folder(&path(text)).is_some(), "{text}");
        }
        for text in [
            "src/target.rs",
            "Target/x",
            "targets",
            "builder/x",
            "build.rs",
            ".",
        ] {
            assert_eq!(build_folder(&path(text)), None, "{text}");
        }
    }

    #[test]
    fn credentials_are_told_from_ordinary_files() {
        let path = |text| WorkspacePath::parse(text).unwrap();
        for text in [
            ".env",
            "a/.ENV",
            ".env.production",
            "server.pem",
            "deploy/TLS.KEY",
            "id_rsa",
            "id_ed25519.pub",
            ".ssh",
            ".ssh/config",
            "home/.aws/credentials",
            ".netrc",
            ".npmrc",
            ".pypirc",
            ".docker/config.json",
            ".git-credentials",
            "/roots/docs/.env",
        ] {
            assert!(sensitive(&path(text)).is_some(), "{text}");
        }
        for text in [
            ".env.example",
            ".env.EXAMPLE",
            ".environment",
            "env",
            "config.json",
            "docker/config.json",
            "keys.rs",
            "monkey",
            ".gitignore",
            "é.rs",
        ] {
            assert_eq!(sensitive(&path(text)), None, "{text}");
        }
    }
}
