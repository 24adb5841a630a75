//! Shapes that several answers share: instants, needs, reasons and ways out as JSON and as words.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};
use spanvault_types::{
    ByteRange, CarriedKind, DemandRef, Expiry, Fidelity, Horizon, Operation, Position, Reason, ReasonKind,
    Scope, StoreTime, WayOut,
};

use spanvault::{AtomKind, DemandId, HoldId, SpanId, SummaryId, Vault};

use crate::output;

/// An instant as JSON has it.
pub(crate) fn instant(at: StoreTime) -> String {
    output::rfc3339(at)
}

/// A timestamp of a transcript as JSON has it.
pub(crate) fn timestamp(ms: Option<i64>) -> Option<String> {
    ms.map(output::timestamp)
}

/// When something ends as JSON has it: an instant, `null` for never, or `"forever"`, which was said.
pub(crate) fn expiry(at: Expiry) -> Option<String> {
    match at {
        Expiry::At(at) => Some(instant(at)),
        Expiry::Never => None,
        Expiry::Forever => Some("forever".to_owned()),
    }
}

/// Until when something is needed as JSON has it: an instant or `"unknown"`.
pub(crate) fn horizon(until: Horizon) -> String {
    match until {
        Horizon::Until(at) => instant(at),
        Horizon::Unknown => "unknown".to_owned(),
    }
}

/// The same for people.
pub(crate) fn expiry_in_words(at: Expiry) -> String {
    match at {
        Expiry::At(at) => output::instant(at),
        Expiry::Never => "never".to_owned(),
        Expiry::Forever => "forever".to_owned(),
    }
}

/// The same for people.
pub(crate) fn horizon_in_words(until: Horizon) -> String {
    match until {
        Horizon::Until(at) => output::instant(at),
        Horizon::Unknown => "an unknown instant".to_owned(),
    }
}

/// A demand by its id, or `assumed`.
pub(crate) fn demand(demand: DemandRef) -> String {
    match demand {
        DemandRef::Assumed => "assumed".to_owned(),
        DemandRef::Declared(at) => DemandId(at).to_string(),
    }
}

fn demand_in_words(demand: DemandRef) -> String {
    match demand {
        DemandRef::Assumed => "the assumed audit".to_owned(),
        DemandRef::Declared(at) => format!("demand {}", DemandId(at)),
    }
}

/// The name of a session that the log names by position.
pub(crate) fn session_name(vault: &Vault, at: Position) -> String {
    vault.session_name(at).unwrap_or_else(|_unreadable| format!("at {at}"))
}

/// A scope: what kind, and of what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ScopeResponse {
    /// `all`, `session`, `class`, `tool`, `path`, `span`, `original` or `summary`.
    pub(crate) kind: &'static str,
    /// Its name; `null` for everything.
    pub(crate) name: Option<String>,
}

impl ScopeResponse {
    pub(crate) fn new(vault: &Vault, scope: &Scope) -> Self {
        let (kind, name) = match scope {
            Scope::All => ("all", None),
            Scope::Session(at) => ("session", Some(session_name(vault, *at))),
            Scope::Class(class) => ("class", Some(class.as_str().to_owned())),
            Scope::Tool(tool) => ("tool", Some(tool.clone())),
            Scope::Path(path) => ("path", Some(path.clone())),
            Scope::Span(at) => ("span", Some(SpanId(*at).to_string())),
            Scope::Original(at) => ("original", Some(SpanId(*at).to_string())),
            Scope::Summary(at) => ("summary", Some(SummaryId(*at).to_string())),
        };
        Self { kind, name }
    }

    /// For people.
    pub(crate) fn in_words(&self) -> String {
        match &self.name {
            None => "everything".to_owned(),
            Some(name) => format!("{} {name}", self.kind),
        }
    }
}

/// What somebody asked the gate for.
pub(crate) const fn operation(operation: Operation) -> &'static str {
    match operation {
        Operation::Compact => "compact",
        Operation::Reclaim => "reclaim",
        Operation::Demand => "demand",
    }
}

/// What a live mark is about.
pub(crate) const fn carried(kind: CarriedKind) -> &'static str {
    match kind {
        CarriedKind::Obligation => "obligation",
        CarriedKind::Negative => "negative",
        CarriedKind::Reference => "reference",
    }
}

/// As many digits of a hash as people need to name an original.
pub(crate) fn short_hash(hash: &str) -> String {
    hash.chars().take(12).collect()
}

/// A range of bytes, the end exclusive.
pub(crate) const fn range(range: ByteRange) -> [u64; 2] {
    [range.start, range.end]
}

/// One reason of a refusal.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ReasonResponse {
    /// Its name: what refusals are counted by.
    pub(crate) reason: &'static str,
    /// What it says, in words.
    pub(crate) text: String,
    /// Its particulars.
    #[serde(flatten)]
    particulars: Value,
}

impl From<&Reason> for ReasonResponse {
    fn from(reason: &Reason) -> Self {
        let particulars = match reason {
            Reason::ExpiresBeforeNeed { expires_at, needed_until, demand: needs } => json!({
                "expires_at": expiry(*expires_at),
                "needed_until": horizon(*needed_until),
                "demand": demand(*needs),
            }),
            Reason::Held { hold } => json!({"hold": HoldId(*hold).to_string()}),
            Reason::Leased { lease, until } => {
                json!({"lease": SummaryId(*lease).to_string(), "until": horizon(*until)})
            }
            Reason::NotDue { kept_until } => json!({"kept_until": expiry(*kept_until)}),
            Reason::NotCondemned { ready_at } => json!({"ready_at": ready_at.and_then(expiry)}),
            Reason::OpenObligation { range: at } | Reason::UnabsorbedNegative { range: at } => {
                json!({"range": range(*at)})
            }
            Reason::DanglingReference { range: at, used_by } => {
                json!({"range": range(*at), "used_by": SpanId(*used_by).to_string()})
            }
            Reason::DishonestSummary { unnamed } => json!({"unnamed": unnamed}),
            Reason::SummaryNotAdmitted { why } => json!({"why": fault(*why)}),
            Reason::NotRetrievable { original } => json!({"original": SpanId(*original).to_string()}),
            Reason::NoPointer
            | Reason::ClockUntrusted
            | Reason::Unreadable
            | Reason::StorePoisoned
            | Reason::NoSpace => json!({}),
        };
        Self { reason: reason.kind().as_str(), text: reason_in_words(reason), particulars }
    }
}

/// Several reasons in one line.
pub(crate) fn reasons_in_words(reasons: &[ReasonResponse]) -> String {
    output::joined(reasons.iter().map(|reason| format!("{} ({})", reason.reason, reason.text)), "none")
}

/// The name of an admission fault.
fn fault(why: spanvault_types::AdmissionFault) -> &'static str {
    use spanvault_types::AdmissionFault as Fault;
    match why {
        Fault::Empty => "empty",
        Fault::ErrorMessage => "error_message",
        Fault::Unrelated => "unrelated",
        Fault::LargerThanSources => "larger_than_sources",
        Fault::NoSources => "no_sources",
    }
}

/// What a reason says, in words.
pub(crate) fn reason_in_words(reason: &Reason) -> String {
    match reason {
        Reason::NoPointer => "the summary has no pointer to this original".to_owned(),
        Reason::NotRetrievable { .. } => "the original cannot be read back".to_owned(),
        Reason::ExpiresBeforeNeed { expires_at, needed_until, demand } => format!(
            "it expires {}, and {} needs it until {}",
            expiry_in_words(*expires_at),
            demand_in_words(*demand),
            horizon_in_words(*needed_until)
        ),
        Reason::Held { hold } => format!("hold {} keeps it", HoldId(*hold)),
        Reason::Leased { lease, until } => match until {
            Horizon::Until(at) => format!("leased by {} until {}", SummaryId(*lease), output::instant(*at)),
            Horizon::Unknown => format!("leased by {} until its demand is withdrawn", SummaryId(*lease)),
        },
        Reason::NotDue { kept_until } => match kept_until {
            Expiry::At(at) => format!("kept until {}", output::instant(*at)),
            Expiry::Never => "no retention rule makes it due".to_owned(),
            Expiry::Forever => "kept forever".to_owned(),
        },
        Reason::NotCondemned { ready_at } => match ready_at {
            Some(at) => format!("condemned, the grace ends {}", expiry_in_words(*at)),
            None => "not condemned yet".to_owned(),
        },
        Reason::OpenObligation { .. } => "a promise or a call in it is open".to_owned(),
        Reason::UnabsorbedNegative { .. } => {
            "it failed or found nothing, and nothing kept says so".to_owned()
        }
        Reason::DanglingReference { used_by, .. } => {
            format!("{} uses a detail that stands only here", SpanId(*used_by))
        }
        Reason::DishonestSummary { unnamed } => {
            format!("the summary drops {} without naming them", output::counted(*unnamed, "detail"))
        }
        Reason::SummaryNotAdmitted { why } => {
            format!("the summary is not admitted: {}", fault(*why).replace('_', " "))
        }
        Reason::ClockUntrusted => "the clock cannot be trusted".to_owned(),
        Reason::Unreadable => "something that the decision needs could not be read".to_owned(),
        Reason::StorePoisoned => "the store stopped after a failed sync".to_owned(),
        Reason::NoSpace => "the disk is full".to_owned(),
    }
}

/// A way out of a refusal in `session`, in words that name the next command.
pub(crate) fn way_out_in_words(way: &WayOut, session: &str) -> String {
    match way {
        WayOut::PreserveVerbatim => "leave it in the context as it is".to_owned(),
        WayOut::EmitHonestSummary => "give a summary that names what it drops".to_owned(),
        WayOut::ExtendRetention { until: Horizon::Until(at) } => format!(
            "keep it until {}: \"spanvault compact --extend\" or \"spanvault retention set --keep-for\"",
            output::instant(*at)
        ),
        WayOut::ExtendRetention { until: Horizon::Unknown } => {
            "keep it forever: \"spanvault retention set --keep-for forever\"".to_owned()
        }
        WayOut::Checkpoint => format!("carry what is open: \"spanvault checkpoint {session}\""),
        WayOut::Discharge => "do what was promised, or record the missing result".to_owned(),
        WayOut::Wait { until } => match until {
            Expiry::At(at) => format!("ask again after {}", output::instant(*at)),
            Expiry::Never | Expiry::Forever => "waiting alone changes nothing".to_owned(),
        },
        WayOut::ReleaseHold { hold } => {
            format!("release the hold: \"spanvault hold release {} --reason TEXT\"", HoldId(*hold))
        }
        WayOut::WithdrawDemand { demand: DemandRef::Declared(at) } => {
            format!("withdraw the demand: \"spanvault demand withdraw {} --reason TEXT\"", DemandId(*at))
        }
        WayOut::WithdrawDemand { demand: DemandRef::Assumed } => {
            "assume a shorter audit or none: \"spanvault policy set --assume none\"".to_owned()
        }
        WayOut::ConfirmClock => {
            "trust the clock again: \"spanvault confirm-clock --at T --reason TEXT\"".to_owned()
        }
        WayOut::Verify => "look at the damage: \"spanvault verify --read-data\"".to_owned(),
        WayOut::SetRetention => "give a rule: \"spanvault retention set --keep-for D\"".to_owned(),
        WayOut::Reopen => "run the command again: opening the vault recovers it".to_owned(),
        WayOut::FreeSpace => "make room on the disk".to_owned(),
    }
}

/// How much of one kind of detail a summary kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct FidelityResponse {
    /// Distinct details in the originals.
    pub(crate) total: u64,
    /// Those that the text carries.
    pub(crate) kept: u64,
}

impl FidelityResponse {
    /// For people, after a count.
    pub(crate) fn in_words(&self) -> String {
        format!(" ({} of {} kept)", output::count(self.kept), output::count(self.total))
    }
}

/// Fidelity by the name of the kind.
pub(crate) fn fidelity_by_kind(fidelity: &[Fidelity]) -> BTreeMap<&'static str, FidelityResponse> {
    fidelity
        .iter()
        .filter_map(|of| {
            let kind = AtomKind::ALL.into_iter().find(|kind| *kind as u8 == of.kind)?;
            Some((kind.as_str(), FidelityResponse { total: of.total, kept: of.kept }))
        })
        .collect()
}

/// How many details of each kind the text dropped, where it dropped one.
pub(crate) fn omitted(fidelity: &[Fidelity]) -> BTreeMap<&'static str, u64> {
    let by_kind = fidelity_by_kind(fidelity).into_iter();
    by_kind
        .map(|(kind, of)| (kind, of.total.saturating_sub(of.kept)))
        .filter(|(_kind, omitted)| *omitted > 0)
        .collect()
}

/// The share of all details that the text carries; `None` where the originals have none.
pub(crate) fn fidelity(fidelity: &[Fidelity]) -> Option<f64> {
    let total: u64 = fidelity.iter().map(|of| of.total).sum();
    let kept: u64 = fidelity.iter().map(|of| of.kept).sum();
    #[expect(clippy::cast_precision_loss, reason = "a figure to compare generations by, not a count")]
    let share = || (kept as f64 / total as f64 * 10_000.0).floor() / 10_000.0;
    (total > 0).then(share)
}

/// A share for people.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Reasons counted by name, in the order of the gate.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ReasonCounts(BTreeMap<ReasonKind, u64>);

impl ReasonCounts {
    pub(crate) fn add(&mut self, kind: ReasonKind, n: u64) {
        *self.0.entry(kind).or_default() += n;
    }

    /// For people: `OpenObligation 3, Held 1`.
    pub(crate) fn in_words(&self) -> String {
        output::joined(
            self.0.iter().map(|(kind, n)| format!("{} {}", kind.as_str(), output::count(*n))),
            "none",
        )
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for ReasonCounts {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(kind, n)| (kind.as_str(), n)))
    }
}
