//! File systems that a program serves: the kernel's number is the same for all of them, the table of mounts tells them
//! apart.

use std::path::Path;

/// The magic number of all of them.
pub(super) const MAGIC: i128 = 0x6573_5546;

/// Those whose files are on other machines, as the table names their types.
const NETWORK: [&str; 20] = [
    "fuse.beegfs",
    "fuse.ceph",
    "fuse.ceph-fuse",
    "fuse.cifs",
    "fuse.curlftpfs",
    "fuse.davfs",
    "fuse.gcsfuse",
    "fuse.glusterfs",
    "fuse.gvfsd-fuse",
    "fuse.juicefs",
    "fuse.kio-fuse",
    "fuse.mfs",
    "fuse.nfs",
    "fuse.rclone",
    "fuse.s3fs",
    "fuse.seaweedfs",
    "fuse.smbnetfs",
    "fuse.sshfs",
    "fuse.vmhgfs-fuse",
    "fuse.webdavfs",
];

/// The name of the network file system in which `folder` is; none when it is another one, or when that cannot be told.
pub(super) fn network(folder: &Path) -> Option<String> {
    let found = rustix::fs::stat(folder).ok()?;
    let device = (
        rustix::fs::major(found.st_dev),
        rustix::fs::minor(found.st_dev),
    );
    let mounts = std::fs::read("/proc/self/mountinfo").ok()?;
    network_in(&String::from_utf8_lossy(&mounts), device)
}

/// As `proc(5)` describes the table: the third field is the device, type and source come behind a lone hyphen.
fn network_in(mounts: &str, (major, minor): (u32, u32)) -> Option<String> {
    let device = format!("{major}:{minor}");
    mounts.lines().find_map(|line| {
        let (mount, file_system) = line.split_once(" - ")?;
        if mount.split(' ').nth(2) != Some(device.as_str()) {
            return None;
        }
        let mut fields = file_system.split(' ');
        let (kind, source) = (fields.next()?, fields.next()?);
        (NETWORK.contains(&kind) || is_elsewhere(source))
            .then(|| kind.strip_prefix("fuse.").unwrap_or(kind).to_owned())
    })
}

/// Whether a source names another machine, as `https://host/folder` and `user@host:/folder` do.
fn is_elsewhere(source: &str) -> bool {
    let user_at_host = |(before, after): (&str, &str)| {
        before.contains('@')
            && !before.contains('/')
            && (after.is_empty() || after.starts_with('/'))
    };
    source.contains("://") || source.split_once(':').is_some_and(user_at_host)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
        22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n\
        40 22 0:41 / /mnt/a\\040b rw,nosuid shared:2 master:1 - fuse.sshfs me@host:/data/me rw,user_id=0\n\
        41 22 0:42 / /mnt/dav rw - fuse https://host/dav rw\n\
        42 22 0:43 / /mnt/pool rw - fuse.mergerfs /disk/a:/disk/b rw\n\
        43 22 8:17 / /mnt/usb rw - fuseblk /dev/sdb1 rw\n\
        44 22 0:44 / /mnt/secret rw - fuse.gocryptfs /data/me/secret rw\n\
        45 22 0:45 / /mnt/other rw - fuse.own me@host: rw\n\
        46 22 0:46 / /mnt/short rw - fuse.sshfs\n";

    #[test]
    fn those_of_other_machines_are_told_apart() {
        for (device, expected) in [
            ((0, 41), Some("sshfs")),
            ((0, 42), Some("fuse")),
            ((0, 45), Some("own")),
            ((0, 43), None),
            ((8, 17), None),
            ((0, 44), None),
            ((8, 1), None),
            ((0, 46), None),
            ((9, 9), None),
        ] {
            let found = network_in(MOUNTS, device);
            assert_eq!(found.as_deref(), expected, "{device:?}");
        }
    }

    #[test]
    fn every_type_that_is_known_is_found() {
        for kind in NETWORK {
            let mounts = format!("40 22 0:41 / /mnt rw - {kind} somewhere rw\n");
            let found = network_in(&mounts, (0, 41));
            assert_eq!(found.as_deref(), kind.strip_prefix("fuse."));
        }
    }

    /// The table of this host has the device of the folder that is asked for, however that is mounted.
    #[test]
    fn the_hosts_own_table_is_read() {
        let found = rustix::fs::stat("/proc").unwrap();
        let device = (
            rustix::fs::major(found.st_dev),
            rustix::fs::minor(found.st_dev),
        );
        let mounts = std::fs::read("/proc/self/mountinfo").unwrap();
        let elsewhere = String::from_utf8_lossy(&mounts).replace(" - proc ", " - fuse.sshfs ");
        assert_eq!(network_in(&elsewhere, device).as_deref(), Some("sshfs"));
        assert_eq!(network(Path::new("/proc")), None);
    }
}
