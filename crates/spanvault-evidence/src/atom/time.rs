//! Dates and times.

use super::chunk::Flags;
use super::scan::Found;
use super::{AtomKind, number};

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// One past a date or time that starts at `start`; its first chunk is `start..end`.
pub(super) fn at(text: &str, start: usize, end: usize, flags: Flags) -> Option<usize> {
    if !flags.intersects(Flags::DIGIT) {
        return None;
    }
    let chunk = text.get(start..end)?.trim_end_matches(['.', '-', ',']);
    if !chunk.starts_with(|c: char| c.is_ascii_digit() || number::wide_digit(c).is_some()) {
        return None;
    }
    let whole = start + chunk.len();
    if is_date_time(chunk) {
        return Some(whole);
    }
    if is_date(chunk) {
        // `2025-08-12 10:11:12`: the time may stand after one space.
        let rest = text.get(whole..)?;
        if let Some(after) = rest.strip_prefix(' ') {
            let len =
                after.bytes().take(24).take_while(|b| b.is_ascii_digit() || b":.+-Z".contains(b)).count();
            let time = after.get(..len)?.trim_end_matches(['.', '-', ':']);
            if is_time(time) && time.matches(':').count() >= 1 {
                return Some(whole + 1 + time.len());
            }
        }
        return Some(whole);
    }
    if is_time(chunk) {
        return Some(with_half_day(text, whole));
    }
    if chunk.bytes().all(|b| b.is_ascii_digit()) {
        return unspaced_date(text, start, whole)
            .or_else(|| day_first(text, whole, chunk))
            .or_else(|| hour_with_half_day(text, whole, chunk));
    }
    // `12th August 2025`, `10am`.
    let digits = chunk.bytes().take_while(u8::is_ascii_digit).count();
    match chunk.get(digits..)? {
        "st" | "nd" | "rd" | "th" => day_first(text, whole, chunk.get(..digits)?),
        "am" | "pm" | "AM" | "PM" => {
            let hour: u32 = chunk.get(..digits)?.parse().ok()?;
            (1..=12).contains(&hour).then_some(whole)
        }
        // `10:30am`.
        _ if flags.intersects(Flags::COLON) => {
            let time = chunk
                .strip_suffix("am")
                .or_else(|| chunk.strip_suffix("pm"))
                .or_else(|| chunk.strip_suffix("AM"))
                .or_else(|| chunk.strip_suffix("PM"))?;
            is_time(time).then_some(whole)
        }
        _ => None,
    }
}

/// `August 12, 2025`, `Aug 12`, `August 2025`: the month is the chunk `start..end`.
pub(super) fn month_first(text: &str, start: usize, end: usize) -> Option<usize> {
    month(text.get(start..end)?)?;
    let rest = text.get(end..)?;
    let after_dot = rest.strip_prefix('.').unwrap_or(rest);
    let after = after_dot.strip_prefix(' ')?;
    let digits = after.bytes().take(5).take_while(u8::is_ascii_digit).count();
    let number = after.get(..digits)?;
    let mut to = text.len() - after.len() + digits;
    match digits {
        1 | 2 if (1..=31).contains(&number.parse::<u32>().ok()?) => {
            let tail = text.get(to..)?;
            if let Some(suffix) = ["st", "nd", "rd", "th"].iter().find(|suffix| tail.starts_with(**suffix)) {
                to += suffix.len();
            }
            let tail = text.get(to..)?;
            let year = tail.strip_prefix(", ").or_else(|| tail.strip_prefix(' ')).unwrap_or_default();
            if let Some(year) = year_at(year) {
                to = text.len() - year.len() + 4;
            }
            // `May 5ths` is nothing.
            (!text.get(to..)?.starts_with(|c: char| c.is_ascii_alphanumeric())).then_some(to)
        }
        4 => year_at(after).map(|_| to),
        _ => None,
    }
}

/// A date or time; equal ones have one normal form where their order of day and month is clear.
pub(super) fn found(text: &str, start: usize, end: usize) -> Found<'_> {
    let words = text.get(start..end).unwrap_or_default();
    Found { kind: AtomKind::Timestamp, start, end, normal: normal(words).into() }
}

fn normal(words: &str) -> String {
    if let Some((year, month, day)) = spelled(words) {
        return match (year, day) {
            (Some(year), Some(day)) => format!("{year:04}-{month:02}-{day:02}"),
            (Some(year), None) => format!("{year:04}-{month:02}"),
            (None, Some(day)) => format!("--{month:02}-{day:02}"),
            (None, None) => words.to_owned(),
        };
    }
    let plain: String = words.chars().map(|c| number::wide_digit(c).unwrap_or(c)).collect();
    let mut normal = plain.to_ascii_uppercase();
    if is_iso_date(&normal.get(..10).unwrap_or_default().replace('/', "-")) {
        normal = normal.replace('/', "-");
        if matches!(normal.get(10..11), Some(" " | "_")) {
            normal.replace_range(10..11, "T");
        }
        if let Some(zero) = normal.strip_suffix("+00:00").map(|time| format!("{time}Z")) {
            normal = zero;
        }
    }
    normal
}

/// Year, month and day of a date whose month is a word, or that has the marks of East Asian dates.
fn spelled(words: &str) -> Option<(Option<u32>, u32, Option<u32>)> {
    if words.contains('月') || words.contains('월') {
        let parts: Vec<u32> = words
            .split(|c: char| c.to_digit(10).is_none() && number::wide_digit(c).is_none())
            .filter(|part| !part.is_empty())
            .filter_map(|part| {
                part.chars().map(|c| number::wide_digit(c).unwrap_or(c)).collect::<String>().parse().ok()
            })
            .collect();
        return match parts.as_slice() {
            [year, month, day] => Some((Some(*year), *month, Some(*day))),
            [year, month] if *year > 31 => Some((Some(*year), *month, None)),
            [month, day] => Some((None, *month, Some(*day))),
            _ => None,
        };
    }
    let mut found_month = None;
    let mut year = None;
    let mut day = None;
    for word in words.split([' ', ',', '.']).filter(|word| !word.is_empty()) {
        if let Some(month) = month(word) {
            found_month = Some(month);
        } else {
            let digits: String = word.chars().take_while(char::is_ascii_digit).collect();
            match digits.len() {
                1 | 2 => day = digits.parse().ok(),
                4 => year = digits.parse().ok(),
                _ if word == "of" => {}
                _ => return None,
            }
        }
    }
    Some((year, found_month?, day))
}

/// The month that a word names, in full or in three letters.
fn month(word: &str) -> Option<u32> {
    if !(3..=9).contains(&word.len()) || !word.starts_with(|c: char| c.is_ascii_uppercase()) {
        return None;
    }
    let lower = word.to_ascii_lowercase();
    let found = MONTHS.iter().position(|month| {
        *month == lower || month.get(..3) == Some(&lower) || (lower == "sept" && *month == "september")
    })?;
    u32::try_from(found + 1).ok()
}

/// `text`, where it starts with a year.
fn year_at(text: &str) -> Option<&str> {
    let digits = text.bytes().take(5).take_while(u8::is_ascii_digit).count();
    let year: u32 = text.get(..digits)?.parse().ok()?;
    (digits == 4 && (1900..2200).contains(&year)).then_some(text)
}

/// `12 August 2025`, `12 Aug`: the day is `day`, and ends at `end`.
fn day_first(text: &str, end: usize, day: &str) -> Option<usize> {
    if day.len() > 2 || !(1..=31).contains(&day.parse::<u32>().ok()?) {
        return None;
    }
    let rest = text.get(end..)?;
    let after = rest.strip_prefix(' ').map(|after| after.strip_prefix("of ").unwrap_or(after))?;
    let letters = after.bytes().take(10).take_while(u8::is_ascii_alphabetic).count();
    month(after.get(..letters)?)?;
    let to = text.len() - after.len() + letters;
    let tail = text.get(to..)?;
    let year = tail.strip_prefix(", ").or_else(|| tail.strip_prefix(' ')).unwrap_or_default();
    Some(year_at(year).map_or(to, |year| text.len() - year.len() + 4))
}

/// `2025年8月12日`, `8月12日`, `2025년 8월 12일`.
fn unspaced_date(text: &str, start: usize, first_end: usize) -> Option<usize> {
    let mut rest = text.get(first_end..)?;
    let mut to = None;
    let mark =
        |rest: &str, marks: [char; 2]| rest.chars().next().filter(|c| marks.contains(c)).map(char::len_utf8);
    let number = |rest: &str| {
        let rest = rest.strip_prefix(' ').unwrap_or(rest);
        let digits = rest.bytes().take(2).take_while(u8::is_ascii_digit).count();
        (digits > 0).then_some((rest.len(), digits))
    };
    if let Some(len) = mark(rest, ['年', '년']) {
        rest = rest.get(len..)?;
        let (left, digits) = number(rest)?;
        rest = rest.get(rest.len() - left + digits..)?;
    }
    if let Some(len) = mark(rest, ['月', '월']) {
        rest = rest.get(len..)?;
        to = Some(text.len() - rest.len());
        if let Some((left, digits)) = number(rest) {
            let after = rest.get(rest.len() - left + digits..)?;
            if let Some(len) = mark(after, ['日', '일']) {
                to = Some(text.len() - after.len() + len);
            }
        }
    }
    to.filter(|to| *to > start)
}

/// After a time: `AM`, `PM`, `a.m.`, and a zone.
fn with_half_day(text: &str, end: usize) -> usize {
    let rest = text.get(end..).unwrap_or_default();
    let after = rest.strip_prefix(' ').unwrap_or(rest);
    for half in ["a.m.", "p.m.", "am", "pm", "AM", "PM"] {
        if let Some(tail) = after.strip_prefix(half)
            && !tail.starts_with(|c: char| c.is_ascii_alphanumeric())
        {
            return text.len() - tail.len();
        }
    }
    for zone in [" UTC", " GMT"] {
        if rest.starts_with(zone) {
            return end + zone.len();
        }
    }
    end
}

/// `10 AM`.
fn hour_with_half_day(text: &str, end: usize, hour: &str) -> Option<usize> {
    let to = with_half_day(text, end);
    let hour: u32 = hour.parse().ok()?;
    let zone = text.get(end..to).is_some_and(|words| words.contains("UTC") || words.contains("GMT"));
    (to > end && (1..=12).contains(&hour) && !zone).then_some(to)
}

fn is_iso_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |range: std::ops::Range<usize>| {
        bytes.get(range).is_some_and(|part| part.iter().all(u8::is_ascii_digit))
    };
    let within = |range: std::ops::Range<usize>, most: u32| {
        text.get(range)
            .and_then(|part| part.parse::<u32>().ok())
            .is_some_and(|value| (1..=most).contains(&value))
    };
    bytes.len() == 10
        && bytes.get(4) == Some(&b'-')
        && bytes.get(7) == Some(&b'-')
        && digits(0..4)
        && digits(5..7)
        && digits(8..10)
        && within(5..7, 12)
        && within(8..10, 31)
}

/// `2025-08-12`, `2025/08/12`, `12.08.2025`, `08/12/2025`, `8/12/25`.
fn is_date(text: &str) -> bool {
    if is_iso_date(text) || (text.matches('/').count() == 2 && is_iso_date(&text.replace('/', "-"))) {
        return true;
    }
    let separator = if text.contains('/') { '/' } else { '.' };
    let mut parts = text.split(separator);
    let (Some(first), Some(second), Some(year), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let small = |part: &str, most: u32| {
        (1..=2).contains(&part.len()) && part.parse::<u32>().is_ok_and(|value| (1..=most).contains(&value))
    };
    let year_len = year.len() == 4 || (separator == '/' && year.len() == 2);
    let digits = year.bytes().all(|b| b.is_ascii_digit());
    year_len && digits && ((small(first, 31) && small(second, 12)) || (small(first, 12) && small(second, 31)))
}

/// `10:11`, `10:11:12.345`, with a zone or not.
fn is_time(text: &str) -> bool {
    let bare = text.strip_suffix('Z').unwrap_or(text);
    let zone =
        bare.char_indices().skip(4).find(|(_, c)| matches!(c, '+' | '-')).map_or(bare.len(), |(at, _)| at);
    let (clock, zone) = bare.split_at(zone);
    let zone_ok = zone.is_empty()
        || zone.get(1..).is_some_and(|zone| {
            let digits = zone.replace(':', "");
            (digits.len() == 4 || digits.len() == 2) && digits.bytes().all(|b| b.is_ascii_digit())
        });
    let mut parts = clock.split(':');
    let (Some(hour), Some(minute)) = (parts.next(), parts.next()) else { return false };
    let two = |part: &str, most: u32| part.len() == 2 && part.parse::<u32>().is_ok_and(|value| value <= most);
    let hour_ok = (1..=2).contains(&hour.len()) && hour.parse::<u32>().is_ok_and(|value| value < 24);
    let second_ok = parts.next().is_none_or(|second| {
        let (whole, fraction) = second.split_once(['.', ',']).unwrap_or((second, "0"));
        two(whole, 60) && !fraction.is_empty() && fraction.bytes().all(|b| b.is_ascii_digit())
    });
    zone_ok && hour_ok && two(minute, 59) && second_ok && parts.next().is_none()
}

/// `2025-08-12T10:11:12Z` in one word.
fn is_date_time(text: &str) -> bool {
    let Some(separator) = text.get(10..11) else { return false };
    matches!(separator, "T" | "t" | "_")
        && text.get(..10).is_some_and(is_iso_date)
        && text.get(11..).is_some_and(is_time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atom::chunk;

    fn read(text: &str) -> Option<(&str, String)> {
        let (end, flags) = chunk::end(text, 0);
        let to = at(text, 0, end, flags).or_else(|| month_first(text, 0, end))?;
        Some((&text[..to], normal(&text[..to])))
    }

    #[test]
    fn equal_dates_have_one_normal_form() {
        for (text, words, form) in [
            ("2025-08-12", "2025-08-12", "2025-08-12"),
            ("2025/08/12.", "2025/08/12", "2025-08-12"),
            ("August 12, 2025 was", "August 12, 2025", "2025-08-12"),
            ("12 Aug 2025", "12 Aug 2025", "2025-08-12"),
            ("12th of August, 2025", "12th of August, 2025", "2025-08-12"),
            ("2025年8月12日", "2025年8月12日", "2025-08-12"),
            ("2025-08-12T10:11:12.345Z", "2025-08-12T10:11:12.345Z", "2025-08-12T10:11:12.345Z"),
            ("2025-08-12 10:11:12 x", "2025-08-12 10:11:12", "2025-08-12T10:11:12"),
            ("2025-08-12T10:11:12+00:00", "2025-08-12T10:11:12+00:00", "2025-08-12T10:11:12Z"),
            ("May 5", "May 5", "--05-05"),
            ("June 2024", "June 2024", "2024-06"),
            ("10:30 AM", "10:30 AM", "10:30 AM"),
            ("10am", "10am", "10AM"),
            ("08/12/2025", "08/12/2025", "08/12/2025"),
        ] {
            assert_eq!(read(text), Some((words, form.to_owned())), "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_a_date_is_none() {
        for text in
            ["2025-13-12", "25:10", "1/2", "May I", "10:5", "12 apples", "99/99/2020", "Mayor 5", "1.2.3"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
