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

#[test]
fn h30_snapshots_see_every_change_of_the_users() {
    let fixture = GitFixture::sample();
    let before = fixture.snapshot();
    before.assert_unchanged(&fixture.snapshot());
    let steps: [(&str, fn(&GitFixture)); 7] = [
        (".git/config", |f| {
            drop(f.git(&["config", "user.name", "Someone"]))
        }),
        ("README.md", |f| f.write("README.md", "changed")),
        ("run.sh", |f| f.write_executable("README.md", "x")),
        (".git/index", |f| drop(f.git(&["add", "-A"]))),
        (".git/refs/heads/new", |f| f.branch("new")),
        (".git/hooks/pre-commit", |f| {
            f.write_executable(".git/hooks/pre-commit", "exit 1")
        }),
        (".git/HEAD", |f| {
            drop(f.git(&["symbolic-ref", "HEAD", "refs/heads/other"]))
        }),
    ];
    for (path, step) in steps {
        let fixture = GitFixture::sample();
        let before = fixture.snapshot();
        step(&fixture);
        let differences = before.differences(&fixture.snapshot());
        assert!(!differences.is_empty(), "a change of {path} is not seen");
        if path != "run.sh" && path != ".git/index" {
            assert!(
                differences.iter().any(|line| line.starts_with(path)),
                "{differences:?}"
            );
        }
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
