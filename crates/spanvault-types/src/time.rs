//! Store time, retention lengths and the instants computed from them.
//!
//! Store time is the vault's own conservative time line (INVARIANTS I5): it never runs faster than real
//! time. Nothing here reads a clock; `spanvault-env` does.

use std::fmt;

use bincode::{Decode, Encode};

use crate::planted::{Bug, is_planted};

/// An instant of store time, in milliseconds of the calendar (Unix epoch) that store time is anchored to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Encode, Decode)]
pub struct StoreTime(u64);

impl StoreTime {
    /// The instant `ms` milliseconds after the epoch.
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms)
    }

    /// Milliseconds after the epoch.
    pub const fn as_ms(self) -> u64 {
        self.0
    }

    /// This instant moved later by `ttl`; what does not fit is [`Expiry::Forever`] (I34).
    pub const fn after(self, ttl: Ttl) -> Expiry {
        match self.0.checked_add(ttl.0) {
            Some(ms) => Expiry::At(Self(ms)),
            None => Expiry::Forever,
        }
    }

    /// This instant moved later by `ms` milliseconds, saturating.
    #[must_use]
    pub const fn plus_ms(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }
}

impl fmt::Debug for StoreTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.0)
    }
}

/// A length of time in milliseconds, never zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
pub struct Ttl(u64);

/// A duration that is refused at the boundary (I34).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TimeError {
    /// Zero length.
    #[error("use a duration of zero")]
    Zero,
    /// Less than nothing.
    #[error("use the negative duration {0:?}")]
    Negative(String),
    /// More milliseconds than a log can count.
    #[error("use the duration {0:?}: longer than the log can count")]
    TooLong(String),
    /// Not a duration at all.
    #[error("read the duration {0:?}: expected a number and one of ms, s, m, h, d, w, y")]
    Unreadable(String),
}

impl Ttl {
    /// A length of `ms` milliseconds.
    ///
    /// # Errors
    /// [`TimeError::Zero`] where `ms` is 0: "no time at all" is never what a keeper of evidence means.
    pub const fn from_ms(ms: u64) -> Result<Self, TimeError> {
        if ms == 0 { Err(TimeError::Zero) } else { Ok(Self(ms)) }
    }

    /// A length of `n` whole days; at least one.
    pub const fn days(n: u32) -> Self {
        Self(if n == 0 { 1 } else { n as u64 } * 86_400_000)
    }

    /// Milliseconds.
    pub const fn as_ms(self) -> u64 {
        self.0
    }

    /// Reads `90d`, `36h`, `15m`, `30s`, `250ms`, `2w`, `1y` (365 days).
    ///
    /// # Errors
    /// Zero, negative, overflowing and unreadable durations are refused, each by its own error.
    pub fn parse(text: &str) -> Result<Self, TimeError> {
        let trimmed = text.trim();
        if trimmed.starts_with('-') {
            return Err(TimeError::Negative(text.to_owned()));
        }
        let digits_end = trimmed.find(|c: char| !c.is_ascii_digit()).unwrap_or(trimmed.len());
        let (digits, unit) = trimmed.split_at(digits_end);
        if digits.is_empty() {
            return Err(TimeError::Unreadable(text.to_owned()));
        }
        let unit_ms: u64 = match unit.trim() {
            "ms" => 1,
            "s" => 1_000,
            "m" | "min" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            "w" => 7 * 86_400_000,
            "y" => 365 * 86_400_000,
            _ => return Err(TimeError::Unreadable(text.to_owned())),
        };
        let too_long = || TimeError::TooLong(text.to_owned());
        let count: u64 = digits.parse().map_err(|_digits| too_long())?;
        Self::from_ms(count.checked_mul(unit_ms).ok_or_else(too_long)?)
    }
}

impl fmt::Display for Ttl {
    /// The largest unit that divides the length.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, ms) in [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)] {
            if self.0.is_multiple_of(ms) {
                return write!(f, "{}{unit}", self.0 / ms);
            }
        }
        write!(f, "{}ms", self.0)
    }
}

/// The length part of a retention rule: a duration, or *forever*, which must be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Encode, Decode)]
pub enum TtlRule {
    /// For this long.
    For(Ttl),
    /// Without end.
    Forever,
}

/// When an original's retention ends.
///
/// Ordered by how long it keeps: an instant, then [`Expiry::Never`] (no rule: never due, but a later rule may
/// still give one), then [`Expiry::Forever`] (said).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
pub enum Expiry {
    /// Due after this instant.
    At(StoreTime),
    /// No rule gave an expiry: never due.
    Never,
    /// A rule said *forever*.
    Forever,
}

impl Expiry {
    /// Whether retention alone would let the original go at `now`: strictly after the instant (I35).
    pub fn is_past(self, now: StoreTime) -> bool {
        matches!(self, Self::At(at) if now > at || is_planted(Bug::DueAtTheInstant) && now == at)
    }

    /// The instant, where there is one.
    pub const fn instant(self) -> Option<StoreTime> {
        match self {
            Self::At(at) => Some(at),
            Self::Never | Self::Forever => None,
        }
    }
}

/// The latest instant at which a demand still needs its originals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
pub enum Horizon {
    /// Until this instant.
    Until(StoreTime),
    /// Nobody knows: never safe to remove.
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i34_zero_negative_and_overflowing_durations_are_refused() {
        assert_eq!(Ttl::parse("0s"), Err(TimeError::Zero));
        assert_eq!(Ttl::parse("-1d"), Err(TimeError::Negative("-1d".into())));
        assert_eq!(
            Ttl::parse("99999999999999999999d"),
            Err(TimeError::TooLong("99999999999999999999d".into()))
        );
        assert_eq!(Ttl::parse("1000000000000d"), Err(TimeError::TooLong("1000000000000d".into())));
        for unreadable in ["", "d", "NaN", "1.5d", "5 parsecs"] {
            assert_eq!(Ttl::parse(unreadable), Err(TimeError::Unreadable(unreadable.into())));
        }
        assert_eq!(Ttl::parse("90d").map(Ttl::as_ms), Ok(90 * 86_400_000));
    }

    #[test]
    fn i34_an_instant_that_does_not_fit_is_forever() {
        let ttl = Ttl::parse("1ms").unwrap();
        assert_eq!(StoreTime::from_ms(u64::MAX).after(ttl), Expiry::Forever);
    }

    #[test]
    fn i35_expiry_is_strict_and_no_rule_is_never_due() {
        let at = StoreTime::from_ms(10);
        assert!(!Expiry::At(at).is_past(at));
        assert!(Expiry::At(at).is_past(StoreTime::from_ms(11)));
        assert!(!Expiry::Never.is_past(StoreTime::from_ms(u64::MAX)));
        assert!(Expiry::At(StoreTime::from_ms(u64::MAX)) < Expiry::Never && Expiry::Never < Expiry::Forever);
    }

    #[test]
    fn a_duration_shows_in_the_unit_that_divides_it() {
        for text in ["90d", "36h", "15m", "30s", "250ms"] {
            assert_eq!(Ttl::parse(text).unwrap().to_string(), text);
        }
    }
}
