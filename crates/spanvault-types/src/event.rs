//! The events of the log. These structs are the disk format, version 1 of each schema: see [`crate::codec`].
//!
//! An event never holds the plain hash of an original (it names originals by [`OriginalRef`] or position), and
//! only [`SourceOpened`] and [`Summarised`] hold text that came from outside (I62).

use bincode::{Decode, Encode};

use crate::{
    ByteRange, Commitment, EvidentialClass, Expiry, Horizon, Position, Reason, Role, SpanKind, StoreTime,
    Ttl, TtlRule,
};

/// An original as chained events name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
pub struct OriginalRef {
    /// The frame that first carried its bytes.
    pub at: Position,
    /// The salted commitment of that frame.
    pub commitment: Commitment,
}

/// What one frame of the log records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Ends a batch.
    Commit(Commit),
    /// A session begins.
    SessionOpened(SessionOpened),
    /// A span was recorded; the body is its original, unless the same bytes are known already.
    SpanRecorded(SpanRecorded),
    /// Bytes between records; the body is the gap.
    GapStored,
    /// A source file was met for the first time.
    SourceOpened(SourceOpened),
    /// A piece of the recipe of a source.
    SourceExtended(SourceExtended),
    /// Spans were replaced by a summary: the permit, its leases and the summary at once; the body is the text.
    Summarised(Box<Summarised>),
    /// The gate refused.
    Refused(Refused),
    /// The index was closed cleanly.
    IndexClosed(IndexClosed),
    /// A retention rule was set.
    RetentionSet(RetentionSet),
    /// The assumed audit was set.
    AssumptionSet(AssumptionSet),
    /// A demand was declared.
    DemandDeclared(DemandDeclared),
    /// A demand was withdrawn.
    DemandWithdrawn(DemandWithdrawn),
    /// A hold was placed.
    HoldPlaced(HoldPlaced),
    /// A hold was released.
    HoldReleased(HoldReleased),
    /// Originals that are due wait for their grace.
    Condemned(Condemned),
    /// Condemned originals are needed again.
    Rescued(Rescued),
    /// An original's bytes are gone from here on: its tombstone. The droppable part repeats the hash.
    Reclaimed(Reclaimed),
    /// Originals have a verified copy in a cold pack.
    Demoted(Demoted),
    /// Store time was credited by a person.
    ClockConfirmed(ClockConfirmed),
    /// The clock became suspect.
    ClockSuspected(ClockSuspected),
    /// What is open in a session was carried into its context; the body is the text.
    Checkpointed(Checkpointed),
    /// A source moved on: a torn record at its end was completed, or a record was rewritten in place.
    SpanSuperseded(SpanSuperseded),
    /// A compaction that the source's own runtime had made was read from its transcript.
    SummaryImported(Box<SummaryImported>),
}

/// Running counts, so that silent loss in a derived index shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
pub struct Counts {
    /// Frames that first carried the bytes of an original.
    pub originals: u64,
    /// Summaries.
    pub summaries: u64,
    /// Citations of all summaries.
    pub citations: u64,
}

/// Where the clocks stood at a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
pub struct ClockStamp {
    /// The boot that the machine was in; zero where it could not be read.
    pub boot_id: [u8; 16],
    /// Milliseconds since that boot, time asleep included (`CLOCK_BOOTTIME`).
    pub boot_ms: u64,
    /// The wall clock as this boot first showed it (or as it was last confirmed), carried on by the boot clock:
    /// milliseconds after the epoch. Never decides a deletion.
    pub wall_ms: u64,
    /// Store time.
    pub store: StoreTime,
}

/// Ends a batch: all frames from `first` to this one stand or fall together.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Commit {
    /// The first frame of the batch.
    pub first: Position,
    /// The last position known to be on the disk when this batch was written.
    pub durable: Position,
    /// The chain value of the commit before.
    pub prev_chain: [u8; 32],
    /// `BLAKE3(prev_chain || link of each frame || the other fields of this event)`.
    pub chain: [u8; 32],
    /// Counts after this batch.
    pub counts: Counts,
    /// The clocks.
    pub clock: ClockStamp,
}

/// A session begins; its position is its id.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct SessionOpened {
    /// Its name, unique in the vault.
    pub name: String,
    /// The format of the source it came from; empty where spans are recorded one by one.
    pub format: String,
}

/// A span.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct SpanRecorded {
    /// The session.
    pub session: Position,
    /// 0-based place in the session, assigned by the store, without gaps.
    pub ordinal: u64,
    /// The source; [`Position::ZERO`] where it was recorded directly.
    pub source: Position,
    /// The transcript inside a source that holds many; empty otherwise.
    pub record: String,
    /// The index in the source, counted as docs/QUERY.md says.
    pub index: u64,
    /// The frame that holds the original: this one, or an earlier one with the same bytes.
    pub original: Position,
    /// Length of the original in bytes.
    pub bytes: u64,
    /// Estimated tokens of its readable content.
    pub tokens: u64,
    /// Who speaks.
    pub role: Role,
    /// The strongest part.
    pub kind: SpanKind,
    /// The class as evidence read it when the span was recorded, its call taken into account.
    pub class: EvidentialClass,
    /// When, in milliseconds after the epoch, if the record says so.
    pub timestamp_ms: Option<i64>,
    /// Store time when it was recorded: retention counts from here.
    pub recorded_at: StoreTime,
    /// Truncated BLAKE3 of the record's own identity in its source.
    pub event_key: Option<[u8; 16]>,
}

/// A source file.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct SourceOpened {
    /// Its path, as given and made absolute.
    pub path: String,
    /// The format that it was detected as.
    pub format: String,
}

/// A piece of a source's recipe. The whole recipe is the chain of pieces that ends in the newest one.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct SourceExtended {
    /// The source.
    pub source: Position,
    /// The piece that stands before this one; [`Position::ZERO`] where this one starts the file.
    pub prior: Position,
    /// The byte of the file at which this piece starts.
    pub from_byte: u64,
    /// One past its last byte.
    pub to_byte: u64,
    /// The parts, in order.
    pub runs: Vec<RecipeRun>,
    /// Whether the file ended here when it was read.
    pub complete: bool,
}

/// Consecutive spans of a recipe, each followed by the same gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct RecipeRun {
    /// The first span; the following ones stand in the frames that follow it.
    pub first: Position,
    /// How many spans; 0 for a gap alone.
    pub count: u64,
    /// The index of the first span in this source; each following one has the next.
    pub index: u64,
    /// The gap after each span, or the gap alone; [`Position::ZERO`] for none.
    pub gap: Position,
}

/// A demand by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
pub enum DemandRef {
    /// The audit that the policy assumes where no demand was declared.
    Assumed,
    /// A declared demand.
    Declared(Position),
}

/// A lease: keeps an original until an instant, or until the demands that it names are withdrawn.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Lease {
    /// The original.
    pub original: Position,
    /// When it ends by itself; `Unknown`: only with its demands.
    pub until: Horizon,
    /// The demands that it was given for; it ends with the last of them.
    pub demands: Vec<DemandRef>,
}

/// What a permit lets happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Mode {
    /// Reversible: the originals stay addressable, the summary is a cache key for them.
    PointerRewrite,
    /// Irreversible: the summary becomes the only survivor. Narrative only.
    Substitution,
}

impl Mode {
    /// The word that JSON and people see.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PointerRewrite => "pointer_rewrite",
            Self::Substitution => "substitution",
        }
    }
}

/// Why a summary text is not admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
pub enum AdmissionFault {
    /// No text.
    Empty,
    /// It reads as an error message.
    ErrorMessage,
    /// It shares no detail with its sources (a greeting, or words about something else).
    Unrelated,
    /// Larger than its sources.
    LargerThanSources,
    /// Nothing to summarise.
    NoSources,
}

/// How much of one kind of detail a summary kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct Fidelity {
    /// The kind of atom, by its number in `spanvault-evidence`.
    pub kind: u8,
    /// Distinct atoms of that kind in the originals.
    pub total: u64,
    /// Those that the summary text carries.
    pub kept: u64,
}

/// A summary and everything that made it lawful.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Summarised {
    /// The session.
    pub session: Position,
    /// 1 for a summary of spans, n+1 for one that covers a summary of generation n.
    pub generation: u32,
    /// The spans that it replaces in the context, itself or through the summaries that it covers, ascending.
    pub spans: Vec<Position>,
    /// The summaries that it covers, ascending.
    pub summaries: Vec<Position>,
    /// One citation for each original in its closure.
    pub citations: Vec<OriginalRef>,
    /// What the permit allows.
    pub mode: Mode,
    /// Who wrote the text: `builtin`, `file`, `command` or `caller`.
    pub summarizer: String,
    /// Estimated tokens as it stands in the context, digest included.
    pub tokens: u64,
    /// Whether the text is a mere prefix of its sources.
    pub degraded: bool,
    /// The manifest: what the text dropped, compressed. Format: FORMAT.md.
    pub manifest: Vec<u8>,
    /// The digest that stands in the context under the text.
    pub digest: String,
    /// Fidelity by kind of detail.
    pub fidelity: Vec<Fidelity>,
    /// The permit.
    pub permit: PermitRecord,
}

/// A permit as the log keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct PermitRecord {
    /// The last durable event when it was made.
    pub revision: Position,
    /// Store time of the decision.
    pub at: StoreTime,
    /// The policy event that was in force; [`Position::ZERO`] for the defaults.
    pub policy: Position,
    /// The leases that it is.
    pub leases: Vec<Lease>,
}

/// What somebody asked the gate for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Operation {
    /// To replace a span in the context by a summary.
    Compact,
    /// To remove an original's bytes.
    Reclaim,
    /// To declare a demand that could not be satisfied.
    Demand,
}

/// A refusal; one frame for all that one request refused.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Refused {
    /// What was asked for.
    pub operation: Operation,
    /// The session, where the request was about one; [`Position::ZERO`] otherwise.
    pub session: Position,
    /// The last durable event when it was decided.
    pub revision: Position,
    /// Store time of the decision.
    pub at: StoreTime,
    /// Each refused span (or original, for a reclaim), with everything that spoke against it.
    pub items: Vec<RefusedItem>,
}

/// One refused span or original.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct RefusedItem {
    /// The span or original.
    pub subject: Position,
    /// Its bytes.
    pub bytes: u64,
    /// Its estimated tokens.
    pub tokens: u64,
    /// All reasons, sorted.
    pub reasons: Vec<Reason>,
}

/// The index was closed cleanly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct IndexClosed {
    /// The last position that it had applied.
    pub applied: Position,
    /// Counts at that position.
    pub counts: Counts,
}

/// Who did something and why.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct Actor {
    /// The person or program.
    pub name: String,
    /// Why; empty where none was asked for.
    pub reason: String,
}

/// A retention rule. It adds to what was given before and never shortens it.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct RetentionSet {
    /// Only spans of this class; all where `None`.
    pub class: Option<EvidentialClass>,
    /// Only spans of this session; all where `None`.
    pub session: Option<Position>,
    /// How long in the hot tier.
    pub hot_for: Option<TtlRule>,
    /// How long kept at all.
    pub keep_for: Option<TtlRule>,
    /// How long condemned before removal.
    pub grace: Option<Ttl>,
    /// Store time from which it counts for originals that exist.
    pub at: StoreTime,
    /// Who.
    pub by: Actor,
}

/// The assumed audit.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct AssumptionSet {
    /// Recording plus this long; `None`: no audit is assumed.
    pub audit_for: Option<Ttl>,
    /// Who.
    pub by: Actor,
}

/// The operations that demand evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
pub enum DemandKind {
    /// Every side effect with its proof.
    Audit,
    /// The originals in order.
    Replay,
    /// Does the evidence contradict a claim?
    Check,
    /// Was this done already?
    Execute,
}

impl DemandKind {
    /// The word that JSON and people use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Audit => "audit",
            Self::Replay => "replay",
            Self::Check => "check",
            Self::Execute => "execute",
        }
    }
}

/// What a demand or hold is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Scope {
    /// Everything, now and later.
    All,
    /// A session, now and later.
    Session(Position),
    /// A class, now and later.
    Class(EvidentialClass),
    /// Calls of a tool and their results, now and later.
    Tool(String),
    /// Calls that touch a path (prefix of whole components) and their results, now and later.
    Path(String),
    /// One span.
    Span(Position),
    /// One original, wherever it occurs.
    Original(Position),
    /// The closure of a summary.
    Summary(Position),
}

/// A demand; its position is its id.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct DemandDeclared {
    /// The operation.
    pub kind: DemandKind,
    /// What it is about.
    pub scope: Scope,
    /// Until when.
    pub horizon: Horizon,
    /// The originals that were in scope when it was declared, where the scope has to be read (tool, path,
    /// span, summary); empty where the scope can be told from the span's own record.
    pub originals: Vec<Position>,
    /// Who.
    pub by: Actor,
}

/// A demand ends.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct DemandWithdrawn {
    /// The demand.
    pub demand: Position,
    /// Who.
    pub by: Actor,
}

/// A hold; its position is its id.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct HoldPlaced {
    /// What it keeps: an original, a session, or the closure of a summary.
    pub scope: Scope,
    /// The originals that it keeps, where the scope is a summary.
    pub originals: Vec<Position>,
    /// Who.
    pub by: Actor,
}

/// A hold ends.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct HoldReleased {
    /// The hold.
    pub hold: Position,
    /// Who.
    pub by: Actor,
}

/// Originals that are due wait from here on.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Condemned {
    /// The originals, ascending.
    pub originals: Vec<Position>,
    /// Store time from which the grace counts.
    pub at: StoreTime,
}

/// Condemned originals are needed again.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Rescued {
    /// The originals, ascending.
    pub originals: Vec<Position>,
    /// What rescued them: the demand, hold or other record; [`Position::ZERO`] for a reclaim run that asked again.
    pub by: Position,
}

/// A tombstone.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Reclaimed {
    /// What is gone.
    pub original: OriginalRef,
    /// Its bytes.
    pub bytes: u64,
    /// The strictest class of the spans that had it.
    pub class: EvidentialClass,
    /// Store time.
    pub at: StoreTime,
    /// The last durable event when the permit was made.
    pub revision: Position,
    /// When its retention had ended.
    pub expired_at: Expiry,
    /// When it had been condemned.
    pub condemned_at: StoreTime,
}

/// Originals with a verified copy in a cold pack. The hot copy may go from here on.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Demoted {
    /// The pack: its file is `cold/<id in 16 hex digits>.pack`.
    pub pack: u64,
    /// The originals, ascending, with the number of their entry in the pack.
    pub originals: Vec<Position>,
}

/// A person credits store time.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct ClockConfirmed {
    /// Store time before.
    pub before: StoreTime,
    /// Store time from here on.
    pub after: StoreTime,
    /// Who.
    pub by: Actor,
}

/// The clock cannot be trusted from here on, in this boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct ClockSuspected {
    /// The boot.
    pub boot_id: [u8; 16],
    /// How far wall clock and boot clock have drifted apart, in milliseconds.
    pub drift_ms: i64,
}

/// What a checkpoint carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
pub enum CarriedKind {
    /// An open obligation.
    Obligation,
    /// An unabsorbed negative result.
    Negative,
    /// A reference that the kept suffix rests on.
    Reference,
}

/// One thing that a checkpoint or digest carries into the kept context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
pub struct Carried {
    /// The span that it is open in.
    pub span: Position,
    /// What it is.
    pub kind: CarriedKind,
    /// The words in the span's original.
    pub range: ByteRange,
}

/// A checkpoint; the body is its text.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Checkpointed {
    /// The session.
    pub session: Position,
    /// Where it stands in the session: after this span.
    pub after: Position,
    /// What it carries, sorted.
    pub items: Vec<Carried>,
    /// Estimated tokens of the text.
    pub tokens: u64,
}

/// A span that the newest state of its source no longer has as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct SpanSuperseded {
    /// The span.
    pub span: Position,
    /// The span that stands in its place and starts with all its bytes.
    pub by: Position,
}

/// A summary that the source's own runtime wrote, and what it replaced there.
///
/// A fact that was read, not something that this vault allowed: it has no permit, and stands for nothing in the
/// context of this vault.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct SummaryImported {
    /// The session.
    pub session: Position,
    /// The span that holds its text.
    pub span: Position,
    /// 1 for a summary of spans, n+1 where one of its spans holds the text of one of generation n.
    pub generation: u32,
    /// The spans that it replaced, in the order of the transcript.
    pub spans: Vec<Position>,
    /// The imported summaries whose text is among those spans, ascending.
    pub summaries: Vec<Position>,
    /// One citation for each original of the spans.
    pub citations: Vec<OriginalRef>,
    /// The manifest: what the text dropped, compressed. Format: FORMAT.md.
    pub manifest: Vec<u8>,
    /// Fidelity by kind of detail.
    pub fidelity: Vec<Fidelity>,
}
