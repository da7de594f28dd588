//! Partial clones, which lack objects until somebody asks a remote for them.

use gix::Repository;

use crate::error::GitError;

/// Why a partial clone can't serve what was asked for, and what to do about it.
const LACKS: &str = "it is a partial clone that lacks objects of this revision, and they are not fetched here; \
                     `git archive REVISION > /dev/null` in it fetches them";

/// Whether the repository may lack objects on purpose.
pub(crate) fn is_partial_clone(repository: &Repository) -> bool {
    let config = repository.config_snapshot();
    let mut promisors = config
        .plumbing()
        .sections_by_name("remote")
        .into_iter()
        .flatten()
        .map(|remote| remote.value("promisor"));
    config.string("extensions.partialClone").is_some() || promisors.any(|value| value.is_some())
}

/// Tells a failure as the lack of an object, if it is one and `repository` may lack objects.
pub(crate) fn tell_lack(failure: GitError, repository: Option<&Repository>) -> GitError {
    match (failure, repository) {
        (GitError::Git { source, .. }, Some(repository))
            if is_lack(&source) && is_partial_clone(repository) =>
        {
            GitError::Unsupported {
                path: repository.common_dir().to_owned(),
                reason: LACKS,
            }
        }
        (failure, _) => failure,
    }
}

/// Whether something was not found. The library wraps this into a failed system call when it checks files out.
fn is_lack(failure: &gix::Error) -> bool {
    failure.is_not_found()
        || failure.iter_errors().any(|error| {
            error
                .downcast_ref::<std::io::Error>()
                .and_then(std::io::Error::get_ref)
                .and_then(|inner| inner.downcast_ref::<gix::Error>())
                .is_some_and(gix::Error::is_not_found)
        })
}
