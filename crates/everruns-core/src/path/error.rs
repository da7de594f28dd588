use super::{MAX_COMPONENT_BYTES, MAX_DEPTH, MAX_PATH_BYTES};

/// A text that is no path of the portable namespace. It is found before any I/O.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// The text is empty.
    #[error("the path is empty: use `.` or `/workspace` for the top folder")]
    Empty,
    /// The text holds a NUL byte.
    #[error("the path holds a NUL byte")]
    Nul,
    /// The path is longer than [`MAX_PATH_BYTES`].
    #[error("the path has {length} bytes: at most {MAX_PATH_BYTES} are allowed")]
    TooLong {
        /// The path's length in bytes.
        length: usize,
    },
    /// One component is longer than [`MAX_COMPONENT_BYTES`].
    #[error("a path component has {length} bytes: at most {MAX_COMPONENT_BYTES} are allowed")]
    ComponentTooLong {
        /// The component's length in bytes.
        length: usize,
    },
    /// The path has more than [`MAX_DEPTH`] components.
    #[error("the path is {depth} levels deep: at most {MAX_DEPTH} are allowed")]
    TooDeep {
        /// How many components it has.
        depth: usize,
    },
    /// The path has a `..` component.
    #[error("`{}` has a `..` component: give the path from the top of the workspace", path.escape_debug())]
    ParentComponent {
        /// The path as given.
        path: String,
    },
    /// The path is absolute, but under neither `/workspace` nor `/roots/<name>`.
    #[error("`{}` is a path of the host: use a path below /workspace or /roots/<name>", path.escape_debug())]
    HostPath {
        /// The path as given.
        path: String,
    },
    /// A root's name is missing or is not of letters, digits, `.`, `_` and `-`.
    #[error("`{}` is no root: write /roots/<name>, the name of letters, digits, `.`, `_` and `-`", name.escape_debug())]
    RootName {
        /// The name as given.
        name: String,
    },
}
