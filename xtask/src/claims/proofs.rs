//! Finding the tests that prove claims.

use super::id::ClaimId;
use crate::files::TextFile;
use crate::rust_text::RustText;

/// A test that proves a claim.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Proof {
    pub(super) claim: ClaimId,
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) test: String,
}

/// The proofs in the crates and in the tests across them, sorted.
pub(super) fn find(files: &[TextFile]) -> Vec<Proof> {
    let mut proofs: Vec<Proof> = files
        .iter()
        .filter(|file| file.is_rust())
        .filter(|file| file.path.starts_with("crates/") || file.path.starts_with("tests/"))
        .flat_map(in_file)
        .collect();
    proofs.sort();
    proofs.dedup_by(|left, right| {
        left.claim == right.claim && left.test == right.test && left.path == right.path
    });
    proofs
}

/// Walks over the lines of a file and remembers what stands above the next function.
fn in_file(file: &TextFile) -> Vec<Proof> {
    let split = RustText::split(&file.text);
    let mut proofs = Vec::new();
    let mut above = Above::default();
    for (line, code, comment) in split.lines() {
        above.read_comment(comment);
        let code = code.trim();
        above.is_test |= code.split("#[").skip(1).any(is_test_attribute);
        let Some(name) = function_name(code) else {
            continue;
        };
        let mut claims = above.claims(name);
        claims.sort_unstable();
        claims.dedup();
        proofs.extend(claims.into_iter().map(|claim| Proof {
            claim,
            path: file.path.clone(),
            line,
            test: name.to_owned(),
        }));
        above.next_function();
    }
    proofs
}

/// What was read since the last function.
#[derive(Default)]
struct Above {
    is_test: bool,
    /// Claims named in a comment for the next function, whatever it is.
    claims: Vec<ClaimId>,
    /// Claims named in the documentation of a module: the next test proves them.
    of_module: Vec<ClaimId>,
    /// The list of ids goes on in the next line of the comment.
    continues: bool,
}

impl Above {
    fn read_comment(&mut self, comment: &str) {
        let comment = comment.trim();
        let text = comment.trim_start_matches(['/', '!', '*', ' ']);
        let list = match text.split_once("Proves ") {
            Some((_, list)) => list,
            None if self.continues => text,
            None => return,
        };
        let (ids, continues) = ids(list);
        self.continues = continues;
        if comment.starts_with("//!") {
            self.of_module.extend(ids);
        } else {
            self.claims.extend(ids);
        }
    }

    fn claims(&self, name: &str) -> Vec<ClaimId> {
        if !self.is_test {
            return Vec::new();
        }
        let mut claims = ClaimId::of_test(name);
        claims.extend(&self.claims);
        claims.extend(&self.of_module);
        claims
    }

    fn next_function(&mut self) {
        if self.is_test {
            self.of_module.clear();
        }
        self.claims.clear();
        self.is_test = false;
        self.continues = false;
    }
}

/// The ids at the start of `C07, C08 and C09: because …`, and whether the list is unfinished.
fn ids(list: &str) -> (Vec<ClaimId>, bool) {
    let mut ids = Vec::new();
    let mut continues = false;
    for word in list.split_whitespace() {
        let bare = word.trim_end_matches([',', '.', ';', ':', ')']);
        match ClaimId::parse(bare) {
            Some(id) => ids.push(id),
            None if matches!(word, "and" | "&") => {}
            None => return (ids, false),
        }
        continues = word.ends_with(',') || matches!(word, "and" | "&");
        if word.len() > bare.len() && !continues {
            break;
        }
    }
    (ids, continues)
}

/// Whether the text behind `#[` is `test`, `tokio::test(…)` or another path that ends in `test`.
fn is_test_attribute(attribute: &str) -> bool {
    let path = attribute.split([']', '(']).next().unwrap_or_default();
    path.rsplit("::")
        .next()
        .is_some_and(|last| last.trim() == "test")
}

/// The name in `pub async fn name(…`, for a function that begins in this line.
fn function_name(code: &str) -> Option<&str> {
    let (before, after) = code.split_once("fn ")?;
    if before.ends_with(|last: char| last.is_alphanumeric() || last == '_') {
        return None;
    }
    let name = after
        .split(|character: char| !character.is_alphanumeric() && character != '_')
        .next()?;
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(u8, String)> {
        let file = TextFile {
            path: "crates/x/src/a.rs".to_owned(),
            text: text.to_owned(),
        };
        find(&[file])
            .into_iter()
            .map(|proof| (proof.claim.0, proof.test))
            .collect()
    }

    fn pairs(expected: &[(u8, &str)]) -> Vec<(u8, String)> {
        expected
            .iter()
            .map(|(id, test)| (*id, (*test).to_owned()))
            .collect()
    }

    #[test]
    fn names_and_comments_prove() {
        let text = "#[tokio::test(flavor = \"multi_thread\")]\nasync fn c07_c08_shared() {}\n\
                    /// Proves C10, C11 and C12: all of it.\n#[test]\nfn forks() {}\n";
        let expected = [
            (7, "c07_c08_shared"),
            (8, "c07_c08_shared"),
            (10, "forks"),
            (11, "forks"),
            (12, "forks"),
        ];
        assert_eq!(found(text), pairs(&expected));
    }

    #[test]
    fn a_list_may_go_on_in_the_next_line() {
        let text = "/// Proves C01,\n/// C02. See C03.\n#[test]\nfn both() {}\n";
        assert_eq!(found(text), pairs(&[(1, "both"), (2, "both")]));
    }

    #[test]
    fn only_tests_prove() {
        let text =
            "/// Proves C01\npub fn suite() {}\n#[test]\nfn other() {}\nfn c02_helper() {}\n";
        assert_eq!(found(text), []);
    }

    #[test]
    fn strings_and_commented_code_prove_nothing() {
        let text =
            "#[test]\nfn other() { let a = \"fn c01_x() {} // Proves C02\"; }\n// fn c03_y() {}\n";
        assert_eq!(found(text), []);
    }

    #[test]
    fn module_documentation_speaks_for_the_next_test() {
        let text =
            "//! Proves C05.\nfn helper() {}\n#[test]\nfn readme() {}\n#[test]\nfn more() {}\n";
        assert_eq!(found(text), pairs(&[(5, "readme")]));
    }

    #[test]
    fn files_elsewhere_prove_nothing() {
        let text = "#[test]\nfn c01_x() {}\n".to_owned();
        assert_eq!(
            find(&[TextFile {
                path: "xtask/src/a.rs".to_owned(),
                text
            }]),
            []
        );
    }
}
