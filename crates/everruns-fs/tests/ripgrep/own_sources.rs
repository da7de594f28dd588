//! The sources of this very project, as a real tree.

use std::path::Path;

use everruns_core::file_system::GrepQuery;

use crate::ours::Ours;
use crate::rg;

/// How often a comparison is made anew when somebody edits the sources meanwhile.
const ATTEMPTS: usize = 5;

macro_rules! same {
    ($ours:expr, $theirs:expr) => {
        let mut attempt = 1;
        loop {
            let (ours, theirs) = ($ours, $theirs);
            if ours == theirs {
                assert!(!ours.is_empty(), "nothing was found");
                break;
            }
            if attempt == ATTEMPTS {
                let only_ours: Vec<_> = ours.difference(&theirs).take(5).collect();
                let only_theirs: Vec<_> = theirs.difference(&ours).take(5).collect();
                panic!("only ours: {only_ours:#?}, only theirs: {only_theirs:#?}");
            }
            attempt += 1;
        }
    };
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn searches_of_our_own_sources_find_what_rg_finds() {
    if !rg::is_there() {
        return;
    }
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let locks = tempfile::tempdir().unwrap();
    let ours = |hidden| Ours {
        root,
        locks: locks.path(),
        folder: ".",
        honour_ignores: true,
        hidden,
    };
    // Nothing above the project is asked by us, nor may it be by `rg`.
    let alone = "--no-ignore-parent";
    same!(ours(false).files("**").await, rg::files(root, &[alone]));
    same!(
        ours(true).files("*.rs").await,
        rg::files(
            root,
            &[alone, "--hidden", "--type-add", "x:*.rs", "-tx", "-g!.git"]
        )
    );
    for pattern in [
        "Precondition",
        "fn \\w+\\(&self",
        "^$",
        "\\bTODO\\b|expect\\(",
        "é|—|§|´",
    ] {
        same!(
            ours(false).lines(GrepQuery::new(pattern)).await,
            rg::lines(root, &[alone, "-e", pattern, "."])
        );
    }
    for (pattern, file_type) in [("fn \\w+", "rust"), ("^\\[", "toml"), ("file", "md")] {
        same!(
            ours(false).counts(pattern, file_type).await,
            rg::counts(root, &[alone, "--type", file_type, "-e", pattern, "."])
        );
    }
    let mut context = GrepQuery::new("LastLink");
    context.context = 3;
    context.ignore_case = true;
    same!(
        ours(false).lines(context.clone()).await,
        rg::lines(root, &[alone, "-i", "-C3", "LastLink", "."])
    );
    let mut multiline = GrepQuery::new("impl [^{]*\\{\\n    fn");
    multiline.multiline = true;
    same!(
        ours(false).lines(multiline.clone()).await,
        rg::lines(root, &[alone, "-U", "-e", "impl [^{]*\\{\\n    fn", "."])
    );
}
