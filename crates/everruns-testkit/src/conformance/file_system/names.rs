use everruns_core::file_system::{Precondition, Removal, Replace};

use super::Subject;
use super::subject::path;
use crate::check::CheckResult;

const SPECIAL: [&str; 20] = [
    "new\nline",
    "tab\tand\rreturn",
    "\u{1b}[31mred",
    "bidi\u{202e}txt.exe",
    "日本語",
    "👩‍👩‍👧",
    " leading and trailing ",
    "dots...",
    "-rf",
    "--output=x",
    "*?[a]{b,c}",
    "quote'\"`$(x)",
    "back\\slash",
    "#hash!",
    "%41%00",
    "a:b",
    "~",
    "nul.txt",
    ".hidden",
    "…",
];

/// Proves H41
pub(super) async fn special_names_are_kept_exactly(subject: Subject) -> CheckResult {
    for name in SPECIAL {
        subject
            .write(&format!("names/{name}"), name.as_bytes())
            .await?;
    }
    let mut expected = SPECIAL.map(str::to_owned);
    expected.sort_unstable();
    ensure_eq!(subject.names("names").await?, expected, "the names");
    for name in SPECIAL {
        let (old, new) = (format!("names/{name}"), format!("{name}/{name}"));
        let content = subject.read(&old).await?;
        ensure_eq!(content.as_ref(), name.as_bytes(), "the content of {name:?}");
        subject
            .fs
            .rename(&path(&old)?, &path(&format!("in/{new}"))?, Replace::Never)
            .await?;
        ensure_eq!(
            subject.names(&format!("in/{name}")).await?,
            [name],
            "the folder {name:?}"
        );
        subject
            .fs
            .remove(
                &path(&format!("in/{new}"))?,
                Removal::Entry,
                Precondition::Any,
            )
            .await?;
    }
    ensure!(
        subject.names("names").await?.is_empty(),
        "names are left over"
    );
    Ok(())
}

pub(super) async fn normalisation_twins_are_distinct(subject: Subject) -> CheckResult {
    if !subject.options.distinguishes_normalisation {
        return Ok(());
    }
    let (composed, decomposed) = ("f/\u{e9}", "f/e\u{301}");
    subject.write(composed, b"composed").await?;
    subject.write(decomposed, b"decomposed").await?;
    ensure_eq!(
        subject.read(composed).await?.as_ref(),
        b"composed",
        "the composed name"
    );
    ensure_eq!(subject.names("f").await?.len(), 2, "the names");
    Ok(())
}

/// A name of the full length leaves no room for a suffix of a temporary file beside it.
pub(super) async fn the_longest_name(subject: Subject) -> CheckResult {
    for name in ["n".repeat(255), "é".repeat(127)] {
        subject.write(&name, b"1").await?;
        subject.write(&name, b"2").await?;
        ensure_eq!(
            subject.read(&name).await?.as_ref(),
            b"2",
            "a name of {} bytes",
            name.len()
        );
    }
    Ok(())
}
