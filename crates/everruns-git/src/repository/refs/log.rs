//! The logs of references, and the name under which this backend writes.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use gix::ObjectId;

use crate::error::{IoStep as _, Result};
use crate::state::durable;

/// The name under which this backend writes its own commits and reference logs.
pub(crate) const SIGNATURE_NAME: &str = "everruns";
/// The address beside [`SIGNATURE_NAME`]; it receives no mail.
pub(crate) const SIGNATURE_EMAIL: &str = "everruns@localhost";

/// The time in a signature, in Git's form, at `millis` since the epoch.
pub(crate) fn signature_time(millis: i64) -> String {
    format!("{} +0000", millis.div_euclid(1000))
}

/// What a log tells of one move.
pub(super) struct Move<'a> {
    pub(super) from: ObjectId,
    pub(super) to: ObjectId,
    pub(super) millis: i64,
    pub(super) why: &'a str,
}

fn path(common: &Path, name: &str) -> PathBuf {
    common.join("logs").join(name)
}

/// Tells the log of `name` about a move, where the repository keeps such logs.
pub(super) fn append(repository: &gix::Repository, name: &str, moved: &Move<'_>) -> Result<()> {
    let path = path(repository.common_dir(), name);
    if !is_logged(repository, name) && !path.exists() {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(&path);
    fs::create_dir_all(folder).step("create", folder)?;
    let Move {
        from,
        to,
        millis,
        why,
    } = moved;
    let time = signature_time(*millis);
    let why: String = why
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let line =
        format!("{from} {to} {SIGNATURE_NAME} <{SIGNATURE_EMAIL}> {time}\teverruns: {why}\n");
    let mut options = fs::OpenOptions::new();
    let mut file = options
        .create(true)
        .append(true)
        .open(&path)
        .step("open the log", &path)?;
    file.write_all(line.as_bytes()).step("write the log", &path)
}

/// Makes an empty log of `name`, so that its moves are told.
pub(super) fn begin(common: &Path, name: &str) -> Result<()> {
    let path = path(common, name);
    let folder = path.parent().unwrap_or(&path);
    fs::create_dir_all(folder).step("create", folder)?;
    let mut options = fs::OpenOptions::new();
    let opened = options.create(true).append(true).open(&path);
    opened.step("open the log", &path).map(drop)
}

/// When the reference `name` was moved to `target`, in milliseconds since the epoch, if its log tells.
pub(crate) fn moved_at(common: &Path, name: &str, target: ObjectId) -> Result<Option<i64>> {
    let target = target.to_string();
    let log = durable::read(&path(common, name))?.unwrap_or_default();
    let log = String::from_utf8_lossy(&log);
    // A line is: from, to, name, address, seconds, zone; a tab; why.
    let moves = log.lines().rev().filter_map(|line| {
        let (told, _) = line.split_once('\t').unwrap_or((line, ""));
        let mut words = told.rsplit(' ');
        let (_zone, seconds) = (words.next()?, words.next()?);
        let to = told.split(' ').nth(1)?;
        (to == target).then(|| seconds.parse::<i64>().ok())?
    });
    Ok(moves.map(|seconds| seconds.saturating_mul(1000)).next())
}

/// Whether the repository keeps a log of `name`, as `core.logAllRefUpdates` says it.
fn is_logged(repository: &gix::Repository, name: &str) -> bool {
    const USUAL: [&str; 3] = ["refs/heads/", "refs/remotes/", "refs/notes/"];
    let config = repository.config_snapshot();
    let key = "core.logAllRefUpdates";
    if config
        .string(key)
        .is_some_and(|value| value.eq_ignore_ascii_case(b"always"))
    {
        return true;
    }
    let usual = USUAL.iter().any(|prefix| name.starts_with(prefix));
    usual
        && config
            .boolean(key)
            .unwrap_or_else(|| repository.workdir().is_some())
}

/// Removes the log of `name`.
pub(super) fn remove(common: &Path, name: &str) -> Result<()> {
    let path = path(common, name);
    match fs::remove_file(&path) {
        Err(failure)
            if !matches!(
                failure.kind(),
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
            ) =>
        {
            Err(failure).step("remove the log", &path)
        }
        _ => Ok(()),
    }
}
