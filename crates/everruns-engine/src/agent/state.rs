//! Where locks and records of local folders are kept.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What the persisted folder has always been called.
const FOLDER: &str = "workspace-provider/local-directory";

/// The state folders to try, the best first. All processes of a user get the same list, so that they respect each
/// other's locks.
pub(super) fn folders(chosen: Option<&Path>) -> Vec<PathBuf> {
    match chosen {
        Some(state) => vec![state.join(FOLDER)],
        None => defaults(|name| std::env::var_os(name), &std::env::temp_dir()),
    }
}

/// Where writers of a local folder keep their locks.
pub(super) fn locks(state: &Path) -> PathBuf {
    state.join("locks")
}

/// The user's state folder, and one among the temporary files for a workspace that holds the first.
fn defaults(variable: impl Fn(&str) -> Option<OsString>, temporary: &Path) -> Vec<PathBuf> {
    let absolute = |name: &str| {
        variable(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let user = absolute("XDG_STATE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state")))
        .map(|state| state.join("everruns").join(FOLDER));
    user.into_iter()
        .chain([temporary.join("everruns").join(FOLDER)])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_state_folder_comes_first() {
        let with = |known: &'static [(&str, &str)]| {
            defaults(
                move |name| {
                    let found = known.iter().find(|(key, _)| *key == name);
                    found.map(|(_, value)| OsString::from(value))
                },
                Path::new("/tmp"),
            )
        };
        let last = PathBuf::from("/tmp/everruns/workspace-provider/local-directory");
        assert_eq!(
            with(&[("XDG_STATE_HOME", "/s"), ("HOME", "/h")]),
            [
                PathBuf::from("/s/everruns/workspace-provider/local-directory"),
                last.clone()
            ]
        );
        assert_eq!(
            with(&[("XDG_STATE_HOME", "relative"), ("HOME", "/h")]),
            [
                PathBuf::from("/h/.local/state/everruns/workspace-provider/local-directory"),
                last.clone()
            ]
        );
        assert_eq!(with(&[]), [last]);
    }
}
