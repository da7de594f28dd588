use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

use everruns_core::compute::ComputeError;
use everruns_core::path::is_git_internal_name;
use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible as _, PathBeneath, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};

use super::compute::Settings;

/// The newest version that these rules were written for.
const NEWEST: ABI = ABI::V7;

/// What programs need to read. `/etc` holds secrets as well, so it is not among them as a whole.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/etc/alternatives",
    "/etc/bash.bashrc",
    "/etc/ca-certificates",
    "/etc/debian_version",
    "/etc/group",
    "/etc/hosts",
    "/etc/inputrc",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/pki/tls/certs",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/terminfo",
    "/etc/timezone",
    "/dev/random",
    "/dev/urandom",
    "/proc/cpuinfo",
    "/proc/meminfo",
];
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full"];

/// Restricts the calling thread, and all that it starts, for good. Fails when not every rule is enforced.
pub(super) fn apply(head: &OwnedFd, home: &Path, settings: &Settings) -> Result<(), ComputeError> {
    let status = ruleset(head, home, settings)
        .and_then(|ruleset| ruleset.restrict_self().map_err(unavailable))?;
    // Best effort holds for what is newer than what is promised; what is promised is demanded when it is declared.
    if status.ruleset == RulesetStatus::NotEnforced || !status.no_new_privs {
        return Err(unavailable("the kernel did not enforce the rules"));
    }
    Ok(())
}

fn ruleset(
    head: &OwnedFd,
    home: &Path,
    settings: &Settings,
) -> Result<RulesetCreated, ComputeError> {
    let read = AccessFs::from_read(NEWEST);
    // Whoever may make a device has the disk behind it.
    let devices = AccessFs::MakeBlock | AccessFs::MakeChar | AccessFs::IoctlDev;
    let all = AccessFs::from_all(NEWEST) & !devices;
    let mut rules = declare().map_err(unavailable)?;
    for path in SYSTEM
        .iter()
        .map(Path::new)
        .chain(settings.readable.iter().map(AsRef::as_ref))
    {
        rules = allow_path(rules, path, read)?;
    }
    for path in DEVICES.iter().map(Path::new) {
        rules = allow_path(rules, path, read | AccessFs::WriteFile | AccessFs::Truncate)?;
    }
    rules = allow_path(rules, home, all)?;
    if settings.whole_head {
        return allow(rules, head, all);
    }
    rules = allow(rules, head, read)?;
    for entry in writable_entries(head)? {
        rules = allow(rules, &entry, all)?;
    }
    Ok(rules)
}

/// What is denied where no rule allows it. Up to the third version the kernel must know it all.
fn declare() -> Result<RulesetCreated, RulesetError> {
    let demanded = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V3))?;
    demanded
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()
}

/// Allows what exists; what does not needs no rule.
fn allow_path(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, ComputeError> {
    match rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
        Ok(file) => allow(rules, &file, access),
        Err(_) => Ok(rules),
    }
}

/// A file takes only the rights that files have.
fn allow(
    rules: RulesetCreated,
    file: &OwnedFd,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, ComputeError> {
    let found = rustix::fs::fstat(file).map_err(|error| io("look at a file", error))?;
    let access = if FileType::from_raw_mode(found.st_mode).is_dir() {
        access
    } else {
        access & AccessFs::from_file(NEWEST)
    };
    rules
        .add_rule(PathBeneath::new(file.as_fd(), access))
        .map_err(unavailable)
}

/// The entries at the head's top that a command may change: files and folders, but nothing that Git takes its
/// settings from, and no links, which may lead anywhere.
fn writable_entries(head: &OwnedFd) -> Result<Vec<OwnedFd>, ComputeError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let listing = rustix::fs::openat(head, ".", flags, Mode::empty())
        .and_then(Dir::new)
        .map_err(|error| io("list the head", error))?;
    let mut entries = Vec::new();
    for entry in listing {
        let entry = entry.map_err(|error| io("list the head", error))?;
        let name = entry.file_name();
        let text = name.to_string_lossy();
        if matches!(&*text, "." | "..") || is_git_internal_name(&text) {
            continue;
        }
        let kind = rustix::fs::statat(head, name, AtFlags::SYMLINK_NOFOLLOW);
        let Ok(kind) = kind.map(|found| FileType::from_raw_mode(found.st_mode)) else {
            continue;
        };
        if !kind.is_dir() && !kind.is_file() {
            continue;
        }
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // What has just been removed needs no rule. A link that has just taken its place is opened as a link, on
        // which the kernel takes no rule for what is behind it.
        entries.extend(rustix::fs::openat(head, name, flags, Mode::empty()).ok());
    }
    Ok(entries)
}

fn unavailable(error: impl std::fmt::Display) -> ComputeError {
    ComputeError::IsolationUnavailable {
        missing: format!("Landlock ({error})"),
    }
}

fn io(step: &'static str, error: rustix::io::Errno) -> ComputeError {
    ComputeError::Io {
        step,
        source: error.into(),
    }
}
