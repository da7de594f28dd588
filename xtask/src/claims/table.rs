//! The table in `docs/claims.md`.

use anyhow::{Context as _, bail};

use super::id::ClaimId;
use super::proofs::Proof;
use crate::markdown;

/// Where the table is, from the workspace root.
pub(super) const PATH: &str = "docs/claims.md";

/// What the proof column says of a claim that no test proves.
pub(super) const MISSING: &str = "missing";

/// One row.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) id: ClaimId,
    pub(super) claim: String,
    pub(super) proof: String,
}

/// The rows of the table, in order.
pub(super) fn rows(document: &str) -> anyhow::Result<Vec<Row>> {
    document
        .lines()
        .enumerate()
        .filter(|(_, line)| line.starts_with("| C"))
        .map(|(index, line)| row(line).with_context(|| format!("{PATH}:{}", index + 1)))
        .collect()
}

fn row(line: &str) -> anyhow::Result<Row> {
    let cells = markdown::cells(line).unwrap_or_default();
    let [id, claim, proof] = cells.as_slice() else {
        bail!("a row has three cells: id, claim, proof");
    };
    let id = ClaimId::parse(id).with_context(|| format!("`{id}` is no claim id"))?;
    Ok(Row {
        id,
        claim: claim.clone(),
        proof: proof.clone(),
    })
}

/// The proof column of one claim: a link to the file of each test. Line numbers would go stale
/// with every edit above them.
pub(super) fn proof_cell(id: ClaimId, proofs: &[Proof]) -> String {
    let links: Vec<String> = proofs
        .iter()
        .filter(|proof| proof.claim == id)
        .map(|proof| format!("[`{}`](../{})", proof.test, proof.path))
        .collect();
    if links.is_empty() {
        MISSING.to_owned()
    } else {
        links.join(", ")
    }
}

/// The names of the tests in a proof column.
pub(super) fn tests_named(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// The document with the proof column as the code has it.
pub(super) fn refreshed(document: &str, proofs: &[Proof]) -> anyhow::Result<String> {
    let mut lines = Vec::new();
    for line in document.lines() {
        if line.starts_with("| C") {
            let row = row(line)?;
            lines.push(format!(
                "| {} | {} | {} |",
                row.id,
                row.claim,
                proof_cell(row.id, proofs)
            ));
        } else {
            lines.push(line.to_owned());
        }
    }
    Ok(lines.join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "# Claims\n\n| id | claim | proof |\n|---|---|---|\n\
                            | C01 | Heads are \\| kept. | missing |\n| C02 | More. | [`old`](../a.rs) |\n";

    fn proof() -> Proof {
        Proof {
            claim: ClaimId(1),
            path: "crates/x/tests/a.rs".to_owned(),
            line: 3,
            test: "c01_kept".to_owned(),
        }
    }

    #[test]
    fn rows_are_read() {
        let rows = rows(DOCUMENT).expect("the fixture is a table");
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].claim, "Heads are \\| kept.");
        assert_eq!(tests_named(&rows[1].proof), ["old"]);
    }

    #[test]
    fn refreshing_writes_links_and_is_stable() {
        let once = refreshed(DOCUMENT, &[proof()]).expect("the fixture is a table");
        assert!(
            once.contains("| C01 | Heads are \\| kept. | [`c01_kept`](../crates/x/tests/a.rs) |\n")
        );
        assert!(once.contains("| C02 | More. | missing |\n"));
        assert_eq!(
            refreshed(&once, &[proof()]).expect("the fixture is a table"),
            once
        );
    }

    #[test]
    fn broken_rows_are_errors() {
        assert!(rows("| C1 | a | b |").is_err());
        assert!(rows("| C01 | a |").is_err());
    }
}
