use everruns_core::file_system::FileSystemError;
use everruns_core::path::PathError;

use crate::tool_api::ToolError;

/// A refused or failed file operation, with what a model can do about it.
pub(super) fn explain(error: FileSystemError) -> ToolError {
    let advice = advice(&error);
    ToolError::new(format!("{error}. {advice}")).with_source(error)
}

/// A text that is no path, with what a model can do about it.
pub(super) fn explain_path(error: &PathError) -> ToolError {
    ToolError::new(match path_advice(error) {
        Some(advice) => format!("{error}. {advice}"),
        None => format!("{error}."),
    })
}

/// What to do where the error itself does not say it.
fn path_advice(error: &PathError) -> Option<&'static str> {
    match error {
        PathError::Nul => Some("Give it without that byte."),
        PathError::TooLong { .. } | PathError::ComponentTooLong { .. } => {
            Some("Choose a shorter name.")
        }
        PathError::TooDeep { .. } => Some("Choose a place further up."),
        _ => None,
    }
}

fn advice(error: &FileSystemError) -> &'static str {
    match error {
        FileSystemError::Path(error) => {
            path_advice(error).unwrap_or("Give a path below /workspace or /roots/<name>.")
        }
        FileSystemError::NotFound { .. } => {
            "Look at what there is with find_files or list_directory."
        }
        FileSystemError::AlreadyExists { .. } => {
            "Choose another path. With `replace`, move_file takes the place of a file that you have read, never of a folder."
        }
        FileSystemError::NotAFile { .. } => {
            "Use list_directory for folders; others cannot be used."
        }
        FileSystemError::NotADirectory { .. } => "Use read_file for files.",
        FileSystemError::DirectoryNotEmpty { .. } => {
            "Set `recursive` to remove it with all that is in it."
        }
        FileSystemError::Escapes { .. } | FileSystemError::LinkLoop { .. } => {
            "Links that lead out of the workspace cannot be followed; use a path inside it."
        }
        FileSystemError::GitInternal { .. } => "Leave Git's own files alone.",
        FileSystemError::Denied { .. } => {
            "No tool can change the policy: work elsewhere, or tell the user what you would need."
        }
        FileSystemError::ReadOnly { .. } => {
            "It cannot be changed: work elsewhere, or tell the user what you would need."
        }
        FileSystemError::Conflict { .. } => "Read it again with read_file, then repeat the change.",
        FileSystemError::TooLarge { .. } => {
            "No file tool reads or writes so much: do without it, or tell the user."
        }
        FileSystemError::UnknownRoot { .. } => "Other files are in /workspace.",
        FileSystemError::InvalidPattern { .. } => {
            "Nothing was searched. Correct the glob: `[`, `{`, `*` and `?` stand for themselves after a backslash."
        }
        FileSystemError::LimitReached { .. } => {
            "No tool can raise the limit: do with less, or tell the user."
        }
        FileSystemError::Unsupported { .. } => {
            "Nothing was changed. Leave it where it is, or write its content there as a plain file."
        }
        FileSystemError::StaleRoot { .. } => {
            "Nothing was changed. Tell the user; no tool can go on."
        }
        FileSystemError::NoSpace { .. } => "Tell the user that the disk, or the quota, is full.",
        FileSystemError::NotFlushed { .. } => {
            "Do not repeat it; tell the user that the disk may be failing."
        }
        FileSystemError::NotPutBack { .. } => {
            "Do not repeat it; tell the user under which name the other content is kept."
        }
        FileSystemError::TooManyOpenFiles { .. } => {
            "Try once more a little later; if it fails again, tell the user."
        }
        FileSystemError::PartialCopy { .. } => {
            "Delete what is left at the destination, then try again."
        }
        FileSystemError::PartialMove { .. } => "Delete the one that is not wanted.",
        FileSystemError::Io { .. } => "Try once more; if it fails again, tell the user.",
        _ => "Choose another path or way.",
    }
}
