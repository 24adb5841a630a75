//! Numbers, instants and lists in words.

use std::fmt::Display;

use spanvault_types::StoreTime;

/// A number with its thousands apart.
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A number and the thing that it counts, `things` being the plural of `thing` with an s.
pub(crate) fn counted(n: u64, thing: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", count(n))
}

/// A number of bytes in the unit that people read.
pub(crate) fn bytes(n: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if n < 1024 {
        return counted(n, "byte");
    }
    // Tenths of the unit in whole numbers: no rounding of a float decides what is shown.
    let mut unit_bytes = 1024;
    let mut unit = UNITS[0];
    for larger in UNITS.into_iter().skip(1) {
        if n / unit_bytes < 1024 {
            break;
        }
        unit_bytes *= 1024;
        unit = larger;
    }
    let tenths = u128::from(n) * 10 / u128::from(unit_bytes);
    format!("{}.{} {unit}", tenths / 10, tenths % 10)
}

/// An instant in UTC, to the second.
pub(crate) fn instant(at: StoreTime) -> String {
    format!("{:.0}", calendar(milliseconds(at)))
}

/// An instant that stands in an answer, for people: to the second. Anything else is left as it is.
pub(crate) fn to_the_second(text: &str) -> String {
    match text.parse::<jiff::Timestamp>() {
        Ok(at) => format!("{:.0}", calendar(at.as_millisecond())),
        Err(_no_instant) => text.to_owned(),
    }
}

/// An instant in UTC, to the millisecond, as RFC 3339 writes it.
pub(crate) fn rfc3339(at: StoreTime) -> String {
    timestamp(milliseconds(at))
}

/// RFC 3339 of milliseconds after the epoch.
pub(crate) fn timestamp(ms: i64) -> String {
    format!("{:.3}", calendar(ms))
}

/// The calendar's instant. What lies beyond the calendar is its last one.
fn calendar(ms: i64) -> jiff::Timestamp {
    let last = if ms < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
    jiff::Timestamp::from_millisecond(ms).unwrap_or(last)
}

fn milliseconds(at: StoreTime) -> i64 {
    i64::try_from(at.as_ms()).unwrap_or(i64::MAX)
}

/// Things in one line, `none` where there are none.
pub(crate) fn joined<T: Display>(things: impl IntoIterator<Item = T>, none: &str) -> String {
    let things: Vec<String> = things.into_iter().map(|thing| thing.to_string()).collect();
    if things.is_empty() { none.to_owned() } else { things.join(", ") }
}

/// Text from outside as one line of at most `width` characters.
pub(crate) fn one_line(text: &str, width: usize) -> String {
    let visible = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut rest = text.split_whitespace().flat_map(|word| [' '].into_iter().chain(word.chars())).skip(1);
    let mut line: String = rest.by_ref().take(width).map(visible).collect();
    if rest.next().is_some() {
        line.pop();
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_groups_of_three() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_000), "1,000");
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn sizes_are_never_rounded_up() {
        assert_eq!(bytes(1), "1 byte");
        assert_eq!(bytes(1023), "1,023 bytes");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes((1 << 20) - 1), "1023.9 KiB");
        assert_eq!(bytes(u64::MAX), "16383.9 PiB");
    }

    #[test]
    fn an_instant_beyond_the_calendar_is_its_last_day() {
        assert_eq!(instant(StoreTime::from_ms(0)), "1970-01-01T00:00:00Z");
        assert!(instant(StoreTime::from_ms(u64::MAX)).starts_with("9999-12-3"));
    }

    #[test]
    fn quoted_text_becomes_one_short_line() {
        assert_eq!(one_line("  a\n\tb  ", 10), "a b");
        assert_eq!(one_line("0123456789", 10), "0123456789");
        assert_eq!(one_line("0123456789a", 10), "012345678…");
        assert_eq!(one_line("\x1b[2J", 10), "\u{fffd}[2J");
    }
}
