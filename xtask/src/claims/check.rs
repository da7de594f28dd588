//! Comparing the table with the code.

use std::collections::BTreeSet;

use super::id::{ClaimId, LIBRARY};
use super::proofs::Proof;
use super::table::{self, Row};

/// What is wrong with the table. A claim without a proof is not among it.
pub(super) fn problems(rows: &[Row], proofs: &[Proof]) -> Vec<String> {
    let mut problems = Vec::new();
    let listed: Vec<ClaimId> = rows.iter().map(|row| row.id).collect();
    for id in LIBRARY.map(ClaimId).filter(|id| !listed.contains(id)) {
        problems.push(format!("{id} is not in {}", table::PATH));
    }
    if !listed.is_sorted_by(|left, right| left < right) {
        problems.push(format!(
            "the ids in {} are not in order, each once",
            table::PATH
        ));
    }
    for proof in proofs.iter().filter(|proof| !listed.contains(&proof.claim)) {
        let Proof {
            claim,
            path,
            line,
            test,
        } = proof;
        problems.push(format!(
            "{path}:{line}: `{test}` proves {claim}, which is no claim"
        ));
    }
    problems.extend(rows.iter().filter_map(|row| stale(row, proofs)));
    problems
}

/// How a row's proof column differs from the code.
fn stale(row: &Row, proofs: &[Proof]) -> Option<String> {
    let expected = table::proof_cell(row.id, proofs);
    if row.proof == expected {
        return None;
    }
    let named: BTreeSet<&str> = table::tests_named(&row.proof).into_iter().collect();
    let real: BTreeSet<&str> = table::tests_named(&expected).into_iter().collect();
    let mut parts = Vec::new();
    for gone in named.difference(&real) {
        parts.push(format!("names `{gone}`, which is no test that proves it"));
    }
    for new in real.difference(&named) {
        parts.push(format!("does not name `{new}`"));
    }
    if parts.is_empty() {
        parts.push("links to the wrong file".to_owned());
    }
    Some(format!(
        "{} {} (run `cargo xtask claims --write`)",
        row.id,
        parts.join(", ")
    ))
}

/// The claims of the table that no test proves.
pub(super) fn missing(rows: &[Row], proofs: &[Proof]) -> Vec<ClaimId> {
    rows.iter()
        .map(|row| row.id)
        .filter(|id| proofs.iter().all(|proof| proof.claim != *id))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full_table(proof: impl Fn(ClaimId) -> String) -> Vec<Row> {
        LIBRARY
            .map(ClaimId)
            .map(|id| Row {
                id,
                claim: "It holds.".to_owned(),
                proof: proof(id),
            })
            .collect()
    }

    fn proof(id: u8, test: &str) -> Proof {
        Proof {
            claim: ClaimId(id),
            path: "tests/a.rs".to_owned(),
            line: 1,
            test: test.to_owned(),
        }
    }

    #[test]
    fn a_table_as_the_code_has_it_passes_and_names_what_is_missing() {
        let proofs = [proof(7, "c07_x")];
        let rows = full_table(|id| table::proof_cell(id, &proofs));
        assert_eq!(problems(&rows, &proofs), [] as [String; 0]);
        let missing = missing(&rows, &proofs);
        assert_eq!(missing.len(), 24);
        assert!(!missing.contains(&ClaimId(7)));
    }

    #[test]
    fn a_test_that_does_not_exist_is_found() {
        let proofs = [proof(7, "c07_x")];
        let rows = full_table(|id| table::proof_cell(id, &proofs));
        let found = problems(&rows, &[]);
        assert_eq!(found.len(), 1);
        assert!(
            found[0].starts_with("C07 names `c07_x`, which is no test"),
            "{found:?}"
        );
    }

    #[test]
    fn a_test_that_the_table_does_not_name_is_found() {
        let rows = full_table(|_| table::MISSING.to_owned());
        let found = problems(&rows, &[proof(7, "c07_x")]);
        assert_eq!(found.len(), 1);
        assert!(
            found[0].starts_with("C07 does not name `c07_x`"),
            "{found:?}"
        );
    }

    #[test]
    fn unknown_missing_and_repeated_ids_are_found() {
        let mut rows = full_table(|_| table::MISSING.to_owned());
        assert_eq!(problems(&rows, &[proof(40, "c40_x")]).len(), 1);
        rows.swap(0, 1);
        assert_eq!(problems(&rows, &[]).len(), 1);
        rows.remove(5);
        assert_eq!(problems(&rows, &[]).len(), 2);
    }
}
