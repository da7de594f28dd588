use everruns_core::file_system::FileSystemError;

use crate::tool_api::ToolError;

/// A refused or failed file operation, with what a model can do about it.
pub(super) fn explain(error: FileSystemError) -> ToolError {
    let advice = advice(&error);
    ToolError::new(format!("{error}. {advice}")).with_source(error)
}

fn advice(error: &FileSystemError) -> &'static str {
    match error {
        FileSystemError::Path(_) => "Give a path below /workspace or /roots/<name>.",
        FileSystemError::NotFound { .. } => {
            "Look at what there is with find_files or list_directory."
        }
        FileSystemError::AlreadyExists { .. } => {
            "Choose another path, or set `replace` when the present file is to go."
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
            "Correct the pattern, or set `fixed` to search for the text itself."
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
        FileSystemError::PartialMove { .. } => "Delete the one that is not wanted.",
        FileSystemError::Io { .. } => "Try once more; if it fails again, tell the user.",
        _ => "Choose another path or way.",
    }
}
