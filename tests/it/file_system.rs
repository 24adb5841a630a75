//! The file systems that suites put a vault on, each on a device of its own.

use std::path::Path;

use crate::outside::run;

/// A file system of Linux. `SPANVAULT_FILE_SYSTEM` says which; ext4 where it does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileSystem {
    Ext4,
    Xfs,
    Btrfs,
}

impl FileSystem {
    /// The one that is asked for.
    pub(crate) fn asked_for() -> Self {
        match std::env::var("SPANVAULT_FILE_SYSTEM").as_deref() {
            Err(_) | Ok("ext4") => Self::Ext4,
            Ok("xfs") => Self::Xfs,
            Ok("btrfs") => Self::Btrfs,
            Ok(other) => panic!("SPANVAULT_FILE_SYSTEM={other}: ext4, xfs or btrfs"),
        }
    }

    /// Its name, as `mount` knows it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
        }
    }

    /// Whether it can be shut down without its journal.
    pub(crate) const fn can_be_cut(self) -> bool {
        match self {
            Self::Ext4 | Self::Xfs => true,
            Self::Btrfs => false,
        }
    }

    /// The smallest device that a vault of the suites and it have room on, in bytes.
    pub(crate) const fn device_bytes(self) -> usize {
        match self {
            Self::Ext4 | Self::Xfs => 64 << 20,
            Self::Btrfs => 128 << 20,
        }
    }

    /// Makes one on a device, or in a file, that is as long as it is to be.
    pub(crate) fn make(self, device: &Path) -> Result<(), String> {
        let (program, options): (_, &[&str]) = match self {
            // What is left for later would be written by the kernel at any time.
            Self::Ext4 => ("mkfs.ext4", &["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"]),
            // It is not meant for less than 300 MB, which is all that is unsupported.
            Self::Xfs => ("mkfs.xfs", &["-q", "-f", "-K", "--unsupported"]),
            Self::Btrfs => ("mkfs.btrfs", &["-q", "-f", "-K"]),
        };
        let device = device.to_string_lossy();
        run(program, &[options, &[&*device]].concat())
    }

    /// Mounts a device, or a file.
    pub(crate) fn mount(self, device: &Path, at: &Path) -> Result<(), String> {
        let (device, at) = (device.to_string_lossy(), at.to_string_lossy());
        run("mount", &["-t", self.name(), "-o", "loop,noatime", &device, &at])
    }
}

/// Unmounts what is mounted there.
pub(crate) fn unmount(at: &Path) -> Result<(), String> {
    run("umount", &[&at.to_string_lossy()])
}
