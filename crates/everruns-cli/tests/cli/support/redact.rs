use std::path::Path;

/// `text` without what differs from run to run: folders, ids and times.
pub(crate) fn redacted(text: &str, folder: &Path) -> String {
    let text = text.replace(folder.to_str().unwrap(), "<dir>");
    let text = places(&replace_ids(&text, "ses_", "<session>"));
    let text = replace_ids(&text, "head_", "<head>");
    let text = replace_ids(&text, "git-", "<workspace>");
    waits(&times(&branches(&text)))
}

/// Replaces places in the list of sessions, which are made of an id and a time.
fn places(text: &str) -> String {
    let mut pieces = text.split("<session>@");
    let mut result = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        result.push_str("<place>");
        result.push_str(piece.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    result
}

/// Replaces how long is waited before something is tried again, which is partly random.
fn waits(text: &str) -> String {
    let mut pieces = text.split("trying again in ");
    let mut result = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let rest = piece.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        result.push_str("trying again in <seconds>");
        result.push_str(rest);
    }
    result
}

/// Replaces `prefix` and the id behind it.
fn replace_ids(text: &str, prefix: &str, by: &str) -> String {
    let mut pieces = text.split(prefix);
    let mut result = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let rest = piece.trim_start_matches(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
        if piece.len() - rest.len() >= 20 {
            result.push_str(by);
            result.push_str(rest);
        } else {
            result.push_str(prefix);
            result.push_str(piece);
        }
    }
    result
}

/// Replaces the part of our branches' names that is made of their heads' ids.
fn branches(text: &str) -> String {
    let mut pieces = text.split("everruns/");
    let mut result = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        result.push_str("everruns/");
        let rest =
            piece.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '-'));
        let name = piece.strip_suffix(rest).unwrap_or(piece);
        match name.rsplit_once('-') {
            Some((slug, id)) if id.len() == 10 => result.extend([slug, "-<id>", rest]),
            _ => result.push_str(piece),
        }
    }
    result
}

/// Replaces times to the second, such as `2026-01-02T03:04:05Z`.
fn times(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let shape = "dddd-dd-ddTdd:dd:ddZ";
    let is_time = |at: usize| {
        characters.len() >= at + shape.len()
            && shape.chars().zip(&characters[at..]).all(|(want, c)| {
                if want == 'd' {
                    c.is_ascii_digit()
                } else {
                    want == *c
                }
            })
    };
    let mut result = String::new();
    let mut at = 0;
    while at < characters.len() {
        if is_time(at) {
            result.push_str("<time>");
            at += shape.len();
        } else {
            result.push(characters[at]);
            at += 1;
        }
    }
    result
}
