use everruns_core::file_system::FileSystemError;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// The longest glob or regular expression, in bytes.
pub(super) const MAX_PATTERN_BYTES: usize = 64 << 10;

/// Compiles globs that are matched against paths below the searched folder.
pub(super) fn compile(patterns: &[String]) -> Result<GlobSet, FileSystemError> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let refused = |error: globset::Error| invalid(pattern, error.kind().to_string());
        if pattern.is_empty() || pattern.len() > MAX_PATTERN_BYTES {
            return Err(invalid(pattern, "a glob has 1 to 65,536 bytes".to_owned()));
        }
        let glob = GlobBuilder::new(&anchored(pattern))
            .literal_separator(true)
            .build()
            .map_err(refused)?;
        set.add(glob);
    }
    set.build()
        .map_err(|error| invalid(&patterns.join(", "), error.to_string()))
}

/// A glob without a slash matches a name at any depth; a leading `./` or `/` means the searched folder.
fn anchored(pattern: &str) -> String {
    match pattern
        .strip_prefix("./")
        .or_else(|| pattern.strip_prefix('/'))
    {
        Some(rest) => rest.to_owned(),
        None if pattern.contains('/') => pattern.to_owned(),
        None => format!("**/{pattern}"),
    }
}

pub(super) fn invalid(pattern: &str, reason: String) -> FileSystemError {
    FileSystemError::InvalidPattern {
        pattern: pattern.chars().take(200).collect(),
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_literal_and_bare_names_match_at_any_depth() {
        let set = |pattern: &str| compile(&[pattern.to_owned()]).unwrap();
        assert!(set("*.rs").is_match("src/a/b.rs"));
        assert!(set("src/*.rs").is_match("src/b.rs"));
        assert!(!set("src/*.rs").is_match("src/a/b.rs"));
        assert!(set("src/**/*.rs").is_match("src/a/b.rs"));
        assert!(set("/*.rs").is_match("b.rs"));
        assert!(!set("/*.rs").is_match("a/b.rs"));
        assert!(set("*.{rs,toml}").is_match("Cargo.toml"));
        assert!(compile(&["[".to_owned()]).is_err());
        assert!(compile(&[String::new()]).is_err());
    }
}
