//! What a policy says about paths.

use everruns_core::file_system::{FileAccess, FileSystemError};
use everruns_core::path::WorkspacePath;
use everruns_fs::{PolicyError, WorkspacePolicy, WorkspacePolicyBuilder};
use proptest::prelude::*;

use crate::support::path;

fn build(builder: WorkspacePolicyBuilder) -> WorkspacePolicy {
    builder.build().unwrap()
}

#[test]
fn c20_presets() {
    let (read, write) = (WorkspacePolicy::read_only(), WorkspacePolicy::read_write());
    for text in [
        "src/lib.rs",
        ".gitignore",
        ".github/workflows/ci.yml",
        "/roots/docs/a.md",
        ".env.example",
        ".",
    ] {
        let path = path(text);
        assert!(
            read.permits_read(&path) && !read.permits_write(&path),
            "{text}"
        );
        assert!(
            write.permits_read(&path) && write.permits_write(&path),
            "{text}"
        );
    }
    assert!(!WorkspacePolicy::default().permits_write(&path("a")));
    assert!(!write.permits_recursive_delete());
    assert!(
        !WorkspacePolicy::builder()
            .build()
            .unwrap()
            .permits_read(&path("a"))
    );
}

#[test]
fn h40_git_is_denied_in_every_spelling_by_every_policy() {
    let everything = build(
        WorkspacePolicy::builder()
            .allow_write("**")
            .allow_write(".git/**")
            .allow_hidden(true)
            .allow_sensitive(true),
    );
    for policy in [everything, WorkspacePolicy::read_write()] {
        for text in [
            ".git",
            ".git/config",
            "a/.GIT/x",
            "git~1",
            ".git::$DATA",
            ".g\u{200d}it",
            ".git. ",
        ] {
            let path = path(text);
            assert!(
                !policy.permits_read(&path) && !policy.permits_list(&path),
                "{text}"
            );
            let refused = policy.check_write(&path);
            assert!(
                matches!(refused, Err(FileSystemError::GitInternal { .. })),
                "{text}"
            );
        }
        assert!(policy.permits_write(&path(".gitmodules")));
    }
}

#[test]
fn c20_denies_win_and_take_all_below() {
    let policy = build(
        WorkspacePolicy::builder()
            .allow_write("**")
            .allow_read("secret/public.md")
            .deny_read("secret")
            .deny_write("*.lock")
            .deny_write("**/generated"),
    );
    for text in ["secret", "secret/public.md", "secret/a/b"] {
        assert!(
            !policy.permits_read(&path(text)) && !policy.permits_write(&path(text)),
            "{text}"
        );
    }
    for text in [
        "Cargo.lock",
        "generated",
        "a/generated/b",
        "/roots/docs/generated/x",
    ] {
        assert!(
            policy.permits_read(&path(text)) && !policy.permits_write(&path(text)),
            "{text}"
        );
    }
    // `*` stops at a separator, and only `**` reaches the roots.
    assert!(policy.permits_write(&path("a/Cargo.lock")));
    assert!(policy.permits_write(&path("/roots/docs/Cargo.lock")));
    assert!(policy.permits_read(&path("secrets")));
}

#[test]
fn c20_write_needs_read() {
    let policy = build(
        WorkspacePolicy::builder()
            .allow_write("src")
            .deny_read("src/private/**"),
    );
    assert!(policy.permits_read(&path("src/a")) && policy.permits_write(&path("src/a")));
    assert!(!policy.permits_write(&path("src/private/a")));
    assert!(!policy.permits_read(&path("other")));
}

#[test]
fn c20_sensitive_and_hidden_files() {
    let policy = WorkspacePolicy::read_write();
    let open = build(
        WorkspacePolicy::builder()
            .allow_write("**")
            .allow_sensitive(true),
    );
    let plain = build(
        WorkspacePolicy::builder()
            .allow_write("**")
            .allow_hidden(false),
    );
    for text in [
        ".env",
        "a/.env.local",
        "tls/server.pem",
        "id_rsa",
        ".ssh/known_hosts",
        ".netrc",
    ] {
        assert!(!policy.permits_read(&path(text)), "{text}");
        assert!(open.permits_write(&path(text)), "{text}");
    }
    for text in [".gitignore", ".github/x", "a/.b/c"] {
        assert!(policy.permits_write(&path(text)), "{text}");
        assert!(!plain.permits_read(&path(text)), "{text}");
    }
}

#[test]
fn c20_build_folders_are_read_only_when_asked_for() {
    let policy = build(
        WorkspacePolicy::builder()
            .allow_write("**")
            .allow_write("target/**")
            .protect_build_folders(true),
    );
    for text in [
        "target",
        "target/debug/app",
        "web/node_modules/x/index.js",
        "/roots/docs/build/a",
    ] {
        let path = path(text);
        assert!(
            policy.permits_read(&path) && !policy.permits_write(&path),
            "{text}"
        );
        assert!(WorkspacePolicy::read_write().permits_write(&path), "{text}");
        let rule = policy.explain(&path, FileAccess::Write).rule;
        assert!(rule.contains("protect_build_folders"), "{rule}");
    }
    assert!(policy.permits_write(&path("src/target.rs")));
    let composed = WorkspacePolicy::read_write().compose(&policy);
    assert!(!composed.permits_write(&path("target/x")));
}

/// Every kind of refusal names what decided, so that a person can change it.
#[test]
fn c20_every_explanation_names_its_rule() {
    let policy = build(
        WorkspacePolicy::builder()
            .allow_read("docs")
            .allow_write("src")
            .deny_read("src/secret")
            .deny_write("src/*.lock")
            .allow_hidden(false)
            .protect_build_folders(true),
    );
    for (text, access, name) in [
        (".git/config", FileAccess::Read, "Git's own folder"),
        ("src/server.pem", FileAccess::Read, "allow_sensitive"),
        ("src/.hidden", FileAccess::Read, "allow_hidden"),
        (
            "src/target/x",
            FileAccess::Write,
            "`target` is not written by hand (protect_build_folders)",
        ),
        ("src/secret/x", FileAccess::Write, "deny_read `src/secret`"),
        ("src/a.lock", FileAccess::Write, "deny_write `src/*.lock`"),
        ("docs/a", FileAccess::Write, "no allow_write rule matches"),
        ("other", FileAccess::Read, "no allow_read rule matches"),
        ("docs/a", FileAccess::Read, "allowed to read by `docs`"),
        ("src/a", FileAccess::Write, "allowed to write by `src`"),
    ] {
        let decision = policy.explain(&path(text), access);
        assert!(decision.rule.contains(name), "{text}: {}", decision.rule);
        assert_eq!(decision.allowed, name.starts_with("allowed to"), "{text}");
    }
}

/// Proves H04 for policies: one path has one answer, however it is spelled.
#[test]
fn h04_spellings_of_a_path_and_of_a_glob_are_one() {
    for glob in [
        "src/private/**",
        "/workspace/src/private/**",
        "./src/private/**",
    ] {
        let policy = build(WorkspacePolicy::builder().allow_read("**").deny_read(glob));
        for text in [
            "src//./private/a",
            "/workspace/src/private/a",
            "src/private/a/",
        ] {
            assert!(!policy.permits_read(&path(text)), "{glob} {text}");
        }
    }
}

#[test]
fn c20_roots_have_globs_of_their_own() {
    let policy = build(
        WorkspacePolicy::builder()
            .allow_read("/roots/docs")
            .allow_read("/workspace"),
    );
    assert!(policy.permits_read(&path("/roots/docs/a/b")));
    assert!(!policy.permits_read(&path("/roots/docs2/a")));
    assert!(!policy.permits_read(&path("/roots/other/a")));
    assert!(policy.permits_read(&path("deep/in/head")));
}

#[test]
fn folders_on_the_way_to_what_is_allowed_may_be_listed() {
    let policy = build(
        WorkspacePolicy::builder()
            .allow_read("a/b/*.md")
            .deny_read("a/b/hidden"),
    );
    for text in [".", "a", "a/b"] {
        assert!(policy.permits_list(&path(text)), "{text}");
        assert!(!policy.permits_read(&path(text)), "{text}");
    }
    for text in ["a/b/c", "b", "a/c", "a/b/hidden"] {
        assert!(!policy.permits_list(&path(text)), "{text}");
    }
    let deep = build(WorkspacePolicy::builder().allow_read("src/**/*.rs"));
    assert!(deep.permits_list(&path("src/any/depth")) && !deep.permits_list(&path("doc")));
}

#[test]
fn refusals_name_their_rule() {
    let policy = build(
        WorkspacePolicy::builder()
            .allow_read("**")
            .deny_read("x/**"),
    );
    let rule = |text, access| policy.explain(&path(text), access).rule;
    assert_eq!(rule("x/y", FileAccess::Read), "deny_read `x/**`");
    assert_eq!(rule("y", FileAccess::Write), "no allow_write rule matches");
    assert_eq!(rule("y", FileAccess::Read), "allowed to read by `**`");
    assert!(rule(".env", FileAccess::Read).contains("allow_sensitive"));
    let error = policy.check_read(&path("x/y")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the policy does not allow to read /workspace/x/y: deny_read `x/**`"
    );
}

#[test]
fn globs_that_cannot_be_used_are_refused() {
    let refused = |glob: &str| {
        WorkspacePolicy::builder()
            .allow_read(glob)
            .build()
            .unwrap_err()
    };
    for glob in ["[", "a{b", "**/{x"] {
        assert!(
            matches!(refused(glob), PolicyError::InvalidGlob { .. }),
            "{glob}"
        );
    }
    for glob in ["", "/etc/**", "../x", "a/../b", "/"] {
        assert!(
            matches!(refused(glob), PolicyError::OutsideNamespace { .. }),
            "{glob}"
        );
    }
}

/// Such a denial would hide a folder of which all that is in it is shown.
#[test]
fn a_denial_that_matches_an_empty_name_is_refused() {
    for glob in ["{}", "**/{}", "/workspace/{}"] {
        let denied = WorkspacePolicy::builder().deny_read(glob).build();
        assert!(
            matches!(denied, Err(PolicyError::OutsideNamespace { .. })),
            "{glob}"
        );
    }
    for glob in ["*", "**", "{a,b}", "{,a}*", "**/*"] {
        assert!(
            WorkspacePolicy::builder().deny_read(glob).build().is_ok(),
            "{glob}"
        );
    }
}

pub(crate) fn any_glob() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "a", "b", "*", "**", "a*", ".env", ".x", "?", "[ab]", "{a,b}", "x.pem",
    ]);
    let prefix = prop::sample::select(vec!["", "", "/workspace/", "/roots/r/", "/roots/*/", "./"]);
    (prefix, prop::collection::vec(part, 1..4))
        .prop_map(|(prefix, parts)| prefix.to_owned() + &parts.join("/"))
}

pub(crate) fn any_path() -> impl Strategy<Value = WorkspacePath> {
    let part = prop::sample::select(vec![
        "a", "b", "ab", ".env", ".x", "x.pem", ".git", "target",
    ]);
    let prefix = prop::sample::select(vec!["", "/roots/r/", "/roots/s/"]);
    (prefix, prop::collection::vec(part, 0..4)).prop_map(|(prefix, parts)| {
        let text = prefix.to_owned() + &parts.join("/");
        path(if text.is_empty() { "." } else { &text })
    })
}

pub(crate) fn any_policy() -> impl Strategy<Value = WorkspacePolicy> {
    let globs = || prop::collection::vec(any_glob(), 0..3);
    (globs(), globs(), globs(), globs(), any::<[bool; 4]>()).prop_map(
        |(reads, writes, no_reads, no_writes, [hidden, sensitive, builds, recursive])| {
            let mut builder = WorkspacePolicy::builder()
                .allow_hidden(hidden)
                .allow_sensitive(sensitive)
                .protect_build_folders(builds)
                .allow_recursive_delete(recursive);
            for glob in reads {
                builder = builder.allow_read(glob);
            }
            for glob in writes {
                builder = builder.allow_write(glob);
            }
            for glob in no_reads {
                builder = builder.deny_read(glob);
            }
            for glob in no_writes {
                builder = builder.deny_write(glob);
            }
            build(builder)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    /// Proves C20: a composed policy permits exactly what both permit.
    #[test]
    fn c20_composing_only_narrows(
        one in any_policy(),
        two in any_policy(),
        paths in prop::collection::vec(any_path(), 8),
    ) {
        let both = one.compose(&two);
        for path in &paths {
            prop_assert_eq!(both.permits_read(path), one.permits_read(path) && two.permits_read(path));
            prop_assert_eq!(both.permits_write(path), one.permits_write(path) && two.permits_write(path));
            prop_assert_eq!(both.permits_list(path), one.permits_list(path) && two.permits_list(path));
        }
        prop_assert_eq!(
            both.permits_recursive_delete(),
            one.permits_recursive_delete() && two.permits_recursive_delete()
        );
        prop_assert_eq!(one.compose(&one).permits_read(&paths[0]), one.permits_read(&paths[0]));
    }

    /// Proves C20: whoever may write may read, whoever may see something may get there, and checks say the same.
    #[test]
    fn c20_answers_agree(policy in any_policy(), path in any_path()) {
        let (reads, writes) = (policy.permits_read(&path), policy.permits_write(&path));
        prop_assert!(reads || !writes);
        prop_assert_eq!(policy.check_read(&path).is_ok(), reads);
        prop_assert_eq!(policy.check_write(&path).is_ok(), writes);
        prop_assert_eq!(policy.explain(&path, FileAccess::Write).allowed, writes);
        if path.is_git_internal() {
            prop_assert!(!reads);
        }
        if reads {
            let mut folder = path.parent();
            while let Some(above) = folder {
                prop_assert!(policy.permits_list(&above), "{above} above {path}");
                folder = above.parent();
            }
        }
    }
}
