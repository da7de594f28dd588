use everruns_core::failpoint::FailpointError;
use everruns_core::file_system::FileSystemError;
use everruns_core::path::WorkspacePath;
use rustix::io::Errno;

/// The error of `path` for what the system answered at `step`.
pub(super) fn system(path: &WorkspacePath, step: &'static str, errno: Errno) -> FileSystemError {
    let path = path.clone();
    match errno {
        Errno::NOENT => FileSystemError::NotFound { path },
        Errno::NOTDIR => FileSystemError::NotADirectory { path },
        Errno::EXIST => FileSystemError::AlreadyExists { path },
        Errno::NOTEMPTY => FileSystemError::DirectoryNotEmpty { path },
        Errno::LOOP => FileSystemError::LinkLoop { path },
        Errno::ROFS => FileSystemError::ReadOnly { path },
        Errno::NOSPC | Errno::DQUOT => FileSystemError::NoSpace {
            path,
            step,
            source: errno.into(),
        },
        Errno::MFILE | Errno::NFILE => FileSystemError::TooManyOpenFiles {
            path,
            step,
            source: errno.into(),
        },
        _ => FileSystemError::Io {
            path,
            step,
            source: errno.into(),
        },
    }
}

/// A mapper for the flush that ends a change: it is made whatever the system answers.
pub(super) fn not_flushed(path: &WorkspacePath) -> impl Fn(Errno) -> FileSystemError + '_ {
    |errno| FileSystemError::NotFlushed {
        path: path.clone(),
        source: errno.into(),
    }
}

/// For what a change has displaced, and what could not be put back because of `source`: it is at the name `kept` now.
pub(super) fn not_put_back(
    path: &WorkspacePath,
    kept: &str,
    source: FileSystemError,
) -> FileSystemError {
    FileSystemError::NotPutBack {
        path: path.clone(),
        kept: kept.to_owned(),
        source: Box::new(source),
    }
}

/// A mapper for `map_err`.
pub(super) fn at<'a>(
    path: &'a WorkspacePath,
    step: &'static str,
) -> impl Fn(Errno) -> FileSystemError + 'a {
    move |errno| system(path, step, errno)
}

/// Passes a named step of a test, at which the change is made already.
pub(super) fn late_step(name: &'static str, path: &WorkspacePath) -> Result<(), FileSystemError> {
    everruns_core::failpoint::hit(name).map_err(|error| FileSystemError::NotFlushed {
        path: path.clone(),
        source: std::io::Error::other(error),
    })
}

/// Passes a named step of a test.
pub(super) fn step(name: &'static str, path: &WorkspacePath) -> Result<(), FileSystemError> {
    everruns_core::failpoint::hit(name).map_err(|error: FailpointError| FileSystemError::Io {
        path: path.clone(),
        step: "go on with",
        source: std::io::Error::other(error),
    })
}
