//! Parsing of paths.

use everruns_core::path::{MAX_COMPONENT_BYTES, MAX_DEPTH, MAX_PATH_BYTES, WorkspacePath};

/// Parses `data`, and checks that what is accepted is in normal form and stays inside its mount.
pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Ok(path) = WorkspacePath::parse(text) else {
        return;
    };
    assert!(text.len() <= MAX_PATH_BYTES && !text.contains('\0'));
    assert!(path.components().count() <= MAX_DEPTH);
    for component in path.components() {
        assert!(!matches!(component, "" | "." | ".."), "{path}");
        assert!(component.len() <= MAX_COMPONENT_BYTES && !component.contains('/'));
    }
    // The absolute spelling is longer than what was given, so it may be too long.
    if path.to_string().len() <= MAX_PATH_BYTES {
        assert_eq!(WorkspacePath::parse(&path.to_string()), Ok(path.clone()));
    }
    let top = path.with_mount(path.mount().clone());
    assert_eq!(top, path);
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => {
            assert!(path.starts_with(&parent) && !parent.starts_with(&path));
            assert_eq!(parent.mount(), path.mount());
            if path.to_string().len() <= MAX_PATH_BYTES {
                assert_eq!(parent.join(name), Ok(path.clone()));
            }
            if parent.is_git_internal() {
                assert!(path.is_git_internal());
            }
        }
        (None, None) => assert!(path.is_top() && !path.is_git_internal()),
        other => panic!("a parent without a name, or a name without a parent: {other:?}"),
    }
}
