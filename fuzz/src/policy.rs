//! Policies and what they say about paths.

use everruns_core::file_system::FileAccess;
use everruns_core::path::WorkspacePath;
use everruns_fs::WorkspacePolicy;

/// Takes `data` as lines: `r`, `w`, `R` and `W` begin a glob that allows or denies to read or write, `h`, `s`, `b` and
/// `d` turn a rule on, and anything else is a path to ask about. Checks that the answers agree with each other.
pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let (mut builder, mut denied_reads) = (WorkspacePolicy::builder(), WorkspacePolicy::builder());
    let mut paths = Vec::new();
    denied_reads = denied_reads.allow_write("**").allow_sensitive(true);
    for line in text.lines().take(40) {
        let mut letters = line.chars();
        let first = letters.next();
        let rest = letters.as_str();
        builder = match first {
            Some('r') => builder.allow_read(rest),
            Some('w') => builder.allow_write(rest),
            Some('R') => {
                denied_reads = denied_reads.deny_read(rest);
                builder.deny_read(rest)
            }
            Some('W') => builder.deny_write(rest),
            Some('h') => builder.allow_hidden(false),
            Some('s') => builder.allow_sensitive(true),
            Some('b') => builder.protect_build_folders(true),
            Some('d') => builder.allow_recursive_delete(true),
            _ => {
                paths.extend(WorkspacePath::parse(line));
                builder
            }
        };
    }
    let Ok(policy) = builder.build() else {
        return;
    };
    let denials = denied_reads.build().ok();
    for path in &paths {
        check_path(&policy, path);
        if let Some(denials) = &denials
            && !denials.permits_read(path)
        {
            assert!(
                !policy.permits_read(path),
                "what allows wins over a denial of {path}"
            );
        }
    }
}

fn check_path(policy: &WorkspacePolicy, path: &WorkspacePath) {
    let (reads, writes) = (policy.permits_read(path), policy.permits_write(path));
    assert!(reads || !writes, "{path} may be written and not read");
    assert_eq!(policy.check_read(path).is_ok(), reads);
    assert_eq!(policy.check_write(path).is_ok(), writes);
    for (access, allowed) in [(FileAccess::Read, reads), (FileAccess::Write, writes)] {
        let decision = policy.explain(path, access);
        assert!(decision.allowed == allowed && !decision.rule.is_empty());
    }
    assert!(!(reads && path.is_git_internal()), "{path} is Git's own");
    for other in [
        WorkspacePolicy::read_only(),
        WorkspacePolicy::read_write(),
        policy.clone(),
        WorkspacePolicy::builder()
            .build()
            .expect("no glob is wrong"),
    ] {
        let both = policy.compose(&other);
        assert_eq!(both.permits_read(path), reads && other.permits_read(path));
        assert_eq!(
            both.permits_write(path),
            writes && other.permits_write(path)
        );
    }
    let mut above = path.parent();
    while let Some(folder) = above.filter(|_| reads) {
        assert!(
            policy.permits_list(&folder),
            "{folder} above {path} is not shown"
        );
        above = folder.parent();
    }
}
