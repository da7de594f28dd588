//! The few settings of the user's own Git configuration that change what Git prints or writes.

use std::env;
use std::path::{Path, PathBuf};

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
        let mut settings = Self::default();
        for file in files {
            let source = gix::config::Source::User;
            if let Ok(found) = gix::config::File::from_path_no_includes(file, source) {
                settings.take(&found, home);
            }
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
    pub(crate) fn missing_in(&self, repository: &gix::config::File) -> Vec<String> {
        self.values
            .iter()
            .filter(|(key, _)| repository.string(*key).is_none())
            .map(|(key, value)| format!("{key}={value}"))
            .collect()
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
        let missing = settings.missing_in(&repository);
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
        let missing = settings.missing_in(&repository);
        assert!(
            !missing
                .iter()
                .any(|value| value.starts_with("core.autocrlf")),
            "the repository decides"
        );
    }
}
