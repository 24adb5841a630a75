//! The middle of many measurements.

use std::time::Duration;

/// The median; 0 of nothing.
pub fn median(values: &[f64]) -> f64 {
    percentile(values, 50)
}

/// The value below which `percent` of a hundred lie; 0 of nothing.
pub fn percentile(values: &[f64], percent: usize) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = (sorted.len().saturating_sub(1) * percent + 50) / 100;
    sorted.get(at).copied().unwrap_or(0.0)
}

/// The median of the ratios of pairs that were measured one after the other.
pub fn ratio(over: &[f64], under: &[f64]) -> f64 {
    median(&over.iter().zip(under).map(|(over, under)| over / under).collect::<Vec<_>>())
}

/// Microseconds.
pub fn us(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Milliseconds.
pub fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Millions of bytes in a second.
pub fn mb_per_s(bytes: u64, time: Duration) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a count of bytes is far below what the mantissa holds")]
    let bytes = bytes as f64;
    bytes / 1e6 / time.as_secs_f64()
}

/// How many of something in a second.
pub fn per_s(count: usize, time: Duration) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a count is far below what the mantissa holds")]
    let count = count as f64;
    count / time.as_secs_f64()
}

/// Microseconds for each of `count`.
pub fn us_each(time: Duration, count: usize) -> f64 {
    1e6 / per_s(count, time)
}

/// Bytes as mebibytes.
pub fn mebibytes(bytes: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a count of bytes is far below what the mantissa holds")]
    let bytes = bytes as f64;
    bytes / f64::from(1 << 20)
}
