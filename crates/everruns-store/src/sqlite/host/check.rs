use std::path::Path;

use everruns_core::session::StoreError;

#[cfg(target_os = "linux")]
use super::fuse;

/// File systems of other machines, or of the host of this one, by the magic number of `statfs(2)`.
#[cfg(target_os = "linux")]
const NETWORK: [(i128, &str); 19] = [
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB2"),
    (0x564c, "NCP"),
    (0x5346_414f, "AFS"),
    (0x6b41_4653, "kAFS"),
    (0x7375_7245, "Coda"),
    (0x0102_1997, "9P"),
    (0x00c3_6400, "Ceph"),
    (0x0bd0_0bd0, "Lustre"),
    (0x786f_4256, "vboxsf"),
    (0xbacb_acbc, "vmhgfs"),
    (0x0116_1970, "GFS2"),
    (0x7461_636f, "OCFS2"),
    (0x4750_4653, "GPFS"),
    (0x1983_0326, "BeeGFS"),
    (0x2003_0528, "OrangeFS"),
    (0xaad7_aaea, "PanFS"),
];

/// Fails when the folder of `location` is known to lie on another machine, where a write-ahead log gets corrupt.
#[cfg(target_os = "linux")]
pub(in crate::sqlite) fn check(location: &Path) -> Result<(), StoreError> {
    let folder = location.parent().unwrap_or(location);
    let Ok(found) = rustix::fs::statfs(folder) else {
        // What cannot be told is left to SQLite.
        return Ok(());
    };
    // The kernel's number is of another type on every architecture.
    refuse(location, kind(i128::from(found.f_type), folder))
}

#[cfg(not(target_os = "linux"))]
#[expect(
    clippy::unnecessary_wraps,
    reason = "there is nothing to tell it by here"
)]
pub(in crate::sqlite) fn check(_: &Path) -> Result<(), StoreError> {
    Ok(())
}

#[cfg(target_os = "linux")]
fn refuse(location: &Path, kind: Option<String>) -> Result<(), StoreError> {
    match kind {
        None => Ok(()),
        Some(kind) => Err(StoreError::NetworkFileSystem {
            location: location.to_owned(),
            kind,
        }),
    }
}

#[cfg(target_os = "linux")]
fn kind(magic: i128, folder: &Path) -> Option<String> {
    // A number of 32 bits, whatever its sign is here.
    let magic = magic & 0xffff_ffff;
    match NETWORK.iter().find(|(known, _)| *known == magic) {
        Some((_, name)) => Some((*name).to_owned()),
        None if magic == fuse::MAGIC => fuse::network(folder),
        None => None,
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_refused_by_name() {
        let error = refuse(Path::new("/mnt/x/sessions.db"), Some("NFS".to_owned())).unwrap_err();
        assert_eq!(
            error.to_string(),
            "/mnt/x/sessions.db lies on NFS, a network file system, where SQLite cannot keep it safe: \
             choose a folder of this machine, or keep sessions in PostgreSQL"
        );
        refuse(Path::new("/mnt/x/sessions.db"), None).unwrap();
        check(&std::env::temp_dir().join("x")).unwrap();
    }

    /// The numbers as `linux/magic.h` and the file systems' own headers have them, in both signs that `statfs` uses.
    #[test]
    fn each_is_told_by_its_number() {
        let temp = std::env::temp_dir();
        for (magic, name) in [
            (0x6969, "NFS"),
            (0xff53_4d42, "CIFS"),
            (-0x00ac_b2be, "CIFS"),
            (0xfe53_4d42, "SMB2"),
            (0x6b41_4653, "kAFS"),
            (0x5346_414f, "AFS"),
            (0x786f_4256, "vboxsf"),
            (0xbacb_acbc, "vmhgfs"),
            (-0x4534_5344, "vmhgfs"),
            (0x0102_1997, "9P"),
            (0x00c3_6400, "Ceph"),
            (0x7461_636f, "OCFS2"),
        ] {
            assert_eq!(kind(magic, &temp).as_deref(), Some(name), "{magic:x}");
        }
        // ext4, tmpfs, btrfs, xfs, overlayfs; and a program's that the table of mounts does not know as one
        for magic in [
            0xef53,
            0x0102_1994,
            0x9123_683e,
            0x5846_5342,
            0x794c_7630,
            fuse::MAGIC,
        ] {
            assert_eq!(kind(magic, Path::new("/proc")), None, "{magic:x}");
        }
    }
}
