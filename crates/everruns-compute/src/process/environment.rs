use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use everruns_core::compute::ComputeError;

use super::Programs;

/// Carries a random value through all children of a command, so that they are found even when they leave its group.
pub(super) const MARK: &str = "EVERRUNS_COMMAND";

/// These change what the command itself or programs that it starts execute.
const REFUSED: &[&str] = &[
    "BASH_ENV",
    "ENV",
    "HOME",
    "IFS",
    "PATH",
    "PROMPT_COMMAND",
    "SHELLOPTS",
    "SSH_AUTH_SOCK",
    "TMPDIR",
    MARK,
];
const REFUSED_BEGINNINGS: &[&str] = &["BASH_FUNC_", "DYLD_", "GIT_", "LD_"];
const CREDENTIALS: &[&str] = &["CREDENTIAL", "KEY", "PASSWD", "PASSWORD", "SECRET", "TOKEN"];

/// Refuses variables that a request may not set.
pub(super) fn check(requested: &BTreeMap<String, String>) -> Result<(), ComputeError> {
    for (name, value) in requested {
        if !is_well_formed(name, value) || is_refused(name) {
            return Err(ComputeError::VariableRefused { name: name.clone() });
        }
    }
    Ok(())
}

fn is_well_formed(name: &str, value: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0')
}

fn is_refused(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    REFUSED.contains(&name.as_str())
        || REFUSED_BEGINNINGS
            .iter()
            .any(|beginning| name.starts_with(beginning))
        || name.split('_').any(|word| CREDENTIALS.contains(&word))
        || CREDENTIALS.iter().any(|word| name.ends_with(word))
}

/// All that a command sees.
pub(super) fn build(
    programs: &Programs,
    home: &Path,
    mark: &str,
    requested: BTreeMap<String, String>,
) -> Vec<(OsString, OsString)> {
    let mut all: Vec<(OsString, OsString)> = vec![
        ("PATH".into(), programs.variable()),
        ("HOME".into(), home.into()),
        ("TMPDIR".into(), home.into()),
        ("LANG".into(), "C.UTF-8".into()),
        ("TERM".into(), "dumb".into()),
        (MARK.into(), mark.into()),
    ];
    all.extend(
        requested
            .into_iter()
            .map(|(name, value)| (name.into(), value.into())),
    );
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h82_variables_that_change_execution_or_carry_credentials_are_refused() {
        let refused = [
            "GIT_DIR",
            "GIT_SSH_COMMAND",
            "LD_PRELOAD",
            "ld_preload",
            "DYLD_INSERT_LIBRARIES",
            "OPENAI_API_KEY",
            "GITHUB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "NPM_TOKEN_2",
            "APIKEY",
            "DB_PASSWORD",
            "PATH",
            "HOME",
            "BASH_ENV",
            "SSH_AUTH_SOCK",
            "",
            "A=B",
            "A\0",
        ];
        for name in refused {
            let requested = BTreeMap::from([(name.to_owned(), "x".to_owned())]);
            assert!(check(&requested).is_err(), "{name:?}");
        }
        for name in ["RUST_LOG", "CI", "TERM", "LANG", "KEYBOARD", "DIGIT_COUNT"] {
            let requested = BTreeMap::from([(name.to_owned(), "x".to_owned())]);
            assert!(check(&requested).is_ok(), "{name:?}");
        }
    }
}
