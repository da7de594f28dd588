//! What the kernel denies to confined commands.

use std::path::Path;

use everruns_compute::LandlockCompute;
use everruns_core::compute::{Compute as _, ComputeError, ComputeIsolation};

use crate::support::{run, succeeded, text};

/// A confined compute, or none where the host can't confine.
pub(crate) fn confined(head: &Path) -> Option<LandlockCompute> {
    match LandlockCompute::in_folder(head).build() {
        Ok(compute) => Some(compute),
        Err(ComputeError::IsolationUnavailable { missing }) => {
            eprintln!("not tested here, the host has no {missing}");
            None
        }
        Err(other) => panic!("{other}"),
    }
}

/// A head as Git lays it out, with a folder beside it that is not ours.
fn layout() -> (tempfile::TempDir, std::path::PathBuf, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let (head, outside) = (folder.path().join("head"), folder.path().join("outside"));
    std::fs::create_dir_all(head.join("src")).unwrap();
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(head.join(".git"), "gitdir: /somewhere\n").unwrap();
    std::fs::write(head.join("src/lib.rs"), "one").unwrap();
    std::fs::write(head.join("readme"), "one").unwrap();
    std::fs::write(outside.join("secret"), "secret").unwrap();
    (folder, head, outside)
}

/// Proves C24: what is claimed is what the kernel does.
#[tokio::test]
async fn c24_h80_writes_outside_the_head_are_denied_by_the_kernel() {
    let (_folder, head, outside) = layout();
    let Some(compute) = confined(&head) else {
        return;
    };
    assert!(compute.isolation().writes_confined);
    let secret = outside.join("secret");
    let secret = secret.display();
    let other = outside.display();
    for script in [
        format!("echo x > {other}/new"),
        format!("echo x > {secret}"),
        format!("truncate -s 0 {secret}"),
        format!("rm {secret}"),
        format!("mv {secret} src/"),
        format!("ln {secret} src/hard"),
        format!("ln -s {other} src/link && echo x > src/link/new"),
        format!("mkdir {other}/folder"),
        "echo x > /tmp/everruns-outside".into(),
        "echo x > /etc/everruns-outside".into(),
        "echo x > /dev/shm/everruns-outside".into(),
    ] {
        let outcome = run(&compute, &script).await;
        assert!(!succeeded(&outcome), "{script}");
        let said = text(&outcome.stderr);
        assert!(
            said.contains("ermission denied") || said.contains("ross-device"),
            "{script}: {said}"
        );
    }
    assert_eq!(std::fs::read(outside.join("secret")).unwrap(), b"secret");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
}

#[tokio::test]
async fn h80_the_git_file_can_be_neither_changed_nor_replaced() {
    let (_folder, head, _outside) = layout();
    let Some(compute) = confined(&head) else {
        return;
    };
    for script in [
        "echo evil > .git",
        "rm .git",
        "mv .git src/",
        "ln .git src/git && echo evil > src/git",
        "mkdir src/repository && mv src/repository .git",
        "echo x > src/new && mv src/new .git",
        "mv src .git",
        "mkdir .Git",
        "truncate -s 0 .git",
        "ln -s src .gitx",
    ] {
        assert!(!succeeded(&run(&compute, script).await), "{script}");
    }
    assert_eq!(
        std::fs::read(head.join(".git")).unwrap(),
        b"gitdir: /somewhere\n"
    );
}

#[tokio::test]
async fn the_head_can_be_worked_in() {
    let (_folder, head, _outside) = layout();
    let built = LandlockCompute::in_folder(&head).folder("target").build();
    let Ok(compute) = built else { return };
    let script = "echo two > src/lib.rs && mkdir -p src/deep/er target/debug && echo x > target/debug/x \
        && mv target/debug/x src/deep/er/y && rm -r target/debug && echo two > readme && cat .git && ls -a . && echo x > /dev/null";
    let outcome = run(&compute, script).await;
    assert!(succeeded(&outcome), "{}", text(&outcome.stderr));
    assert_eq!(std::fs::read(head.join("src/deep/er/y")).unwrap(), b"x\n");
    assert_eq!(std::fs::read(head.join("readme")).unwrap(), b"two\n");
    assert!(!succeeded(&run(&compute, "echo x > new-at-the-top").await));

    for name in ["../x", ".git", "a/b", "", "/workspace"] {
        let refused = LandlockCompute::in_folder(&head).folder(name).build();
        assert!(
            matches!(refused, Err(ComputeError::WorkingFolder { .. })),
            "{name}"
        );
    }
}

#[tokio::test]
async fn the_whole_head_can_be_given_and_not_more() {
    let (_folder, head, outside) = layout();
    let Ok(compute) = LandlockCompute::in_folder(&head).whole_head().build() else {
        return;
    };
    assert!(succeeded(&run(&compute, "echo x > new-at-the-top").await));
    assert!(!succeeded(
        &run(&compute, &format!("echo x > {}/new", outside.display())).await
    ));
}

#[tokio::test]
async fn a_link_at_the_top_opens_nothing_outside() {
    let (_folder, head, outside) = layout();
    std::os::unix::fs::symlink(&outside, head.join("link")).unwrap();
    std::os::unix::fs::symlink(outside.join("secret"), head.join("file-link")).unwrap();
    let Some(compute) = confined(&head) else {
        return;
    };
    for script in [
        "echo x > link/new",
        "cat link/secret",
        "cat file-link",
        "echo x > file-link",
    ] {
        assert!(!succeeded(&run(&compute, script).await), "{script}");
    }
}

#[tokio::test]
async fn reads_outside_the_head_and_the_system_are_denied_by_the_kernel() {
    let (_folder, head, outside) = layout();
    let Some(compute) = confined(&head) else {
        return;
    };
    assert!(compute.isolation().reads_confined);
    let secret = outside.join("secret").display().to_string();
    for script in [
        format!("cat {secret}"),
        format!("ls {}", outside.display()),
        "ls /tmp".into(),
        "ls /root /home".into(),
        "cat /etc/shadow".into(),
        format!("tr '\\0' ' ' < /proc/{}/environ", std::process::id()),
    ] {
        assert!(!succeeded(&run(&compute, &script).await), "{script}");
    }
    let built = LandlockCompute::in_folder(&head)
        .readable(&outside)
        .build()
        .unwrap();
    assert_eq!(
        text(&run(&built, &format!("cat {secret}")).await.stdout),
        "secret"
    );
    assert!(!succeeded(
        &run(&built, &format!("echo x > {secret}")).await
    ));
}

/// Connects to a real listener, by TCP and by a local socket, and sends by UDP.
#[tokio::test]
async fn h84_the_network_is_denied_unless_it_is_allowed() {
    let (_folder, head, _outside) = layout();
    let Some(denied) = confined(&head) else {
        return;
    };
    let allowed = LandlockCompute::in_folder(&head)
        .allow_network()
        .build()
        .unwrap();
    assert!(denied.isolation().network_denied);
    let expected = ComputeIsolation {
        network_denied: false,
        ..denied.isolation()
    };
    assert_eq!(allowed.isolation(), expected);

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let local = head.join("src/socket");
    let _local = std::os::unix::net::UnixListener::bind(&local).unwrap();
    let connect = |kind: &str, what: &str| {
        format!("python3 -c 'import socket; socket.socket({kind}).{what}'")
    };
    let scripts = [
        connect(
            "socket.AF_INET, socket.SOCK_STREAM",
            &format!("connect((\"127.0.0.1\", {port}))"),
        ),
        connect(
            "socket.AF_INET, socket.SOCK_DGRAM",
            &format!("sendto(b\"x\", (\"127.0.0.1\", {port}))"),
        ),
        connect(
            "socket.AF_UNIX, socket.SOCK_STREAM",
            "connect(\"src/socket\")",
        ),
    ];
    if !succeeded(&run(&allowed, "python3 -c 'import socket'").await) {
        eprintln!("not tested here, the host has no python3");
        return;
    }
    for script in scripts {
        let outcome = run(&allowed, &script).await;
        assert!(succeeded(&outcome), "{script}: {}", text(&outcome.stderr));
        let outcome = run(&denied, &script).await;
        assert!(
            text(&outcome.stderr).contains("PermissionError"),
            "{script}: {}",
            text(&outcome.stderr)
        );
    }
}

#[tokio::test]
async fn h83_other_processes_cannot_be_signalled_and_the_sandbox_cannot_be_left() {
    let (_folder, head, _outside) = layout();
    let Some(compute) = confined(&head) else {
        return;
    };
    for script in [
        "unshare -Ur true",
        "mount -t tmpfs none src",
        "chroot . /bin/sh -c true",
    ] {
        let outcome = run(&compute, script).await;
        assert!(!succeeded(&outcome), "{script}");
    }
    let mut other = sleeper();
    let outcome = run(&compute, &format!("kill -9 {}", other.id())).await;
    let alive = other.try_wait().unwrap().is_none();
    other.kill().unwrap();
    other.wait().unwrap();
    if signals_have_a_scope() {
        assert!(alive && !succeeded(&outcome));
    } else {
        eprintln!("not tested here, signals have a scope from Linux 6.12 on");
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a process that is not a command of a head"
)]
fn sleeper() -> std::process::Child {
    std::process::Command::new("sleep")
        .arg("60")
        .spawn()
        .unwrap()
}

/// The restrictions are those of one thread; the next command of the other compute is free of them.
#[tokio::test]
async fn our_own_process_stays_free() {
    let (_folder, head, outside) = layout();
    let Some(compute) = confined(&head) else {
        return;
    };
    run(&compute, "true").await;
    std::fs::write(outside.join("ours"), "x").unwrap();
    let host = everruns_compute::HostCompute::in_folder(&head);
    assert!(succeeded(
        &run(&host, &format!("rm {}/ours", outside.display())).await
    ));
}

fn signals_have_a_scope() -> bool {
    let release = std::fs::read("/proc/sys/kernel/osrelease").unwrap();
    let release = text(&release);
    let mut numbers = release
        .split('.')
        .map(|number| number.parse::<u32>().unwrap_or(0));
    (numbers.next(), numbers.next()) >= (Some(6), Some(12))
}
