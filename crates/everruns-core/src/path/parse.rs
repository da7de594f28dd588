use super::workspace_path::{RootName, WorkspacePath};
use super::{Mount, PathError};

/// The longest path, in bytes.
pub const MAX_PATH_BYTES: usize = 4096;
/// The longest component, in bytes.
pub const MAX_COMPONENT_BYTES: usize = 255;
/// The most components below a mount.
pub const MAX_DEPTH: usize = 256;

pub(super) fn parse(text: &str) -> Result<WorkspacePath, PathError> {
    if text.is_empty() {
        return Err(PathError::Empty);
    }
    if text.len() > MAX_PATH_BYTES {
        return Err(PathError::TooLong { length: text.len() });
    }
    if text.contains('\0') {
        return Err(PathError::Nul);
    }
    if names_a_windows_host(text) {
        return Err(PathError::HostPath {
            path: text.to_owned(),
        });
    }
    let Some(absolute) = text.strip_prefix('/') else {
        return build(Mount::Head, text, text);
    };
    let absolute = absolute.trim_start_matches('/');
    let (top, rest) = absolute.split_once('/').unwrap_or((absolute, ""));
    match top {
        "workspace" => build(Mount::Head, rest, text),
        "roots" => {
            let rest = rest.trim_start_matches('/');
            let (name, below) = rest.split_once('/').unwrap_or((rest, ""));
            build(Mount::Root(RootName::new(name)?), below, text)
        }
        _ => Err(PathError::HostPath {
            path: text.to_owned(),
        }),
    }
}

/// `C:x`, `\\server\share`, `\\?\x` and the like.
fn names_a_windows_host(text: &str) -> bool {
    let mut bytes = text.bytes();
    let (first, second) = (bytes.next(), bytes.next());
    first == Some(b'\\') || (first.is_some_and(|b| b.is_ascii_alphabetic()) && second == Some(b':'))
}

fn build(mount: Mount, relative: &str, given: &str) -> Result<WorkspacePath, PathError> {
    let mut components = Vec::new();
    for component in relative.split('/') {
        match component {
            "" | "." => {}
            ".." => {
                return Err(PathError::ParentComponent {
                    path: given.to_owned(),
                });
            }
            name if name.len() > MAX_COMPONENT_BYTES => {
                return Err(PathError::ComponentTooLong { length: name.len() });
            }
            name => components.push(name),
        }
    }
    if components.len() > MAX_DEPTH {
        return Err(PathError::TooDeep {
            depth: components.len(),
        });
    }
    Ok(WorkspacePath::from_parts(mount, components.join("/")))
}
