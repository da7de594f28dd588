//! Fixtures are real repositories, and snapshots see what they should.

use everruns_testkit::git::GitFixture;

#[test]
fn the_same_steps_give_the_same_ids() {
    let (one, two) = (GitFixture::sample(), GitFixture::sample());
    assert_eq!(one.id_of("main"), two.id_of("main"));
    assert_ne!(one.id_of("main"), one.id_of("other"));
    assert_eq!(one.git(&["status", "--porcelain"]).text(), "");
    assert_eq!(GitFixture::empty_sha256().commit_all("First").len(), 64);
}

#[test]
fn a_dirty_fixture_has_every_state() {
    let fixture = GitFixture::sample();
    fixture.make_dirty();
    let status = fixture.git(&["status", "--porcelain", "--ignored"]).text();
    for line in [
        " M README.md",
        " D empty",
        "R  data.bin -> moved.bin",
        " M src/deep/er/module.rs",
        "MM src/lib.rs",
        "A  staged.txt",
        "?? untracked/",
        "!! ignored.log",
    ] {
        assert!(
            status.lines().any(|found| found == line),
            "{line} is not in:\n{status}"
        );
    }
    let conflicted = GitFixture::sample();
    conflicted.make_conflicted();
    let status = conflicted.git(&["status", "--porcelain"]).text();
    assert!(status.contains("UU README.md"), "{status}");
}

/// A change of the user's repository, and a path at which a snapshot must see it.
type Change = (&'static str, fn(&GitFixture));

const CHANGES: [Change; 8] = [
    (".git/config", |fixture| {
        fixture.git(&["config", "user.name", "Someone"]);
    }),
    ("README.md", |fixture| fixture.write("README.md", "changed")),
    ("README.md", |fixture| {
        fixture.write_executable("README.md", "# Sample\n\nA project for tests.\n");
    }),
    ("empty", |fixture| fixture.remove("empty")),
    (".git/index", |fixture| {
        fixture.write("new", "new");
        fixture.git(&["add", "-A"]);
    }),
    (".git/refs/heads/new", |fixture| fixture.branch("new")),
    (".git/hooks/pre-commit", |fixture| {
        fixture.write_executable(".git/hooks/pre-commit", "exit 1");
    }),
    (".git/HEAD", |fixture| {
        fixture.git(&["symbolic-ref", "HEAD", "refs/heads/other"]);
    }),
];

#[test]
fn h30_snapshots_see_every_change_of_the_users() {
    for (path, change) in CHANGES {
        let fixture = GitFixture::sample();
        let before = fixture.snapshot();
        before.assert_unchanged(&fixture.snapshot());
        change(&fixture);
        let differences = before.differences(&fixture.snapshot());
        let seen = differences.iter().any(|line| line.starts_with(path));
        assert!(seen, "a change of {path} is not seen: {differences:?}");
    }
}

#[test]
fn h30_snapshots_leave_out_what_is_ours() {
    let fixture = GitFixture::sample();
    let before = fixture.snapshot();
    let worktree = fixture.beside("worktree");
    let worktree = worktree.to_str().unwrap();
    fixture.git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "everruns/mine-1",
        worktree,
        "main",
    ]);
    fixture.git(&[
        "update-ref",
        "refs/everruns/heads/mine/checkpoints/1",
        "main",
    ]);
    before.assert_unchanged(&fixture.snapshot());
}
