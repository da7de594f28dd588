use std::sync::Arc;

use everruns_core::file_system::{FileSystemError, PathFilter};
use everruns_core::path::WorkspacePath;
use ignore::types::TypesBuilder;

use super::globs::invalid;

/// Allows the files of these types, by the names that ripgrep has for them, such as `rust` or `py`. Folders are allowed.
///
/// # Errors
/// [`FileSystemError::InvalidPattern`] names the type that there is not, and those that its name may mean.
pub fn of_types(names: &[String]) -> Result<PathFilter, FileSystemError> {
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    let known = builder.definitions();
    for name in names {
        if !known.iter().any(|known| known.name() == name) {
            return Err(invalid(name, unknown(name, &known)));
        }
        builder.select(name);
    }
    let types = builder
        .build()
        .map_err(|error| invalid(&names.join(", "), error.to_string()))?;
    Ok(Arc::new(move |path: &WorkspacePath, is_folder| {
        is_folder || types.matched(path.relative(), false).is_whitelist()
    }))
}

fn unknown(name: &str, known: &[ignore::types::FileTypeDef]) -> String {
    let ending = format!("*.{}", name.trim_start_matches(['*', '.']));
    let meant: Vec<&str> = known
        .iter()
        .filter(|known| known.globs().contains(&ending))
        .map(ignore::types::FileTypeDef::name)
        .collect();
    if meant.is_empty() {
        return "there is no such file type: use a glob such as `*.ext`".to_owned();
    }
    format!(
        "there is no such file type; files `{ending}` are of type {}",
        meant.join(" or ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_those_of_ripgrep() {
        let allows = of_types(&["rust".to_owned(), "toml".to_owned()]).unwrap();
        let allowed = |text: &str| allows(&WorkspacePath::parse(text).unwrap(), false);
        assert!(allowed("src/a.rs") && allowed("Cargo.toml"));
        assert!(!allowed("a.py") && !allowed("rs"));
        assert!(allows(&WorkspacePath::parse("src.d").unwrap(), true));
        let error = of_types(&["rs".to_owned()]).err().unwrap().to_string();
        assert!(error.contains("of type rust"), "{error}");
        assert!(of_types(&["nothing-like-it".to_owned()]).is_err());
    }
}
