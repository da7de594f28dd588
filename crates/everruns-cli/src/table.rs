//! Columns that people can read.

use std::fmt::Write as _;

/// A column that may be as wide as it needs to be.
pub(crate) const WHOLE: usize = usize::MAX;

/// Rows under a heading, each column as wide as it needs to be, but at most as its heading says, in characters. What
/// is longer is cut.
pub(crate) fn table<const N: usize>(heading: [(&str, usize); N], rows: &[[String; N]]) -> String {
    let mut lines = vec![heading.map(|(name, _)| name.to_owned())];
    lines.extend(rows.iter().map(|row| {
        let mut cells = row.clone();
        for (cell, (_, widest)) in cells.iter_mut().zip(heading) {
            *cell = cut(cell, widest);
        }
        cells
    }));
    let mut text = String::new();
    for line in &lines {
        let mut row = String::new();
        for (column, cell) in line.iter().enumerate() {
            let width = lines
                .iter()
                .map(|other| other[column].chars().count())
                .max()
                .unwrap_or_default();
            let _ = write!(row, "{cell:width$}  ");
        }
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}

/// At most `length` characters of a text, with a sign that some were left out.
fn cut(text: &str, length: usize) -> String {
    if text.chars().count() <= length {
        return text.to_owned();
    }
    let start: String = text.chars().take(length.saturating_sub(1)).collect();
    format!("{}…", start.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_long_cells_are_cut_but_the_last() {
        let long = "x".repeat(100);
        let rows = [
            ["a".to_owned(), "b".to_owned(), long.clone()],
            [long.clone(), String::new(), String::new()],
        ];
        let text = table([("ONE", 40), ("TWO", WHOLE), ("THREE", WHOLE)], &rows);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], format!("ONE{}  TWO  THREE", " ".repeat(37)));
        assert_eq!(lines[1], format!("a{}  b    {long}", " ".repeat(39)));
        assert_eq!(lines[2], format!("{}…", "x".repeat(39)));
    }
}
