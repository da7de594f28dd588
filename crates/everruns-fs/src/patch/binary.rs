//! Contents that are no text, in the form that `git apply` takes.

use std::io;

use zlib_rs::{DeflateConfig, ReturnCode, compress_bound, compress_slice};

/// The digits of Git's base 85.
const DIGITS: &[u8; 85] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
/// How many bytes a line holds.
const LINE: usize = 52;

/// Appends the change from `old` to `new`, which can be applied either way.
pub(super) fn push(out: &mut Vec<u8>, old: &[u8], new: &[u8]) -> io::Result<()> {
    out.extend_from_slice(b"GIT binary patch\n");
    literal(out, new)?;
    literal(out, old)
}

fn literal(out: &mut Vec<u8>, content: &[u8]) -> io::Result<()> {
    let compressed = compress(content)?;
    out.extend_from_slice(format!("literal {}\n", content.len()).as_bytes());
    for line in compressed.chunks(LINE) {
        let length = u8::try_from(line.len()).unwrap_or(0);
        out.push(if length <= 26 {
            b'A' + length - 1
        } else {
            b'a' + length - 27
        });
        for group in line.chunks(4) {
            let mut bytes = [0; 4];
            bytes[..group.len()].copy_from_slice(group);
            push_digits(out, u32::from_be_bytes(bytes));
        }
        out.push(b'\n');
    }
    out.push(b'\n');
    Ok(())
}

fn compress(content: &[u8]) -> io::Result<Vec<u8>> {
    let mut room = vec![0; compress_bound(content.len())];
    let (compressed, code) = compress_slice(&mut room, content, DeflateConfig::default());
    let length = compressed.len();
    if code != ReturnCode::Ok {
        return Err(io::Error::other(format!(
            "the content could not be compressed: {code:?}"
        )));
    }
    room.truncate(length);
    Ok(room)
}

/// Five digits, the most significant first.
fn push_digits(out: &mut Vec<u8>, mut value: u32) {
    let mut digits = [0; 5];
    for digit in digits.iter_mut().rev() {
        *digit = DIGITS[(value % 85) as usize];
        value /= 85;
    }
    out.extend_from_slice(&digits);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_and_lengths_are_those_of_git() {
        let mut out = Vec::new();
        push_digits(&mut out, u32::MAX);
        push_digits(&mut out, 0);
        assert_eq!(out, b"|NsC000000");
        out.clear();
        literal(&mut out, b"").unwrap();
        // Eight bytes of an empty stream in one line.
        assert!(out.starts_with(b"literal 0\nH"), "{out:?}");
        assert!(out.ends_with(b"\n\n"), "{out:?}");
    }
}
