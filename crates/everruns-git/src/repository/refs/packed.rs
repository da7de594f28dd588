//! References that Git has packed into one file.

use std::collections::BTreeSet;
use std::path::Path;

use super::lock::RefLock;
use crate::error::Result;
use crate::state::durable;

/// The file, and what its lock is named after.
const FILE: &str = "packed-refs";

/// Takes the references `names` out of the file with the packed ones. The caller holds their locks.
pub(super) fn remove(common: &Path, names: &[&str]) -> Result<()> {
    let names: BTreeSet<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
    let path = common.join(FILE);
    let holds = |content: Option<Vec<u8>>| {
        content.is_some_and(|content| lines(&content).any(|line| is_of(line, &names)))
    };
    if !holds(durable::read(&path)?) {
        return Ok(());
    }
    let lock = RefLock::take(common, FILE)?;
    everruns_core::failpoint::hit("git.refs.after-packed-lock")?;
    let content = durable::read(&path)?.unwrap_or_default();
    lock.replace(&path, &without(&content, &names))?;
    durable::sync_folder(common)
}

fn lines(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    content.split_inclusive(|byte| *byte == b'\n')
}

/// `content` without the lines of `names`, and those that say what their tags lead to.
fn without(content: &[u8], names: &BTreeSet<&[u8]>) -> Vec<u8> {
    let mut kept = Vec::with_capacity(content.len());
    let mut dropping = false;
    for line in lines(content) {
        if !line.starts_with(b"^") {
            dropping = is_of(line, names);
        }
        if !dropping {
            kept.extend_from_slice(line);
        }
    }
    kept
}

/// Whether `line` is about one of `names`.
fn is_of(line: &[u8], names: &BTreeSet<&[u8]>) -> bool {
    if line.starts_with(b"#") || line.starts_with(b"^") {
        return false;
    }
    let name = line
        .iter()
        .position(|byte| *byte == b' ')
        .map(|at| line[at + 1..].trim_ascii_end());
    name.is_some_and(|name| names.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_reference_go_and_all_others_stay() {
        let content = b"# pack-refs with: peeled fully-peeled sorted \n\
            aa refs/heads/everruns/one\n\
            bb refs/tags/one\n\
            ^cc\n\
            dd refs/tags/two\n\
            ^ee\n";
        let names = [&b"refs/tags/one"[..], b"refs/heads/everruns/on"];
        let kept = without(content, &BTreeSet::from(names));
        let expected = b"# pack-refs with: peeled fully-peeled sorted \n\
            aa refs/heads/everruns/one\n\
            dd refs/tags/two\n\
            ^ee\n";
        assert_eq!(kept, expected);
        assert_eq!(without(content, &BTreeSet::new()), content);
    }
}
