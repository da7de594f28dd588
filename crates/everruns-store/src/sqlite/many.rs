//! Statements about several rows at once, so that the thread on which SQLite works is asked once for all of them.

use std::sync::OnceLock;

/// A statement takes so many rows at most, far below SQLite's limit of parameters.
pub(super) const MOST: usize = 64;

/// A statement about 1, 2, 4, 8, … rows: few enough texts for all to stay prepared.
///
/// Parameters that get no value are null, so the text has to leave out rows of nulls.
#[derive(Debug)]
pub(super) struct Many {
    before: &'static str,
    row: &'static str,
    after: &'static str,
    texts: [OnceLock<String>; MOST.ilog2() as usize + 1],
}

impl Many {
    /// A statement that says `row` between `before` and `after` as often as there are rows.
    pub(super) const fn new(before: &'static str, row: &'static str, after: &'static str) -> Self {
        Self {
            before,
            row,
            after,
            texts: [const { OnceLock::new() }; MOST.ilog2() as usize + 1],
        }
    }

    /// The text for at least `rows` rows, of which there may be 1 to [`MOST`].
    pub(super) fn text(&'static self, rows: usize) -> &'static str {
        let rows = rows.clamp(1, MOST).next_power_of_two();
        self.texts[rows.ilog2() as usize].get_or_init(|| {
            let all = vec![self.row; rows].join(", ");
            format!("{}{all}{}", self.before, self.after)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static MANY: Many = Many::new("VALUES ", "(?, ?)", ";");

    #[test]
    fn a_text_has_room_for_the_rows() {
        assert_eq!(MANY.text(1), "VALUES (?, ?);");
        assert_eq!(MANY.text(2), "VALUES (?, ?), (?, ?);");
        for rows in 1..=MOST {
            let room = MANY.text(rows).matches("(?, ?)").count();
            assert!(
                (rows..2 * rows).contains(&room),
                "{rows} rows, room for {room}"
            );
        }
        assert_eq!(MANY.text(MOST).matches("(?, ?)").count(), MOST);
    }
}
