//! Timestamps as transcripts write them.

use crate::json::Raw;

/// Milliseconds after the epoch: from RFC 3339 text, or from a number of seconds or milliseconds.
///
/// `None` for anything else, and for instants that no calendar holds.
pub(crate) fn timestamp_ms(raw: Raw<'_>) -> Option<i64> {
    if let Some(text) = raw.string() {
        return text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond);
    }
    ms_of_number(raw.float()?)
}

/// Milliseconds after the epoch, of a number of seconds or milliseconds.
pub(crate) fn ms_of_number(number: f64) -> Option<i64> {
    // Seconds reach this size in the year 5138, milliseconds in 1973.
    let ms = if number.abs() < 1e11 { number * 1000.0 } else { number };
    #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
    (ms.abs() < 9e15).then(|| ms.round() as i64)
}

/// Such an instant, or one without a zone, which is taken for UTC: the machine's own zone is not known.
pub(crate) fn local_timestamp_ms(raw: Raw<'_>) -> Option<i64> {
    timestamp_ms(raw).or_else(|| ms_of_local(&raw.string()?))
}

/// The same of text.
pub(crate) fn ms_of(text: &str) -> Option<i64> {
    let instant = text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond);
    instant.or_else(|| ms_of_local(text))
}

fn ms_of_local(text: &str) -> Option<i64> {
    let local: jiff::civil::DateTime = text.parse().ok()?;
    Some(jiff::tz::Offset::UTC.to_timestamp(local).ok()?.as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<i64> {
        timestamp_ms(Raw::whole(text).unwrap())
    }

    #[test]
    fn text_and_numbers_give_milliseconds() {
        assert_eq!(read(r#""2026-02-03T09:00:01.250Z""#), Some(1_770_109_201_250));
        assert_eq!(read(r#""2026-02-03T10:00:01.25+01:00""#), Some(1_770_109_201_250));
        assert_eq!(read("1775802351.8737438"), Some(1_775_802_351_874));
        assert_eq!(read("1775802351873"), Some(1_775_802_351_873));
    }

    #[test]
    fn a_time_without_a_zone_is_utc_where_the_format_has_none() {
        let read = |text| local_timestamp_ms(Raw::whole(text).unwrap());
        assert_eq!(read(r#""2026-02-03T09:00:01.250000""#), Some(1_770_109_201_250));
        assert_eq!(read(r#""2026-02-03T10:00:01.25+01:00""#), Some(1_770_109_201_250));
        assert_eq!(read(r#""9999-99-99T10:00:01""#), None);
    }

    #[test]
    fn instants_beyond_reason_are_kept_or_absent_and_never_a_panic() {
        assert_eq!(read(r#""1970-01-01T00:00:00Z""#), Some(0));
        assert_eq!(read(r#""1901-12-13T20:45:52Z""#), Some(-2_147_483_648_000));
        assert_eq!(read(r#""2262-04-12T00:00:00Z""#), Some(9_223_372_800_000));
        assert_eq!(read("-5"), Some(-5000));
        for absent in [
            r#""yesterday""#,
            r#""2026-02-03T09:00:01""#,
            r#""+999999-01-01T00:00:00Z""#,
            "1e300",
            "1e400",
            "null",
            "{}",
        ] {
            assert_eq!(read(absent), None, "{absent}");
        }
    }
}
