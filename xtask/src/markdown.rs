//! The little Markdown that the checks read: fenced blocks and table rows.

/// A fenced block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fence {
    /// What stands behind the opening backticks.
    pub(crate) info: String,
    /// The text between the fences, each line with its line end.
    pub(crate) text: String,
    /// The line of the opening fence, from 1.
    pub(crate) line: usize,
    /// The last line between this block and the one before it that is not empty.
    pub(crate) above: String,
}

/// The fenced blocks of a document, in order.
pub(crate) fn fences(document: &str) -> Vec<Fence> {
    let mut fences = Vec::new();
    let mut open: Option<Fence> = None;
    let mut above = String::new();
    for (index, line) in document.lines().enumerate() {
        let marker = line.trim_start().strip_prefix("```");
        match (&mut open, marker) {
            (None, Some(info)) => {
                open = Some(Fence {
                    info: info.trim().to_owned(),
                    text: String::new(),
                    line: index + 1,
                    above: above.clone(),
                });
            }
            (Some(_), Some(_)) => {
                fences.extend(open.take());
                above.clear();
            }
            (Some(fence), None) => {
                fence.text.push_str(line);
                fence.text.push('\n');
            }
            (None, None) if !line.trim().is_empty() => line.trim().clone_into(&mut above),
            (None, None) => {}
        }
    }
    fences
}

/// The cells of a table row; `None` for any other line. `\|` does not end a cell.
pub(crate) fn cells(line: &str) -> Option<Vec<String>> {
    let inside = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    let mut cells = vec![String::new()];
    let mut escaped = false;
    for character in inside.chars() {
        match (character, cells.last_mut()) {
            ('|', _) if !escaped => cells.push(String::new()),
            (_, Some(cell)) => cell.push(character),
            (_, None) => {}
        }
        escaped = character == '\\' && !escaped;
    }
    Some(cells.iter().map(|cell| cell.trim().to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_carry_their_text_line_and_the_line_above() {
        let found = fences("# A\n\n<!-- features: git -->\n```rust,no_run\nlet a = 1;\n```\nend\n");
        assert_eq!(
            found,
            [Fence {
                info: "rust,no_run".to_owned(),
                text: "let a = 1;\n".to_owned(),
                line: 4,
                above: "<!-- features: git -->".to_owned(),
            }]
        );
    }

    #[test]
    fn rows_split_at_bars_that_are_not_escaped() {
        let row = cells(r"| C01 | a \| b | |");
        assert_eq!(
            row,
            Some(vec!["C01".to_owned(), r"a \| b".to_owned(), String::new()])
        );
        assert_eq!(cells("no row"), None);
    }
}
