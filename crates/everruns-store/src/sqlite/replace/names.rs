//! Names taken and given, each step flushed before the next.

use std::io;
use std::path::{Path, PathBuf};

use everruns_core::failpoint::hit;
use everruns_core::session::StoreError;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::super::backup::{failed, flush};
use super::run::REPLACE;
use super::workplace::Workplace;

/// What SQLite adds to a database's name for what belongs to it.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Gives the copy in `work` the name `location`, and what had it, with all that belongs to it, the name `aside`.
pub(super) fn exchange(
    work: &Workplace,
    location: &Path,
    aside: &Path,
) -> Result<bool, StoreError> {
    let new = work.copy();
    let mut beside = Vec::new();
    for suffix in BESIDE {
        if is_there(location, suffix)? {
            beside.push(suffix);
        }
    }
    if !is_there(location, "")? {
        // A log whose database is gone, which is not the new one's.
        for suffix in beside {
            rename_free(&with_suffix(location, suffix), &with_suffix(aside, suffix))?;
        }
        flush_folder(location)?;
        rename_free(&new, location)?;
        flush_folder(location)?;
        return Ok(false);
    }
    if !beside.is_empty() || !swap(work, location, aside)? {
        replace_linked(&new, location, aside, &beside)?;
    }
    Ok(true)
}

pub(super) fn is_there(path: &Path, suffix: &str) -> Result<bool, StoreError> {
    match std::fs::symlink_metadata(with_suffix(path, suffix)) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(failed(REPLACE, error)),
    }
}

pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// In one step of the kernel; `false` where the file system cannot do it.
fn swap(work: &Workplace, location: &Path, aside: &Path) -> Result<bool, StoreError> {
    if is_there(aside, "")? {
        return Err(StoreError::FileExists {
            location: aside.to_owned(),
        });
    }
    let new = work.copy();
    work.note(aside)?;
    hit("store.replace.before-exchange")?;
    if !exchange_names(&new, location)? {
        return Ok(false);
    }
    let named = work.flush().and_then(|()| {
        hit("store.replace.after-exchange")?;
        rename_free(&new, aside)
    });
    if let Err(error) = named {
        return Err(exchange_back(&new, location, error));
    }
    work.flush()?;
    Ok(true)
}

/// Undoes an exchange because of `error`, which it gives; or says where what is, when that cannot be.
fn exchange_back(new: &Path, location: &Path, error: StoreError) -> StoreError {
    let back = hit("store.replace.before-exchange-back")
        .map_err(StoreError::from)
        .and_then(|()| exchange_names(new, location));
    match back {
        Ok(true) => error,
        Ok(false) | Err(_) => StoreError::HalfReplaced {
            location: location.to_owned(),
            before: new.to_owned(),
            source: Box::new(back.err().unwrap_or(error)),
        },
    }
}

fn exchange_names(one: &Path, other: &Path) -> Result<bool, StoreError> {
    match renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(false),
        Err(error) => Err(failed(REPLACE, error.into())),
    }
}

/// In steps, for what is more than one file. One that fails is undone.
fn replace_linked(
    new: &Path,
    location: &Path,
    aside: &Path,
    beside: &[&str],
) -> Result<(), StoreError> {
    link(location, aside, beside)?;
    if let Err(error) = rename_without_log(new, location, beside) {
        for suffix in beside {
            if !is_there(location, suffix)? {
                let again =
                    std::fs::hard_link(with_suffix(aside, suffix), with_suffix(location, suffix));
                again.map_err(|error| failed(REPLACE, error))?;
            }
        }
        flush_folder(location)?;
        for suffix in beside.iter().chain(&[""]) {
            remove(with_suffix(aside, suffix))?;
        }
        return Err(error);
    }
    flush_folder(location)?;
    hit("store.replace.after-rename")?;
    Ok(())
}

/// Takes the log's first name away, which has a second one, and then gives `new` the database's.
fn rename_without_log(new: &Path, location: &Path, beside: &[&str]) -> Result<(), StoreError> {
    flush_folder(location)?;
    hit("store.replace.after-second-names")?;
    for suffix in beside {
        remove(with_suffix(location, suffix))?;
    }
    flush_folder(location)?;
    hit("store.replace.after-log")?;
    std::fs::rename(new, location).map_err(|error| failed(REPLACE, error))
}

/// Second names for the database and what belongs to it: all or none.
fn link(location: &Path, aside: &Path, beside: &[&str]) -> Result<(), StoreError> {
    let mut made = Vec::new();
    for suffix in beside.iter().chain(&[""]) {
        let second = with_suffix(aside, suffix);
        if let Err(error) = std::fs::hard_link(with_suffix(location, suffix), &second) {
            for name in made {
                remove(name)?;
            }
            return Err(failed(REPLACE, error));
        }
        made.push(second);
    }
    Ok(())
}

pub(super) fn remove(name: PathBuf) -> Result<(), StoreError> {
    match std::fs::remove_file(name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(REPLACE, error)),
        _ => Ok(()),
    }
}

pub(super) fn rename_free(from: &Path, to: &Path) -> Result<(), StoreError> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(Errno::EXIST) => Err(StoreError::FileExists {
            location: to.to_owned(),
        }),
        outcome => outcome.map_err(|error| failed(REPLACE, error.into())),
    }
}

pub(super) fn flush_folder(path: &Path) -> Result<(), StoreError> {
    flush(path.parent().unwrap_or(path)).map_err(|error| failed(REPLACE, error))
}
