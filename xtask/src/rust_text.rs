//! Rust source taken apart into code and comments, line by line.
//!
//! A text search for a macro or an attribute would trip over strings and comments that mention
//! it. This is no parser: it only knows where literals and comments begin and end.

/// The two halves of a source; both have the lines of the original.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RustText {
    /// Without comments, and with the contents of string and character literals blanked.
    pub(crate) code: String,
    /// The comments alone, with their markers.
    pub(crate) comments: String,
}

impl RustText {
    /// Splits a source.
    pub(crate) fn split(source: &str) -> Self {
        let mut splitter = Splitter {
            rest: source,
            code: String::new(),
            comments: String::new(),
        };
        splitter.run();
        Self {
            code: splitter.code,
            comments: splitter.comments,
        }
    }

    /// The lines from the first, numbered 1: number, code, comments.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str, &str)> {
        let pairs = self.code.lines().zip(self.comments.lines());
        pairs
            .enumerate()
            .map(|(index, (code, comment))| (index + 1, code, comment))
    }
}

struct Splitter<'a> {
    rest: &'a str,
    code: String,
    comments: String,
}

impl Splitter<'_> {
    fn run(&mut self) {
        while let Some(next) = self.rest.chars().next() {
            if self.rest.starts_with("//") {
                self.comment(self.rest.find('\n').unwrap_or(self.rest.len()));
            } else if self.rest.starts_with("/*") {
                self.comment(block_comment_length(self.rest));
            } else if next == '"' {
                self.literal(string_length(self.rest));
            } else if let Some(length) = raw_string_length(self.rest, self.code.chars().last()) {
                self.literal(length);
            } else if let Some(length) = char_length(self.rest) {
                self.literal(length);
            } else {
                self.take(next.len_utf8(), |code, comments, character| {
                    code.push(character);
                    comments.push(if character == '\n' { '\n' } else { ' ' });
                });
            }
        }
    }

    fn comment(&mut self, length: usize) {
        self.take(length, |code, comments, character| {
            code.push(if character == '\n' { '\n' } else { ' ' });
            comments.push(character);
        });
    }

    fn literal(&mut self, length: usize) {
        self.take(length, |code, comments, character| {
            let blank = if character == '\n' { '\n' } else { ' ' };
            code.push(if character == '"' { '"' } else { blank });
            comments.push(blank);
        });
    }

    fn take(&mut self, length: usize, mut each: impl FnMut(&mut String, &mut String, char)) {
        let (taken, rest) = self
            .rest
            .split_at_checked(length)
            .unwrap_or((self.rest, ""));
        for character in taken.chars() {
            each(&mut self.code, &mut self.comments, character);
        }
        self.rest = rest;
    }
}

/// The length of the block comment at the start of `text`; they nest.
fn block_comment_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    while at < bytes.len() {
        match bytes.get(at..at + 2) {
            Some(b"/*") => {
                depth += 1;
                at += 2;
            }
            Some(b"*/") => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    text.len()
}

/// The length of the string literal at the start of `text`, quotes included.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of `r"…"`, `r#"…"#` and so on, if one starts here and is not the end of a name.
fn raw_string_length(text: &str, before: Option<char>) -> Option<usize> {
    let inside_a_name = before.is_some_and(|character| {
        character.is_alphanumeric() && character != 'b' && character != 'c' || character == '_'
    });
    let hashes_and_more = text.strip_prefix('r')?;
    let quoted = hashes_and_more.trim_start_matches('#');
    if inside_a_name || !quoted.starts_with('"') {
        return None;
    }
    let hashes = hashes_and_more.len() - quoted.len();
    let end = format!("\"{}", "#".repeat(hashes));
    let start = 1 + hashes + 1;
    let length = text
        .get(start..)?
        .find(&end)
        .map(|at| start + at + end.len());
    Some(length.unwrap_or(text.len()))
}

/// The length of a character literal; `None` for a lifetime or anything else.
fn char_length(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('\'')?;
    let mut characters = inside.char_indices();
    let (_, first) = characters.next()?;
    if first == '\\' {
        let escaped = characters.next()?.1;
        let after = 2 + escaped.len_utf8();
        return text.get(after..)?.find('\'').map(|at| after + at + 1);
    }
    let (at, second) = characters.next()?;
    (second == '\'').then_some(1 + at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, code: &str, comments: &str) {
        let split = RustText::split(source);
        assert_eq!(split.code, code);
        assert_eq!(split.comments, comments);
    }

    #[test]
    fn comments_leave_the_code() {
        check("a // b\nc", "a     \nc", "  // b\n ");
        check(
            "a /* b /* c */ d */ e",
            "a                   e",
            "  /* b /* c */ d */  ",
        );
    }

    #[test]
    fn literals_are_blanked_and_hide_comment_markers() {
        check(
            r#"f("//x\"y") // z"#,
            r#"f("    " ") // z"#.replace("// z", "    ").as_str(),
            "            // z",
        );
        check(
            "r#\"a\"b\"# x",
            " #\" \" \"# x".replace('#', " ").as_str(),
            "          ",
        );
    }

    #[test]
    fn lifetimes_are_no_literals() {
        check("&'a str", "&'a str", "       ");
        check("'\"' x", " \"  x", "     ");
        check(r"'\'' x", "     x", "      ");
    }

    #[test]
    fn lines_stay_in_step() {
        let split = RustText::split("a\n/* b\nc */ d\n\"e\nf\" // g\n");
        let lines: Vec<_> = split
            .lines()
            .map(|(n, code, text)| (n, code.trim(), text.trim()))
            .collect();
        assert_eq!(
            lines,
            [
                (1, "a", ""),
                (2, "", "/* b"),
                (3, "d", "c */"),
                (4, "\"", ""),
                (5, "\"", "// g")
            ]
        );
    }

    #[test]
    fn unfinished_literals_end_with_the_text() {
        for source in ["\"abc", "r#\"abc", "/* abc", "'", "'\\"] {
            let split = RustText::split(source);
            assert_eq!(split.code.len(), source.len());
        }
    }
}
