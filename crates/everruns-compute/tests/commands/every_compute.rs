//! What holds of every compute, confined or not.

use std::time::{Duration, Instant};

use bytes::Bytes;
use everruns_compute::HostCompute;
use everruns_core::compute::{
    CommandEnd, CommandRequest, Compute as _, ComputeError, ComputeIsolation,
};
use everruns_core::path::WorkspacePath;

use crate::support::{computes, gone, is_running, run, sh, succeeded, text};

#[tokio::test]
async fn output_exit_code_signal_and_input_come_back() {
    let head = tempfile::tempdir().unwrap();
    for compute in computes(head.path()) {
        let outcome = run(&*compute, "echo out; echo err >&2; exit 3").await;
        assert_eq!(outcome.end, CommandEnd::Exited(3), "{}", compute.name());
        assert_eq!(
            (text(&outcome.stdout), text(&outcome.stderr)),
            ("out\n".into(), "err\n".into())
        );
        assert!(!outcome.truncated);

        assert_eq!(
            run(&*compute, "kill -9 $$").await.end,
            CommandEnd::Signalled(9)
        );

        let mut request = sh("cat");
        request.input = Bytes::from("y".repeat(300_000));
        request.output_limit = 1_000_000;
        assert_eq!(compute.run(request).await.unwrap().stdout.len(), 300_000);

        let mut unread = sh("exec true");
        unread.input = Bytes::from("y".repeat(300_000));
        assert!(succeeded(&compute.run(unread).await.unwrap()));
    }
}

/// Proves C24: nothing is claimed for plain processes.
#[test]
fn c24_plain_processes_claim_no_isolation() {
    let compute = HostCompute::in_folder("/");
    assert_eq!(compute.isolation(), ComputeIsolation::default());
    assert!(!compute.isolation().writes_confined);
}

#[tokio::test]
async fn h82_the_environment_is_scrubbed() {
    let head = tempfile::tempdir().unwrap();
    for compute in computes(head.path()) {
        let mut request = sh("env");
        request
            .environment
            .insert("RUST_LOG".into(), "debug".into());
        let outcome = compute.run(request).await.unwrap();
        let seen = text(&outcome.stdout);
        let mut names: Vec<_> = seen
            .lines()
            .filter_map(|line| Some(line.split_once('=')?.0))
            .collect();
        names.sort_unstable();
        names.retain(|name| !matches!(*name, "PWD" | "SHLVL" | "OLDPWD" | "_"));
        assert_eq!(
            names,
            [
                "EVERRUNS_COMMAND",
                "HOME",
                "LANG",
                "PATH",
                "RUST_LOG",
                "TERM",
                "TMPDIR"
            ],
            "{}",
            compute.name()
        );

        let mut request = sh("touch ran");
        request
            .environment
            .insert("GIT_SSH_COMMAND".into(), "evil".into());
        let refused = compute.run(request).await;
        assert!(
            matches!(refused, Err(ComputeError::VariableRefused { name }) if name == "GIT_SSH_COMMAND")
        );
        assert!(!head.path().join("ran").exists());
    }
}

#[tokio::test]
async fn the_private_folder_is_deleted_behind_the_command() {
    let head = tempfile::tempdir().unwrap();
    for compute in computes(head.path()) {
        let outcome = run(&*compute, "echo x > $HOME/a && echo $HOME").await;
        assert!(succeeded(&outcome), "{}", text(&outcome.stderr));
        assert!(!std::path::Path::new(text(&outcome.stdout).trim()).exists());
    }
}

#[tokio::test]
async fn h86_endless_output_is_bounded_and_says_so() {
    let head = tempfile::tempdir().unwrap();
    for compute in computes(head.path()) {
        let mut request = sh("yes; true");
        request.timeout = Duration::from_millis(300);
        request.output_limit = 1_000;
        let outcome = compute.run(request).await.unwrap();
        assert_eq!(
            (outcome.end, outcome.stdout.len(), outcome.truncated),
            (CommandEnd::TimedOut, 1_000, true)
        );
    }
}

#[tokio::test]
async fn h86_a_time_limit_ends_children_in_other_groups_and_sessions_too() {
    let head = tempfile::tempdir().unwrap();
    for (number, compute) in computes(head.path()).into_iter().enumerate() {
        let (plain, session) = (format!("86400.1{number}"), format!("86400.2{number}"));
        let mut request = sh(&format!(
            "sleep {plain} & setsid setsid sleep {session} & wait"
        ));
        request.timeout = Duration::from_millis(400);
        let begin = Instant::now();
        let outcome = compute.run(request).await.unwrap();
        assert_eq!(outcome.end, CommandEnd::TimedOut);
        assert!(begin.elapsed() < Duration::from_secs(5));
        assert!(
            gone(&plain).await && gone(&session).await,
            "{}",
            compute.name()
        );
    }
}

#[tokio::test]
async fn h86_children_in_the_background_end_with_their_command() {
    let head = tempfile::tempdir().unwrap();
    for (number, compute) in computes(head.path()).into_iter().enumerate() {
        let length = format!("86400.3{number}");
        let begin = Instant::now();
        let outcome = run(
            &*compute,
            &format!("sleep {length} & setsid sleep {length} & echo started"),
        )
        .await;
        assert_eq!(text(&outcome.stdout), "started\n");
        assert!(begin.elapsed() < Duration::from_secs(5));
        assert!(gone(&length).await, "{}", compute.name());
    }
}

#[tokio::test]
async fn dropping_the_future_ends_the_command_and_its_children() {
    let head = tempfile::tempdir().unwrap();
    for (number, compute) in computes(head.path()).into_iter().enumerate() {
        let length = format!("86400.4{number}");
        let request = sh(&format!("setsid sleep {length} & sleep {length}"));
        let mut running = compute.run(request);
        let seen = async {
            while !is_running(&length) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::select! {
            ended = &mut running => panic!("it ended: {ended:?}"),
            () = seen => {}
            () = tokio::time::sleep(Duration::from_secs(10)) => panic!("it did not start"),
        }
        drop(running);
        assert!(gone(&length).await, "{}", compute.name());
    }
}

#[tokio::test]
async fn h81_the_working_folder_is_in_the_head() {
    let head = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(head.path().join("a/b")).unwrap();
    std::fs::create_dir_all(head.path().join(".git/x")).unwrap();
    std::fs::write(head.path().join("file"), "").unwrap();
    std::os::unix::fs::symlink("/etc", head.path().join("out")).unwrap();
    std::os::unix::fs::symlink("a/b", head.path().join("in")).unwrap();
    for compute in computes(head.path()) {
        for (folder, expected) in [
            ("a/b", true),
            ("in", true),
            ("out", false),
            ("file", false),
            ("missing", false),
        ] {
            let mut request = sh("pwd -P");
            request.working_folder = WorkspacePath::parse(folder).unwrap();
            match compute.run(request).await {
                Ok(outcome) => {
                    assert!(expected, "{folder}");
                    assert!(
                        text(&outcome.stdout).trim().ends_with("/a/b"),
                        "{outcome:?}"
                    );
                }
                Err(ComputeError::WorkingFolder { .. }) => assert!(!expected, "{folder}"),
                Err(other) => panic!("{folder}: {other}"),
            }
        }
    }
}

#[tokio::test]
async fn a_program_that_is_not_there_is_told_apart() {
    let head = tempfile::tempdir().unwrap();
    std::fs::write(head.path().join("plain"), "").unwrap();
    for compute in computes(head.path()) {
        for program in ["no-such-program", "", "./plain", "/usr"] {
            let outcome = compute.run(CommandRequest::new(program)).await;
            assert!(
                matches!(outcome, Err(ComputeError::ProgramNotFound { .. })),
                "{program}"
            );
        }
    }
}
