//! From postings to the spans that a question about calls has to read.
//!
//! A session whose spans all stand in runs, and whose calls and results all carry ids, is read in part: the spans that
//! meet a need, and those that share an id with a call in them. Any other session that may matter is read as a whole: one
//! with spans beyond the runs, with spans that were superseded or whose originals are gone, or with results that are told
//! apart by their order.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use spanvault_index::postings::{Runs, Term};
use spanvault_types::key::{self, Table};
use spanvault_types::{Event, PartBody, Position};

use crate::ask::{AskSpan, Narrowed, Need, Originals, RuledOut, Sight, Transcript, terms};
use crate::asking::{Recorded, VaultOriginals};
use crate::error::{Error, Result};
use crate::vault::Vault;

/// With more spans than this superseded, reclaimed or beyond the runs, reading everything is not slower.
const EXCEPTIONS_MAX: usize = 1 << 16;

/// The spans that meet one of `needs`, or may; see [`Originals::narrowed`].
pub(crate) fn narrowed<'v>(
    originals: &'v VaultOriginals<'v>,
    session: Option<&Arc<str>>,
    needs: &[Need],
    opaque_max: Option<usize>,
) -> Result<Option<Narrowed<'v, Error>>> {
    let vault = originals.vault;
    let Some(known) = known(originals)? else { return Ok(None) };
    let scope = match session {
        Some(name) => match vault.session_named(name)? {
            Some(at) => Some(at),
            None => return Ok(None),
        },
        None => None,
    };
    let look_up = LookUp { runs: &known.runs, scope };
    let Some(found) = look_up.find(needs) else { return Ok(None) };
    let mut whole = known.whole.clone();
    whole.retain(|session| scope.is_none_or(|scope| scope == *session));
    let search = Search { originals, look_up, whole };
    search.run(found, opaque_max)
}

/// What postings tell of a vault at one moment.
pub(crate) struct Known {
    pub(super) runs: Arc<Runs>,
    /// The sessions that have to be read as a whole.
    pub(super) whole: BTreeSet<Position>,
}

/// What postings tell of the vault, found out once; `None` where reading everything is no slower.
pub(super) fn known(originals: &VaultOriginals<'_>) -> Result<Option<Arc<Known>>> {
    // What a damaged frame held nobody knows.
    if !originals.vault.store.damage().is_empty() {
        return Ok(None);
    }
    if let Some(known) = originals.known.get() {
        return Ok(known.clone());
    }
    let runs = originals.vault.runs.of(originals.vault);
    let has_some = runs.iter().next().is_some();
    let whole = if has_some { exceptions(originals.vault, &runs)? } else { None };
    let known = whole.map(|whole| Arc::new(Known { runs, whole }));
    Ok(originals.known.get_or_init(|| known).clone())
}

/// The sessions that have to be read as a whole because postings do not tell all of them; `None` where there is too
/// much of it.
fn exceptions(vault: &Vault, runs: &Runs) -> Result<Option<BTreeSet<Position>>> {
    let spans: BTreeSet<Position> = vault.superseded_spans()?.into_iter().collect();
    let mut gone: BTreeMap<Position, Position> = BTreeMap::new();
    for (found, at) in vault.entries(&key::key(Table::Fate, &[]))? {
        if let Some(original) = key::field(&found, 0) {
            gone.insert(original, at);
        }
    }
    if spans.len() + gone.len() > EXCEPTIONS_MAX {
        return Ok(None);
    }
    let mut sessions = BTreeSet::new();
    let mut reclaims: HashMap<Position, bool> = HashMap::new();
    for (original, record) in gone {
        let is_reclaim = match reclaims.get(&record) {
            Some(known) => *known,
            None => matches!(vault.frame(record)?.event, Event::Reclaimed(_)),
        };
        reclaims.insert(record, is_reclaim);
        if is_reclaim {
            sessions.extend(vault.occurrences(original)?.iter().map(|(_at, span)| span.session));
        }
    }
    for span in spans {
        sessions.insert(vault.span_at(span)?.session);
    }
    for frame in vault.store.frames(runs.next()) {
        let Ok(frame) = frame else { return Ok(None) };
        if let Event::SpanRecorded(span) = frame.event {
            sessions.insert(span.session);
        }
    }
    Ok(Some(sessions))
}

/// Spans that meet a need.
struct FoundSpans {
    /// Those that hold a term of each clause, or of which nothing is known; ascending.
    sure: Vec<Position>,
    /// Those that may matter only because a call in them cannot be seen through, one as often as it has such calls;
    /// ascending.
    opaque: Vec<Position>,
}

pub(super) struct LookUp<'r> {
    pub(super) runs: &'r Runs,
    pub(super) scope: Option<Position>,
}

impl LookUp<'_> {
    /// `None` where a run is damaged.
    fn find(&self, needs: &[Need]) -> Option<FoundSpans> {
        let mut found = FoundSpans { sure: Vec::new(), opaque: Vec::new() };
        for run in self.runs {
            let in_scope = match self.scope {
                Some(session) if !run.sessions().contains_key(&session) => continue,
                Some(session) => Some(run.positions(terms::session_span(session))?),
                None => None,
            };
            let any_of = |wanted: &[Term]| {
                let mut all = Vec::new();
                for term in wanted {
                    all.extend(run.positions(*term)?);
                }
                all.sort_unstable();
                Some(all)
            };
            let (mut sure, mut opaque): (Vec<Position>, Vec<Position>) = (run.unread().collect(), Vec::new());
            for need in needs {
                let mut meets_all: Option<Vec<Position>> = None;
                let mut may_meet: Option<Vec<Position>> = None;
                for clause in &need.clauses {
                    let holds = any_of(&clause.any_of)?;
                    if !clause.unless_opaque {
                        may_meet = Some(both(may_meet, &holds));
                    }
                    meets_all = Some(both(meets_all, &holds));
                }
                sure.extend(meets_all.unwrap_or_default());
                if !need.opaque.is_empty() {
                    let calls = any_of(&need.opaque)?;
                    let calls = match may_meet {
                        Some(may_meet) => only_in(calls, &may_meet),
                        None => calls,
                    };
                    opaque.extend(calls);
                }
            }
            sure.sort_unstable();
            sure.dedup();
            if needs.len() > 1 {
                opaque.sort_unstable();
                opaque.dedup();
            }
            opaque.retain(|at| sure.binary_search(at).is_err());
            if let Some(in_scope) = in_scope {
                sure = only_in(sure, &in_scope);
                opaque = only_in(opaque, &in_scope);
            }
            found.sure.append(&mut sure);
            found.opaque.append(&mut opaque);
        }
        Some(found)
    }

    fn positions(&self, term: Term) -> Option<Vec<Position>> {
        let mut all = Vec::new();
        for run in self.runs {
            all.extend(run.positions(term)?);
        }
        all.dedup();
        Some(all)
    }

    fn is_nameless(&self, session: Position) -> bool {
        self.runs.iter().any(|run| run.sessions().get(&session).is_some_and(|share| share.is_nameless))
    }
}

/// Those of `one` that stand in `other`, both ascending.
fn only_in(one: Vec<Position>, other: &[Position]) -> Vec<Position> {
    one.into_iter().filter(|at| other.binary_search(at).is_ok()).collect()
}

fn both(so_far: Option<Vec<Position>>, holds: &[Position]) -> Vec<Position> {
    let mut both = match so_far {
        Some(so_far) => only_in(so_far, holds),
        None => holds.to_vec(),
    };
    both.dedup();
    both
}

/// One search with what it looks up in.
pub(super) struct Search<'v, 'r> {
    pub(super) originals: &'v VaultOriginals<'v>,
    pub(super) look_up: LookUp<'r>,
    /// Sessions that are read as a whole.
    pub(super) whole: BTreeSet<Position>,
}

/// Spans of sessions that are read in part: ascending sessions and, in each, spans by their place in it.
pub(super) type InPart = BTreeMap<Position, BTreeMap<u64, Recorded>>;

impl<'v> Search<'v, '_> {
    fn run(mut self, found: FoundSpans, opaque_max: Option<usize>) -> Result<Option<Narrowed<'v, Error>>> {
        let vault = self.originals.vault;
        let mut named = found.opaque.clone();
        named.dedup();
        named.truncate(opaque_max.unwrap_or(usize::MAX));
        let mut in_part = InPart::new();
        for at in found.sure.iter().chain(&named) {
            let recorded = vault.span_and_hash_at(*at)?;
            let session = recorded.span.session;
            if self.whole.contains(&session) {
                continue;
            }
            if self.look_up.is_nameless(session) {
                self.whole.insert(session);
                continue;
            }
            in_part.entry(session).or_default().insert(recorded.span.ordinal, recorded);
        }
        for (session, spans) in &mut in_part {
            let Some(partners) = self.partners(*session, spans)? else { return Ok(None) };
            for at in partners {
                let recorded = vault.span_and_hash_at(at)?;
                spans.insert(recorded.span.ordinal, recorded);
            }
        }
        let opaque_left_out = if opaque_max.is_some() {
            let Some(left_out) = self.left_out(found.opaque, &named) else { return Ok(None) };
            left_out
        } else {
            0
        };
        self.hand_over_all(in_part, opaque_left_out).map(Some)
    }

    /// Hands over the spans of sessions that are read in part, and the sessions that are read as a whole.
    pub(super) fn hand_over_all(self, in_part: InPart, opaque_left_out: u64) -> Result<Narrowed<'v, Error>> {
        let mut transcripts: BTreeMap<Position, Option<Transcript>> = BTreeMap::new();
        let mut handed_over = RuledOut::default();
        for (session, spans) in in_part {
            let transcript = self.originals.of_spans(spans.into_values())?;
            for span in &transcript.spans {
                self.hand_over(span, &mut handed_over);
            }
            transcripts.insert(session, Some(transcript));
        }
        let ruled_out = self.rest(&handed_over);
        transcripts.extend(self.whole.iter().map(|session| (*session, None)));
        let originals = self.originals;
        let transcripts = transcripts.into_iter().map(move |(session, transcript)| match transcript {
            Some(transcript) => Ok(transcript),
            None => originals.of_session(session),
        });
        Ok(Narrowed { transcripts: Box::new(transcripts), ruled_out, opaque_left_out })
    }

    /// The spans of a session that share an id with a call in `spans`; `None` where a run is damaged.
    fn partners(
        &self,
        session: Position,
        spans: &BTreeMap<u64, Recorded>,
    ) -> Result<Option<BTreeSet<Position>>> {
        let known: BTreeSet<Position> = spans.values().map(|recorded| recorded.at).collect();
        let mut partners = BTreeSet::new();
        for span in self.originals.of_spans(spans.values().cloned())?.spans {
            let Sight::Seen(content) = self.originals.read(&span)? else { continue };
            for part in &content.parts {
                let PartBody::Call(call) = &part.body else { continue };
                let Some(id) = &call.id else { continue };
                let Some(sharing) = self.look_up.positions(terms::call_id(session, id)) else {
                    return Ok(None);
                };
                partners.extend(sharing.into_iter().filter(|at| !known.contains(at)));
            }
        }
        Ok(Some(partners))
    }

    /// Notes a span that is handed over, as the runs count it.
    fn hand_over(&self, span: &AskSpan, handed_over: &mut RuledOut) {
        let is_unread = self.look_up.runs.iter().any(|run| run.is_unread(span.span));
        handed_over.spans += 1;
        if !is_unread && span.kind.is_conversation() {
            handed_over.read += 1;
            handed_over.read_bytes += span.bytes;
            handed_over.sum.add(&span.hash);
        }
    }

    /// What the runs have of the sessions in scope that are read in part or not at all, without what is handed over.
    fn rest(&self, handed_over: &RuledOut) -> RuledOut {
        let mut rest = RuledOut::default();
        let mut sessions = BTreeSet::new();
        for run in self.look_up.runs {
            let in_scope = |session: &Position| self.look_up.scope.is_none_or(|scope| scope == *session);
            for (session, share) in run.sessions() {
                if !in_scope(session) || self.whole.contains(session) {
                    continue;
                }
                sessions.insert(*session);
                rest.spans += share.spans;
                rest.read += share.read;
                rest.read_bytes += share.read_bytes;
                rest.sum.combine(&share.sum);
            }
        }
        rest.sessions = sessions.into_iter().collect();
        rest.spans = rest.spans.saturating_sub(handed_over.spans);
        rest.read = rest.read.saturating_sub(handed_over.read);
        rest.read_bytes = rest.read_bytes.saturating_sub(handed_over.read_bytes);
        rest.sum.take_away(&handed_over.sum);
        rest
    }

    /// How many calls that cannot be seen through stand neither in `named` spans nor in sessions that are read as a
    /// whole; `None` where a run is damaged.
    fn left_out(&self, mut opaque: Vec<Position>, named: &[Position]) -> Option<u64> {
        opaque.retain(|at| named.binary_search(at).is_err());
        if opaque.is_empty() {
            return Some(0);
        }
        for session in &self.whole {
            let spans = self.look_up.positions(terms::session_span(*session))?;
            opaque.retain(|at| spans.binary_search(at).is_err());
        }
        Some(opaque.len() as u64)
    }
}
