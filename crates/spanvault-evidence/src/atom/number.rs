//! Numbers: sign, separators, percent, money and units, in one normal form.

/// A number in a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) start: usize,
    /// After its unit.
    pub(super) end: usize,
    /// Without separators, trailing zeros and spelling of the unit: `1,024 kB` is `1024kb`.
    pub(super) normal: String,
}

/// Units that may follow a number, with or without one space, and their normal form.
const UNITS: &[(&str, &str)] = &[
    ("%", "%"),
    ("percent", "%"),
    ("B", "b"),
    ("bytes", "b"),
    ("byte", "b"),
    ("kB", "kb"),
    ("KB", "kb"),
    ("K", "k"),
    ("k", "k"),
    ("MB", "mb"),
    ("M", "m"),
    ("GB", "gb"),
    ("G", "g"),
    ("TB", "tb"),
    ("T", "t"),
    ("KiB", "kib"),
    ("MiB", "mib"),
    ("GiB", "gib"),
    ("TiB", "tib"),
    ("ns", "ns"),
    ("us", "us"),
    ("µs", "us"),
    ("μs", "us"),
    ("ms", "ms"),
    ("msec", "ms"),
    ("milliseconds", "ms"),
    ("s", "s"),
    ("sec", "s"),
    ("secs", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("m", "m"),
    ("min", "min"),
    ("mins", "min"),
    ("minute", "min"),
    ("minutes", "min"),
    ("h", "h"),
    ("hr", "h"),
    ("hrs", "h"),
    ("hour", "h"),
    ("hours", "h"),
    ("d", "d"),
    ("day", "d"),
    ("days", "d"),
    ("w", "w"),
    ("week", "w"),
    ("weeks", "w"),
    ("month", "mo"),
    ("months", "mo"),
    ("year", "y"),
    ("years", "y"),
    ("px", "px"),
    ("pt", "pt"),
    ("em", "em"),
    ("rem", "rem"),
    ("mm", "mm"),
    ("cm", "cm"),
    ("km", "km"),
    ("kg", "kg"),
    ("g", "g"),
    ("mg", "mg"),
    ("lb", "lb"),
    ("lbs", "lb"),
    ("Hz", "hz"),
    ("kHz", "khz"),
    ("MHz", "mhz"),
    ("GHz", "ghz"),
    ("x", "x"),
    ("X", "x"),
    ("st", ""),
    ("nd", ""),
    ("rd", ""),
    ("th", ""),
    ("°C", "°c"),
    ("°F", "°f"),
    ("USD", "$"),
    ("dollars", "$"),
    ("dollar", "$"),
    ("EUR", "€"),
    ("euros", "€"),
    ("euro", "€"),
    ("GBP", "£"),
    ("pounds", "£"),
    ("JPY", "¥"),
    ("yen", "¥"),
    ("CHF", "chf"),
    ("€", "€"),
    ("£", "£"),
    ("¥", "¥"),
    ("元", "¥"),
    ("円", "¥"),
];

/// Units of one letter or so count only where they touch the number: `5 m` may be anything.
const TOUCHING_LEN_MAX: usize = 1;

/// Whether a character stands for a currency.
pub(super) fn is_currency(c: char) -> bool {
    matches!(c, '€' | '£' | '¥' | '₹' | '₩' | '₽' | '₿' | '¢' | '￥')
}

/// Spaces that separate groups of digits.
pub(super) fn is_thin_space(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{202f}' | '\u{2009}')
}

/// The value of a full-width digit.
pub(super) fn wide_digit(c: char) -> Option<char> {
    let offset = u32::from(c).checked_sub(0xFF10)?;
    char::from_digit(offset, 10)
}

/// The number that the chunk `start..end` of `text` is, if it is one; its unit may stand after the chunk.
pub(super) fn at(text: &str, start: usize, end: usize) -> Option<Number> {
    let chunk = text.get(start..end)?;
    let mut rest = chunk;
    let mut sign = "";
    let mut currency: Option<char> = None;
    // `-$5`, `$-5`, `+3`, `US$5`, `€ 5` (the currency alone is a chunk of its own and is skipped there).
    for _ in 0..3 {
        if let Some(after) = rest.strip_prefix("US$") {
            currency = Some('$');
            rest = after;
        } else {
            match rest.chars().next()? {
                '-' => {
                    sign = "-";
                    rest = rest.get(1..)?;
                }
                '+' | '~' => rest = rest.get(1..)?,
                '$' => {
                    currency = Some('$');
                    rest = rest.get(1..)?;
                }
                c if is_currency(c) => {
                    currency = Some(if c == '￥' { '¥' } else { c });
                    rest = rest.get(c.len_utf8()..)?;
                }
                _ => break,
            }
        }
    }
    let (digits, used) = digits(rest)?;
    let after = rest.get(used..)?;
    let number_end = end - after.len();
    let (unit, unit_end) = unit(text, after, number_end, end)?;
    let mut normal = String::with_capacity(digits.len() + 6);
    normal.push_str(sign);
    match (currency, unit) {
        (Some(currency), _) => {
            normal.push(currency);
            normal.push_str(&digits);
            // `$5k`, `$3M` are other amounts than `$5`.
            normal.push_str(unit);
        }
        (None, "$" | "€" | "£" | "¥") => {
            normal.push_str(unit);
            normal.push_str(&digits);
        }
        (None, unit) => {
            normal.push_str(&digits);
            normal.push_str(unit);
        }
    }
    Some(Number { start, end: unit_end, normal })
}

/// The digits at the start of `text` in normal form, and how many bytes they take.
fn digits(text: &str) -> Option<(String, usize)> {
    let mut plain = String::new();
    let mut used = 0;
    let mut marks: Vec<(usize, char)> = Vec::new();
    let mut exponent = String::new();
    for (at, c) in text.char_indices() {
        if let Some(digit) =
            c.to_digit(10).and_then(|digit| char::from_digit(digit, 10)).or_else(|| wide_digit(c))
        {
            plain.push(digit);
            used = at + c.len_utf8();
        } else if matches!(c, ',' | '.' | '_' | '，' | '．') || is_thin_space(c) {
            if plain.is_empty() && c != '.' {
                return None;
            }
            let mark = if matches!(c, '，') {
                ','
            } else if c == '．' {
                '.'
            } else {
                c
            };
            marks.push((plain.len(), mark));
        } else if matches!(c, 'e' | 'E') && !plain.is_empty() && exponent.is_empty() {
            let tail = text.get(at + 1..)?;
            let signed = tail.strip_prefix(['-', '+']).unwrap_or(tail);
            let count = signed.bytes().take_while(u8::is_ascii_digit).count();
            if count == 0 || count > 4 {
                break;
            }
            let len = tail.len() - signed.len() + count;
            exponent = format!("e{}", tail.get(..len)?.trim_start_matches('+'));
            used = at + 1 + len;
            break;
        } else {
            break;
        }
    }
    if plain.is_empty() {
        return None;
    }
    // A mark after the last digit belongs to the sentence.
    while marks.last().is_some_and(|(at, _)| *at == plain.len()) {
        marks.pop();
    }
    let (whole, fraction) = match marks_of(&plain, &marks) {
        Marks::Point(at) => (plain.get(..at)?, plain.get(at..)?.trim_end_matches('0')),
        Marks::Whole => (plain.as_str(), ""),
        Marks::Several => return None,
    };
    let whole = if whole.is_empty() { "0" } else { whole };
    let mut normal = whole.to_owned();
    if !fraction.is_empty() {
        normal.push('.');
        normal.push_str(fraction);
    }
    normal.push_str(&exponent);
    Some((normal, used))
}

/// What the marks between digits make of them.
#[derive(Debug, PartialEq, Eq)]
enum Marks {
    /// A whole number: they only group.
    Whole,
    /// A number with its decimal point before this digit.
    Point(usize),
    /// Not one number: `1,2,3`, `1.2.3`, and `3,5`, which half of the world reads as two.
    Several,
}

fn marks_of(plain: &str, marks: &[(usize, char)]) -> Marks {
    let Some((&(last_at, last), groups)) = marks.split_last() else { return Marks::Whole };
    let grouped = |marks: &[(usize, char)], end: usize| {
        let mut right = end;
        let threes = marks.iter().rev().all(|(at, _)| {
            let three = right - at == 3;
            right = *at;
            three
        });
        let alike = marks.iter().all(|(_, mark)| Some(mark) == marks.first().map(|(_, mark)| mark));
        threes && alike && (1..=3).contains(&right)
    };
    match (last, groups.first()) {
        ('_', _) if marks.iter().all(|(_, mark)| *mark == '_') => Marks::Whole,
        ('.', None) => Marks::Point(last_at),
        ('.' | ',', Some((_, other))) if *other != last && grouped(groups, last_at) => Marks::Point(last_at),
        (',' | '.', _) if grouped(marks, plain.len()) => Marks::Whole,
        (mark, _) if is_thin_space(mark) && grouped(marks, plain.len()) => Marks::Whole,
        _ => Marks::Several,
    }
}

/// The unit after a number: its normal form and where it ends. `None` where letters follow that are no unit, so
/// that the chunk is no number.
fn unit<'u>(text: &str, after: &str, number_end: usize, chunk_end: usize) -> Option<(&'u str, usize)> {
    if !after.is_empty() {
        if let Some((_, unit)) = UNITS.iter().find(|(word, _)| *word == after) {
            return Some((unit, chunk_end));
        }
        // `30%` at the end of `30%-40%` is read piece by piece.
        return None;
    }
    let rest = text.get(number_end..).unwrap_or_default();
    let (spaced, rest) = match rest.strip_prefix([' ', '\u{a0}', '\u{202f}']) {
        Some(after) => (true, after),
        None => (false, rest),
    };
    let touching = ["%", "°C", "°F", "€", "£", "¥", "元", "円", "µs", "μs"];
    if let Some(word) = touching.iter().find(|word| rest.starts_with(**word)) {
        let unit = UNITS.iter().find(|(name, _)| name == word).map_or("", |(_, unit)| unit);
        return Some((unit, text.len() - rest.len() + word.len()));
    }
    if spaced {
        let len = rest.bytes().take(14).take_while(u8::is_ascii_alphabetic).count();
        let word = rest.get(..len)?;
        if len > TOUCHING_LEN_MAX
            && !matches!(word, "st" | "nd" | "rd" | "th" | "em" | "us")
            && let Some((_, unit)) = UNITS.iter().find(|(name, _)| *name == word)
        {
            return Some((unit, text.len() - rest.len() + len));
        }
    }
    Some(("", number_end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(text: &str) -> Option<String> {
        let end = text.find(' ').unwrap_or(text.len());
        at(text, 0, end).map(|number| number.normal)
    }

    #[test]
    fn equal_numbers_have_one_normal_form() {
        for (texts, expected) in [
            (&["1024", "1,024", "1_024", "1\u{202f}024", "1024.0", "１０２４", "+1024"][..], "1024"),
            (&["-43.59", "-43.590"], "-43.59"),
            (&["$1,024.50", "US$1024.5", "1024.50 USD", "1,024.5 dollars"], "$1024.5"),
            (&["-$5", "$-5"], "-$5"),
            (&["€1.024,50", "1024.5 euros"], "€1024.5"),
            (&["50%", "50.0%", "50 percent"], "50%"),
            (&["12ms", "12 ms", "12 milliseconds"], "12ms"),
            (&["3.5GB", "3.5 GB"], "3.5gb"),
            (&["1e-5", "1E-5"], "1e-5"),
            (&["2nd"], "2"),
            (&[".5", "0.5"], "0.5"),
            (&["12,345,678"], "12345678"),
        ] {
            for text in texts {
                assert_eq!(normal(text).as_deref(), Some(expected), "{text}");
            }
        }
    }

    #[test]
    fn what_is_not_one_number_is_none() {
        for text in ["1,2,3", "1.2.3", "3a7f", "10-20", "12abc", "1,23,456", "-", "1.2.3.4", "10:30"] {
            assert_eq!(normal(text), None, "{text}");
        }
    }
}
