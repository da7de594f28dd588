//! Whether the file lies where locks and shared memory work as SQLite needs them.

use std::path::Path;

use everruns_core::session::StoreError;

/// File systems of other machines, by the magic number of `statfs(2)`.
#[cfg(target_os = "linux")]
const NETWORK: [(i128, &str); 10] = [
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB2"),
    (0x564c, "NCP"),
    (0x5346_414f, "AFS"),
    (0x7375_7245, "Coda"),
    (0x0102_1997, "9P"),
    (0x00c3_6400, "Ceph"),
    (0x0bd0_0bd0, "Lustre"),
];

/// Fails when the folder of `location` is known to lie on another machine, where a write-ahead log gets corrupt.
#[cfg(target_os = "linux")]
pub(super) fn check(location: &Path) -> Result<(), StoreError> {
    let folder = location.parent().unwrap_or(location);
    let Ok(found) = rustix::fs::statfs(folder) else {
        // What cannot be told is left to SQLite.
        return Ok(());
    };
    // The kernel's number is of another type on every architecture.
    refuse(location, i128::from(found.f_type))
}

#[cfg(not(target_os = "linux"))]
#[expect(
    clippy::unnecessary_wraps,
    reason = "there is nothing to tell it by here"
)]
pub(super) fn check(_: &Path) -> Result<(), StoreError> {
    Ok(())
}

#[cfg(target_os = "linux")]
fn refuse(location: &Path, magic: i128) -> Result<(), StoreError> {
    let magic = magic & 0xffff_ffff;
    match NETWORK.iter().find(|(known, _)| *known == magic) {
        None => Ok(()),
        Some((_, name)) => Err(StoreError::NetworkFileSystem {
            location: location.to_owned(),
            kind: (*name).to_owned(),
        }),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_refused_by_name() {
        let error = refuse(Path::new("/mnt/x/sessions.db"), 0x6969).unwrap_err();
        assert_eq!(
            error.to_string(),
            "/mnt/x/sessions.db lies on NFS, a network file system, where SQLite cannot keep it safe: \
             choose a folder of this machine, or keep sessions in PostgreSQL"
        );
        // ext4, tmpfs, btrfs, xfs, overlayfs
        for magic in [0xef53, 0x0102_1994, 0x9123_683e, 0x5846_5342, 0x794c_7630] {
            assert!(refuse(Path::new("/x"), magic).is_ok());
        }
        check(&std::env::temp_dir().join("x")).unwrap();
    }
}
