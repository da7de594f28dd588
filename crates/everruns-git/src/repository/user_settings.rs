//! The few settings of the user's own Git configuration that change what Git prints or writes.

use std::env;
use std::path::{Path, PathBuf};

/// How many of the settings say who the user is. They come first.
const IDENTITY: usize = 6;

/// The settings taken over. None of them can name a program.
const TAKEN: [&str; 14] = [
    "user.name",
    "user.email",
    "author.name",
    "author.email",
    "committer.name",
    "committer.email",
    "core.autocrlf",
    "core.eol",
    "core.fileMode",
    "core.symlinks",
    "core.ignoreCase",
    "core.precomposeUnicode",
    "status.renames",
    "diff.renames",
];

/// The settings that name a file of patterns, and that file's name in Git's configuration folder.
const PATTERN_FILES: [(&str, &str); 2] = [
    ("core.excludesFile", "ignore"),
    ("core.attributesFile", "attributes"),
];

/// What the user configured for all repositories.
///
/// It is read here, from the user's own files, and not by opening repositories with the user's configuration,
/// because that would also bring the programs which it names.
#[derive(Debug, Clone, Default)]
pub(crate) struct UserSettings {
    values: Vec<(&'static str, String)>,
    /// The files that include others, with the home that paths in them are relative to.
    including: Vec<PathBuf>,
    home: Option<PathBuf>,
}

impl UserSettings {
    /// Reads the settings of the user whose home is named by the environment.
    pub(crate) fn of_this_user() -> Self {
        let home = env::var_os("HOME").map(PathBuf::from);
        let config = env::var_os("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .or_else(|| home.as_ref().map(|home| home.join(".config")));
        Self::read(home.as_deref(), config.as_deref())
    }

    /// Reads the settings from `home` and `config`, the user's home and configuration folders.
    pub(crate) fn read(home: Option<&Path>, config: Option<&Path>) -> Self {
        let system = [PathBuf::from("/etc/gitconfig")];
        let own = config.map(|config| config.join("git/config"));
        let files = system
            .into_iter()
            .chain(own)
            .chain(home.map(|home| home.join(".gitconfig")));
        let files: Vec<PathBuf> = files.collect();
        let mut settings = Self {
            home: home.map(Path::to_owned),
            ..Self::default()
        };
        let mut including = false;
        for file in &files {
            if let Some(found) = parsed(file) {
                settings.take(&found, home);
                including |= ["include", "includeIf"]
                    .iter()
                    .any(|name| found.sections_by_name(name).is_some());
            }
        }
        if including {
            settings.including = files;
        }
        for (key, name) in PATTERN_FILES {
            let default = config.map(|config| config.join("git").join(name));
            if let Some(file) = default.filter(|file| file.is_file()) {
                settings.set_default(key, &file);
            }
        }
        settings
    }

    /// Values to append to a repository's configuration, for the keys that the repository doesn't set itself.
    pub(crate) fn missing_in(
        &self,
        repository: &gix::config::File,
        git_dir: &Path,
        branch: Option<&gix::refs::FullNameRef>,
    ) -> Vec<String> {
        let identity = self.identity_in(git_dir, branch);
        let included = |key: &str| identity.iter().any(|(known, _)| *known == key);
        let others = self.values.iter().filter(|(key, _)| !included(key));
        others
            .chain(&identity)
            .filter(|(key, _)| repository.string(*key).is_none())
            .map(|(key, value)| format!("{key}={value}"))
            .collect()
    }

    /// Whether the settings are not the same for every repository and branch.
    pub(crate) fn depends_on_repository(&self) -> bool {
        !self.including.is_empty()
    }

    /// Who the user is for the repository with this Git directory, where the user's files include others.
    ///
    /// Nothing but names and addresses is taken from what is included.
    fn identity_in(
        &self,
        git_dir: &Path,
        branch: Option<&gix::refs::FullNameRef>,
    ) -> Vec<(&'static str, String)> {
        use gix::config::file::{includes, init};
        let mut identity: Vec<(&'static str, String)> = Vec::new();
        for file in &self.including {
            let Some(mut found) = parsed(file) else {
                continue;
            };
            let interpolate = gix::config::path::interpolate::Context {
                home_dir: self.home.as_deref(),
                ..Default::default()
            };
            let conditional = includes::conditional::Context {
                git_dir: Some(git_dir),
                branch_name: branch,
            };
            let includes = includes::Options {
                err_on_missing_config_path: false,
                err_on_max_depth_exceeded: false,
                ..includes::Options::follow(interpolate, conditional)
            };
            let options = init::Options {
                includes,
                ..Default::default()
            };
            if let Err(failure) = found.resolve_includes(options) {
                tracing::debug!(file = %file.display(), error = %failure, "what is included can't be read");
            }
            for key in TAKEN.iter().take(IDENTITY) {
                if let Some(value) = found.string(*key) {
                    identity.retain(|(known, _)| known != key);
                    identity.push((key, value.to_string()));
                }
            }
        }
        identity
    }

    fn take(&mut self, found: &gix::config::File, home: Option<&Path>) {
        for key in TAKEN {
            if let Some(value) = found.string(key) {
                self.set(key, value.to_string());
            }
        }
        for (key, _) in PATTERN_FILES {
            let Some(value) = found.string(key).map(|value| value.to_string()) else {
                continue;
            };
            match (value.strip_prefix("~/"), home) {
                (Some(below), Some(home)) => {
                    if let Some(path) = home.join(below).to_str() {
                        self.set(key, path.to_owned());
                    }
                }
                _ => self.set(key, value),
            }
        }
    }

    fn set_default(&mut self, key: &'static str, file: &Path) {
        if let Some(path) = file.to_str()
            && !self.values.iter().any(|(known, _)| *known == key)
        {
            self.set(key, path.to_owned());
        }
    }

    fn set(&mut self, key: &'static str, value: String) {
        self.values.retain(|(known, _)| *known != key);
        self.values.push((key, value));
    }
}

/// The settings in `file` itself; `None` if there is no such file, or it can't be read.
fn parsed(file: &Path) -> Option<gix::config::File> {
    gix::config::File::from_path_no_includes(file.to_owned(), gix::config::Source::User).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h20_only_settings_that_name_no_program_are_taken() {
        let home = tempfile::tempdir().unwrap();
        let config = home.path().join(".config");
        std::fs::create_dir_all(config.join("git")).unwrap();
        std::fs::write(config.join("git/attributes"), "*.x text\n").unwrap();
        let text = "[core]\n\tautocrlf = input\n\tfsmonitor = evil\n\texcludesFile = ~/ignored\n\
                    [filter \"evil\"]\n\tclean = evil\n[user]\n\tname = Somebody\n";
        std::fs::write(home.path().join(".gitconfig"), text).unwrap();
        let settings = UserSettings::read(Some(home.path()), Some(&config));
        let mut repository = gix::config::File::default();
        let missing = settings.missing_in(&repository, Path::new("/none"), None);
        let ignored = format!("core.excludesFile={}/ignored", home.path().display());
        let attributes = format!("core.attributesFile={}/git/attributes", config.display());
        for expected in [
            "core.autocrlf=input",
            "user.name=Somebody",
            &ignored,
            &attributes,
        ] {
            assert!(
                missing.iter().any(|value| value == expected),
                "{expected} in {missing:?}"
            );
        }
        assert!(!missing.iter().any(|value| value.contains("evil")));
        repository.set_raw_value("core.autocrlf", "true").unwrap();
        let missing = settings.missing_in(&repository, Path::new("/none"), None);
        assert!(
            !missing
                .iter()
                .any(|value| value.starts_with("core.autocrlf")),
            "the repository decides"
        );
    }
}
