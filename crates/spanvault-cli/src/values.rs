//! Values that arguments hold, as people write them.

use clap::{Args, ValueEnum};
use spanvault::{NeededUntil, ScopeName};
use spanvault_types::{DemandKind, EvidentialClass, StoreTime, TimeError, Ttl, TtlRule};

/// An evidential class.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum ClassValue {
    /// Words only
    Narrative,
    /// Holds verifiable details
    Structured,
    /// Records a change to the world, or one that cannot be ruled out
    SideEffecting,
}

impl From<ClassValue> for EvidentialClass {
    fn from(class: ClassValue) -> Self {
        match class {
            ClassValue::Narrative => Self::Narrative,
            ClassValue::Structured => Self::Structured,
            ClassValue::SideEffecting => Self::SideEffecting,
        }
    }
}

/// An operation that demands evidence.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum OperationValue {
    /// Every side effect with its proof
    Audit,
    /// The originals in order
    Replay,
    /// Does the evidence contradict a claim?
    Check,
    /// Was this done already?
    Execute,
}

impl From<OperationValue> for DemandKind {
    fn from(operation: OperationValue) -> Self {
        match operation {
            OperationValue::Audit => Self::Audit,
            OperationValue::Replay => Self::Replay,
            OperationValue::Check => Self::Check,
            OperationValue::Execute => Self::Execute,
        }
    }
}

/// What a demand is about; everything where nothing is said.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct ScopeArgs {
    /// A session, now and later
    #[arg(long, value_name = "S")]
    session: Option<String>,
    /// A class, now and later
    #[arg(long, value_name = "C")]
    class: Option<ClassValue>,
    /// Calls of a tool and their results, now and later
    #[arg(long, value_name = "TOOL")]
    tool: Option<String>,
    /// Calls that touch a path, or anything under it, and their results, now and later
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// One span
    #[arg(long, value_name = "SPAN")]
    span: Option<spanvault::SpanId>,
    /// All originals behind a summary
    #[arg(long, value_name = "SUMMARY")]
    summary: Option<spanvault::SummaryId>,
}

impl From<&ScopeArgs> for ScopeName {
    fn from(args: &ScopeArgs) -> Self {
        let session = args.session.clone().map(Self::Session);
        let class = || args.class.map(|class| Self::Class(class.into()));
        let tool = || args.tool.clone().map(Self::Tool);
        let path = || args.path.clone().map(Self::Path);
        let span = || args.span.map(|span| Self::Named(span.into()));
        let summary = || args.summary.map(|summary| Self::Named(summary.into()));
        session.or_else(class).or_else(tool).or_else(path).or_else(span).or_else(summary).unwrap_or(Self::All)
    }
}

/// Until when something is needed.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct UntilArgs {
    /// Until an instant, such as 2027-01-31T00:00:00Z
    #[arg(long, value_name = "T", value_parser = instant)]
    until: Option<StoreTime>,
    /// For a time from now, such as 90d
    #[arg(long = "for", value_name = "D", value_parser = Ttl::parse)]
    for_: Option<Ttl>,
    /// Nobody knows: it is never safe to let go
    #[arg(long)]
    unknown: bool,
}

impl From<&UntilArgs> for NeededUntil {
    fn from(args: &UntilArgs) -> Self {
        match (args.until, args.for_) {
            (Some(at), _) => Self::At(at),
            (None, Some(ttl)) => Self::For(ttl),
            (None, None) => Self::Unknown,
        }
    }
}

/// Reads an instant.
pub(crate) fn instant(text: &str) -> Result<StoreTime, String> {
    let at: jiff::Timestamp =
        text.parse().map_err(|_unreadable| "expected an instant such as 2027-01-31T00:00:00Z".to_owned())?;
    let ms = u64::try_from(at.as_millisecond()).map_err(|_before| "before 1970".to_owned())?;
    Ok(StoreTime::from_ms(ms))
}

/// Reads a length of time, or `forever`.
pub(crate) fn ttl_rule(text: &str) -> Result<TtlRule, TimeError> {
    if text == "forever" { Ok(TtlRule::Forever) } else { Ttl::parse(text).map(TtlRule::For) }
}

/// A length of time as it is written.
pub(crate) fn ttl_rule_in_words(rule: TtlRule) -> String {
    match rule {
        TtlRule::For(ttl) => ttl.to_string(),
        TtlRule::Forever => "forever".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_says_its_zone_and_lies_after_1970() {
        assert_eq!(instant("1970-01-01T00:00:01Z"), Ok(StoreTime::from_ms(1000)));
        assert_eq!(instant("1970-01-01T01:00:00.5+01:00"), Ok(StoreTime::from_ms(500)));
        for bad in ["tomorrow", "2027-01-31", "2027-01-31T00:00:00", "1969-12-31T23:59:59Z"] {
            assert!(instant(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn forever_must_be_said() {
        assert_eq!(ttl_rule("forever"), Ok(TtlRule::Forever));
        assert_eq!(ttl_rule("0d"), Err(TimeError::Zero));
        assert_eq!(ttl_rule_in_words(ttl_rule("90d").unwrap()), "90d");
    }
}
