use std::sync::Arc;

use everruns_fs::disk::Resolution;
use everruns_testkit::conformance::file_system::{self, Options, Subject};

use crate::support::Fixture;

#[tokio::test(flavor = "multi_thread")]
async fn the_disk_resolved_by_the_kernel_keeps_the_contract() {
    check(Resolution::Kernel).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_disk_resolved_by_the_walk_keeps_the_contract() {
    check(Resolution::Walk).await;
}

/// A linked worktree has a `.git` file at its top, so the tree under test has one, too.
async fn check(resolution: Resolution) {
    file_system::check(Options::default(), || async {
        let fixture = Fixture::new(resolution);
        fixture.put(".git", "gitdir: /nowhere\n");
        Subject::new(Arc::new(fixture.files.clone())).keeping(fixture.temp)
    })
    .await;
}
