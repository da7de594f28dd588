//! When the folders of an object database changed last, by the file system's own clock.
//!
//! Times are only compared with times of the same file system, so it doesn't matter what any other clock says.

use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Dir, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::error::{IoStep as _, Result};

/// Seconds and nanoseconds.
pub(super) type Time = (i64, i64);

/// How much later than all others, in seconds, a change must be for a folder to count as unchanged since. Looking takes
/// time, and clocks tick coarsely.
const MARGIN: i64 = 1;

/// How many folders hold loose objects: one for each first byte of an id.
const FANOUT: usize = 256;

/// What the folder of an object database looked like at one moment.
#[derive(Debug)]
pub(super) struct Folders {
    /// Of the folders for loose objects, then that for packs; none where there is no folder.
    changed: Vec<Option<Time>>,
    /// The latest of these times. A folder changed about then may have been changed again, after it was looked at.
    latest: Option<Time>,
}

/// A folder that may hold objects that came after an earlier look.
#[derive(Debug)]
pub(super) struct News {
    /// The folder's name in that of the objects.
    pub(super) folder: String,
    /// What was there before that needs no second flush; none if everything has to be taken for new.
    since: Option<Time>,
}

impl Folders {
    /// Looks at the object database at `objects`, which is open as `root`.
    pub(super) fn look(root: &OwnedFd, objects: &Path) -> Result<Self> {
        let changed: Vec<_> = (0..=FANOUT)
            .map(|number| {
                let name = name(number);
                match rustix::fs::statat(root, name.as_str(), AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(found) => Ok(Some(time_of(&found))),
                    Err(Errno::NOENT) => Ok(None),
                    Err(failure) => Err(failure).step("look at", &objects.join(name)),
                }
            })
            .collect::<Result<_>>()?;
        let latest = changed.iter().copied().flatten().max();
        Ok(Self { changed, latest })
    }

    /// The folders that may have changed since `earlier`; `None` if the clock was set back, so that nothing is certain.
    pub(super) fn since(&self, earlier: &Self) -> Option<Vec<News>> {
        if self.latest < earlier.latest {
            return None;
        }
        let certain = earlier.latest.map(|(seconds, _)| seconds - MARGIN);
        let folders = self.changed.iter().zip(&earlier.changed).enumerate();
        folders
            .filter_map(|(number, (now, before))| {
                let now = (*now)?;
                let unsure = before.map(|(seconds, _)| seconds) >= certain;
                (*before != Some(now) || unsure).then(|| News {
                    folder: name(number),
                    // What was there before may be as young as the earlier look was.
                    since: before.map(|(seconds, _)| (seconds - MARGIN, 0)),
                })
            })
            .collect::<Vec<_>>()
            .into()
    }
}

impl News {
    /// The names of the files in the folder, open as `folder`, that may not be on the disk, and when each got its name.
    pub(super) fn files(&self, folder: &OwnedFd) -> rustix::io::Result<Vec<(String, Time)>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(folder)? {
            // Whatever Git names so that it isn't text is no object.
            let Ok(name) = entry?.file_name().to_str().map(str::to_owned) else {
                continue;
            };
            if name == "." || name == ".." {
                continue;
            }
            match rustix::fs::statat(folder, name.as_str(), AtFlags::SYMLINK_NOFOLLOW) {
                Ok(found) if self.since.is_none_or(|since| time_of(&found) >= since) => {
                    names.push((name, time_of(&found)));
                }
                Ok(_) | Err(Errno::NOENT) => {}
                Err(failure) => return Err(failure),
            }
        }
        Ok(names)
    }
}

/// Opens the folder `name` of `root` for reading.
pub(super) fn open(root: &OwnedFd, name: &str) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::openat(root, name, flags, Mode::empty())
}

/// The name of the folder `number`.
fn name(number: usize) -> String {
    if number == FANOUT {
        "pack".to_owned()
    } else {
        format!("{number:02x}")
    }
}

/// When an entry or its content changed last: being renamed counts too.
fn time_of(found: &Stat) -> Time {
    #[expect(
        clippy::cast_possible_wrap,
        clippy::unnecessary_cast,
        reason = "the types differ from system to system, and nanoseconds are below a billion"
    )]
    (found.st_ctime as i64, found.st_ctime_nsec as i64)
}
