/// Whether `name` is `.git`, or one of the spellings that some file system takes for `.git`.
///
/// Case, trailing dots and spaces, NTFS stream suffixes (`::$DATA`), the NTFS short name `git~1`, and the
/// code points that HFS+ ignores are all seen through. The rules are those by which Git itself protects its
/// folder (`core.protectNTFS` and `core.protectHFS`).
pub fn is_git_internal_name(name: &str) -> bool {
    // Nearly every name is ordinary, and each is asked about many times.
    if name.is_ascii() && !matches!(name.as_bytes().first(), Some(b'.' | b'g' | b'G')) {
        return false;
    }
    let visible: String = name.chars().filter(|&c| !ignored_by_hfs(c)).collect();
    let before_stream = visible.split(':').next().unwrap_or_default();
    let bare = before_stream
        .trim_end_matches(['.', ' '])
        .to_ascii_lowercase();
    bare == ".git" || bare == "git~1"
}

/// Code points that HFS+ drops when it compares names.
fn ignored_by_hfs(c: char) -> bool {
    matches!(
        c,
        '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
    )
}

#[cfg(test)]
mod tests {
    use super::is_git_internal_name;

    #[test]
    fn h40_every_spelling_of_git_is_seen() {
        for name in [
            ".git",
            ".GIT",
            ".Git.",
            ".git ",
            ".git. .",
            "git~1",
            "GIT~1",
            ".git::$DATA",
            ".g\u{200d}it",
        ] {
            assert!(is_git_internal_name(name), "{name:?}");
        }
        for name in [
            ".gitignore",
            "git",
            ".github",
            "a.git",
            ".gitmodules",
            "git~12",
        ] {
            assert!(!is_git_internal_name(name), "{name:?}");
        }
    }
}
