//! What the file says on which a head and a branch do not agree.

/// As the head has it.
pub(crate) fn side_of_head(branch: &str) -> String {
    format!("the head's side of {branch}\n")
}

/// As the branch has it.
pub(crate) fn side_of_branch(branch: &str) -> String {
    format!("the branch's side of {branch}\n")
}

/// As people make one of both.
pub(crate) fn resolved(path: &str) -> String {
    format!("both sides of {path}\n")
}
