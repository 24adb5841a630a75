//! Where the files of a vault are.

use std::path::{Path, PathBuf};

/// The names of a vault's files and directories.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) root: PathBuf,
    pub(crate) log: PathBuf,
    pub(crate) stamp: PathBuf,
    pub(crate) lock: PathBuf,
    pub(crate) acked: PathBuf,
    pub(crate) cold: PathBuf,
    pub(crate) reserve: PathBuf,
}

pub(crate) const STAMP: &str = "FORMAT";
pub(crate) const LOCK: &str = "LOCK";
pub(crate) const ACKED: &str = "ACKED";
pub(crate) const LOG: &str = "log";
pub(crate) const COLD: &str = "cold";
pub(crate) const RESERVE: &str = "RESERVE";
/// Ends the name of a file that is being written and not yet part of the vault.
pub(crate) const TMP: &str = ".tmp";

impl Layout {
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            log: root.join(LOG),
            stamp: root.join(STAMP),
            lock: root.join(LOCK),
            acked: root.join(ACKED),
            cold: root.join(COLD),
            reserve: root.join(RESERVE),
        }
    }

    pub(crate) fn segment(&self, number: u64) -> PathBuf {
        self.log.join(format!("{number:08}.log"))
    }

    pub(crate) fn sidecar(&self, number: u64) -> PathBuf {
        self.log.join(format!("{number:08}.idx"))
    }

    pub(crate) fn pack(&self, id: u64) -> PathBuf {
        self.cold.join(format!("{id:016x}.pack"))
    }
}

/// The id of a pack, from the name of its file.
pub(crate) fn pack_id(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".pack")?;
    let is_id = digits.len() == 16 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_id.then(|| u64::from_str_radix(digits, 16).ok()).flatten()
}

/// `path` while it is being written.
pub(crate) fn tmp(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(TMP);
    PathBuf::from(name)
}

/// The number of a segment, from the name of its file.
pub(crate) fn segment_number(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".log")?;
    let is_number = digits.len() >= 8 && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_has_its_number_from_its_name() {
        assert_eq!(segment_number("00000017.log"), Some(17));
        assert_eq!(segment_number("123456789.log"), Some(123_456_789));
        for other in ["17.log", "0000001a.log", "00000017.idx", "00000017.log.tmp", ".log", "+0000017.log"] {
            assert_eq!(segment_number(other), None, "{other}");
        }
    }

    #[test]
    fn a_pack_has_its_id_from_its_name() {
        assert_eq!(pack_id("00000000000000ff.pack"), Some(255));
        for other in
            ["ff.pack", "00000000000000FF.pack", "00000000000000ff.pack.tmp", "+0000000000000ff.pack"]
        {
            assert_eq!(pack_id(other), None, "{other}");
        }
    }
}
