//! Heads, states and differences as text.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use everruns::path::WorkspacePath;
use everruns::{
    EntryState, FileChange, FileDiff, StatusEntry, WorkspaceDiff, WorkspaceHead,
    WorkspaceHeadAccess, WorkspaceHeadDescriptor, WorkspaceHeadState, WorkspaceHeadStatus,
};
use serde_json::{Value, json};

use crate::output::{shown, shown_lines};

/// The folder of a head's files on this machine.
pub(crate) fn location(head: &WorkspaceHead) -> Option<PathBuf> {
    let folder = head.file_system().host_path(&WorkspacePath::root())?;
    // Without the separator at its end.
    Some(folder.components().collect())
}

/// A head for a script: its descriptor and where its files are.
pub(super) fn head_json(head: &WorkspaceHead) -> Value {
    json!({"head": head.descriptor(), "location": location(head)})
}

/// A head for a person.
pub(crate) fn head_text(head: &WorkspaceHead) -> String {
    let descriptor = head.descriptor();
    let mut text = format!("{} ({})\n", shown(head.name()), head.id());
    if let Some(branch) = &descriptor.branch {
        let _ = writeln!(text, "  branch    {}", shown(branch));
    }
    let _ = writeln!(text, "  from      {}", short(&descriptor.base));
    if let Some(folder) = location(head) {
        let _ = writeln!(text, "  files in  {}", path_text(&folder));
    }
    text
}

pub(super) fn path_text(path: &Path) -> String {
    shown(&path.display().to_string())
}

/// A revision as people read it.
pub(super) fn short(revision: &str) -> String {
    let hexadecimal = revision.len() >= 40 && revision.chars().all(|c| c.is_ascii_hexdigit());
    shown(&if hexadecimal {
        revision.chars().take(12).collect()
    } else {
        revision.to_owned()
    })
}

/// A head as a row of a list.
pub(super) fn row(head: &WorkspaceHeadDescriptor) -> [String; 3] {
    let state = match head.state {
        WorkspaceHeadState::Ready => "ready",
        WorkspaceHeadState::Archived => "archived",
        WorkspaceHeadState::Destroyed => "destroyed",
        _ => "unknown",
    };
    let state = match head.access {
        WorkspaceHeadAccess::Shared => format!("{state}, shared"),
        WorkspaceHeadAccess::Isolated => state.to_owned(),
    };
    [shown(head.name.as_str()), state, head.id.to_string()]
}

/// A head's state, in the letters of `git status --short`.
pub(super) fn status_text(status: &WorkspaceHeadStatus) -> String {
    let mut text = String::new();
    if status.archived {
        text.push_str("archived\n");
    }
    for entry in &status.entries {
        let _ = writeln!(text, "{}", entry_text(entry));
    }
    if !status.dirty {
        text.push_str("nothing differs from its last commit\n");
    }
    for fact in &status.degraded {
        let place = fact
            .path
            .as_deref()
            .map(|path| format!("{}: ", shown(path)))
            .unwrap_or_default();
        let _ = writeln!(text, "note: {place}{}", shown(&fact.detail));
    }
    text
}

fn entry_text(entry: &StatusEntry) -> String {
    let path = match &entry.original {
        Some(original) => format!("{} -> {}", shown(original), shown(&entry.path)),
        None => shown(&entry.path),
    };
    if entry.unstaged == EntryState::Untracked {
        return format!("?? {path}");
    }
    format!("{}{} {path}", letter(entry.staged), letter(entry.unstaged))
}

fn letter(state: EntryState) -> char {
    match state {
        EntryState::Unmodified => ' ',
        EntryState::Modified => 'M',
        EntryState::Added => 'A',
        EntryState::Deleted => 'D',
        EntryState::Renamed => 'R',
        EntryState::Copied => 'C',
        EntryState::TypeChanged => 'T',
        EntryState::Unmerged => 'U',
        _ => '?',
    }
}

/// The files that differ and their line counts.
pub(crate) fn diff_stat(diff: &WorkspaceDiff) -> String {
    if !diff.changed {
        return "nothing differs\n".to_owned();
    }
    let mut text = String::new();
    for file in &diff.files {
        let _ = writeln!(text, "{} {}", change_letter(file), file_stat(file));
    }
    let count = diff.files.len();
    let plural = if count == 1 {
        "file differs"
    } else {
        "files differ"
    };
    let _ = writeln!(
        text,
        "{count} {plural}, +{} -{}",
        diff.added(),
        diff.removed()
    );
    if diff.truncated {
        text.push_str("more changes were left out\n");
    }
    text
}

fn file_stat(file: &FileDiff) -> String {
    let path = match &file.original {
        Some(original) => format!("{} -> {}", shown(original), shown(&file.path)),
        None => shown(&file.path),
    };
    if file.binary {
        format!("{path} (binary)")
    } else if file.omitted && file.added + file.removed == 0 {
        format!("{path} (too large to compare)")
    } else {
        format!("{path} +{} -{}", file.added, file.removed)
    }
}

fn change_letter(file: &FileDiff) -> char {
    match file.change {
        FileChange::Added => 'A',
        FileChange::Modified => 'M',
        FileChange::Deleted => 'D',
        FileChange::Renamed => 'R',
        FileChange::TypeChanged => 'T',
        _ => '?',
    }
}

/// The whole difference as unified text, safe for a terminal.
pub(crate) fn diff_text(diff: &WorkspaceDiff) -> String {
    if diff.changed {
        shown_lines(&diff.to_string())
    } else {
        "nothing differs\n".to_owned()
    }
}
