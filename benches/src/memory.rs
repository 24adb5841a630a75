//! How much memory this process has and had, as Linux counts it.

use crate::Outcome;

/// Bytes that are resident now.
///
/// # Errors
/// Where the system does not say.
pub fn resident() -> Outcome<u64> {
    field("VmRSS:")
}

/// The most bytes that were resident at once since [`forget_peak`], or since the start.
///
/// # Errors
/// Where the system does not say.
pub fn peak() -> Outcome<u64> {
    field("VmHWM:")
}

/// Lets the peak begin anew.
///
/// # Errors
/// Where the system does not let it.
#[expect(clippy::disallowed_methods, reason = "a switch of the system and no file of a vault")]
pub fn forget_peak() -> Outcome {
    Ok(std::fs::write("/proc/self/clear_refs", "5")?)
}

/// Runs `work`; gives the most that was resident meanwhile over what was before, in bytes.
///
/// # Errors
/// What `work` says.
pub fn peak_over_idle<T>(work: impl FnOnce() -> Outcome<T>) -> Outcome<(T, u64)> {
    forget_peak()?;
    let before = resident()?;
    let done = work()?;
    Ok((done, peak()?.saturating_sub(before)))
}

fn field(name: &str) -> Outcome<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)).ok_or("no such figure")?;
    let kibibytes: u64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kibibytes * 1024)
}
