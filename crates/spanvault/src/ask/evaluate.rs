//! Evaluates queries: one pass over the transcripts that they are about, a few megabytes in memory at a time, or one
//! transcript where calls are paired with their results.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::answer::Answer;
use super::coverage::Ledger;
use super::error::AskError;
use super::find_calls::find_calls;
use super::find_text::{TextSearch, holds_words};
use super::ground::Ground;
use super::originals::{AskSpan, Originals, Transcript, Transcripts, Within};
use super::plan::{Finder, Plan};
use super::query::Query;
use super::reading::{Reading, Slot};
use super::scope::Standing;
use super::seek::Seeker;
use super::settle::settle;
use super::sieve::Sieve;
use crate::threads::{map_in_order, threads};

/// The most bytes of originals that are read at once where only words are looked for.
const STRETCH_BYTES_MAX: u64 = 4 << 20;

/// Where calls are looked up: of spans that matter only because nobody can see through a call in them, so many are
/// read and named; of the others the calls are counted.
const OPAQUE_LOOKED_UP_MAX: usize = 100;

/// Answers one query.
///
/// # Errors
/// A query that makes no sense, a scope that names nothing that was recorded, or originals that cannot be listed.
/// An original that cannot be read is no error: the answer says so.
pub fn evaluate<O: Originals + ?Sized>(query: &Query, originals: &O) -> Result<Answer, AskError<O::Error>> {
    let mut evaluation = Evaluation::new(query, originals)?;
    if !evaluation.look_up(originals).map_err(AskError::Originals)? {
        run(&evaluation.within(), &mut [&mut evaluation], originals).map_err(AskError::Originals)?;
    }
    evaluation.finish(originals)
}

/// The answer to one of several queries, or what is wrong with it.
pub type OneOfMany<E> = Result<Answer, AskError<E>>;

/// Answers several queries, in their order. Queries about the same session and source share one pass over it, so
/// that nothing is read for each of them anew.
///
/// # Errors
/// Originals that cannot be listed. What is wrong with a single query stands in its place.
pub fn evaluate_all<O: Originals + ?Sized>(
    queries: &[Query],
    originals: &O,
) -> Result<Vec<OneOfMany<O::Error>>, O::Error> {
    let mut evaluations: Vec<Result<Evaluation, AskError<O::Error>>> =
        queries.iter().map(|query| Evaluation::new(query, originals)).collect();
    let mut passes: BTreeMap<Within, Vec<&mut Evaluation>> = BTreeMap::new();
    for evaluation in evaluations.iter_mut().flatten() {
        if evaluation.look_up(originals)? {
            continue;
        }
        let within = Within { record: None, ..evaluation.within() };
        passes.entry(within).or_default().push(evaluation);
    }
    for (mut within, mut pass) in passes {
        if let [only] = pass.as_slice() {
            within = only.within();
        }
        run(&within, &mut pass, originals)?;
    }
    Ok(evaluations.into_iter().map(|evaluation| evaluation?.finish(originals)).collect())
}

/// A query on its way.
struct Evaluation {
    plan: Plan,
    session: Option<Arc<str>>,
    ledger: Ledger,
    seekers: Vec<Seeker>,
    transcripts: usize,
}

impl Evaluation {
    fn new<O: Originals + ?Sized>(query: &Query, originals: &O) -> Result<Self, AskError<O::Error>> {
        let mut plan = Plan::new(query)?;
        if let Some(path) = &plan.scope.source {
            plan.scope.source = Some(originals.source_path(path).map_err(AskError::Originals)?);
        }
        let session = match &query.scope.session {
            Some(name) => Some(originals.session(name).map_err(AskError::Originals)?),
            None => None,
        };
        let seekers = plan.searches.iter().map(|search| Seeker::new(search.pick, &plan.get.get)).collect();
        Ok(Self { plan, session, ledger: Ledger::default(), seekers, transcripts: 0 })
    }

    /// Answers from what look-ups leave, if they leave anything out; says whether it did.
    fn look_up<O: Originals + ?Sized>(&mut self, originals: &O) -> Result<bool, O::Error> {
        let Some(needs) = self.plan.needs() else { return Ok(false) };
        let opaque_max = self.plan.counts_opaque(&needs).then_some(OPAQUE_LOOKED_UP_MAX);
        let Some(narrowed) = originals.narrowed(self.session.as_ref(), &needs, opaque_max)? else {
            return Ok(false);
        };
        for transcript in narrowed.transcripts {
            let reading = Reading::read(transcript?.spans, 0, |_span| true, None, originals)?;
            self.feed(&reading, originals)?;
            self.transcripts += 1;
        }
        self.ledger.ruled_out(&narrowed.ruled_out);
        for seeker in &mut self.seekers {
            seeker.doubts_left_out(narrowed.opaque_left_out);
        }
        Ok(true)
    }

    fn within(&self) -> Within {
        Within {
            session: self.session.clone(),
            source: self.plan.scope.source.clone(),
            record: self.plan.scope.record.clone(),
        }
    }

    fn takes(&self, transcript: &Transcript) -> bool {
        self.plan.scope.takes(transcript, self.session.as_ref())
    }

    fn standing(&self, span: &AskSpan) -> Standing {
        self.plan.scope.standing(span, self.session.as_ref())
    }

    fn wants(&self, span: &AskSpan) -> bool {
        self.plan.pairs_calls() || self.standing(span) != Standing::Out
    }

    fn feed<O: Originals + ?Sized>(&mut self, reading: &Reading, originals: &O) -> Result<(), O::Error> {
        let standings: Vec<Standing> = reading.spans.iter().map(|span| self.standing(span)).collect();
        for ((_at, span, slot), standing) in reading.iter().zip(&standings) {
            if *standing != Standing::Out {
                let seen = matches!(slot, Slot::Seen(_) | Slot::WithoutWords);
                let searched = *standing == Standing::In && seen;
                self.ledger.in_scope(span, searched);
            }
        }
        let ground = Ground { reading, standings: &standings, transcript: self.transcripts };
        for (search, seeker) in self.plan.searches.iter().zip(&mut self.seekers) {
            let getter = &self.plan.get;
            match &search.finder {
                Finder::Calls(filter) => find_calls(filter, getter, ground, seeker),
                Finder::Text(filter) => {
                    let text = TextSearch { filter, getter, pick: search.pick, ground, originals };
                    text.run(seeker, &mut self.ledger)?;
                }
            }
        }
        Ok(())
    }

    fn finish<O: Originals + ?Sized>(self, originals: &O) -> Result<Answer, AskError<O::Error>> {
        if self.transcripts == 0 {
            let asked = &self.plan.asked;
            let named = [("source", &asked.source), ("record", &asked.record)];
            let named = named.into_iter().filter_map(|(field, value)| Some((field, value.as_ref()?)));
            let places: Vec<String> = named.map(|(field, value)| format!("{field} {value:?}")).collect();
            if !places.is_empty() {
                return Err(AskError::NothingThere { place: places.join(", ") });
            }
        }
        let sought = self.seekers.into_iter().map(Seeker::finish).collect();
        settle(self.plan, self.ledger, sought, originals).map_err(AskError::Originals)
    }
}

/// A stretch of a transcript that is read at once, and the numbers of the evaluations that take it.
struct Stretch {
    spans: Vec<AskSpan>,
    /// How many spans of the transcript stand before it.
    before: usize,
    takers: Arc<[usize]>,
    /// Whether calls are looked for in it, so that it is the transcript as a whole.
    pairs_calls: bool,
    ends_transcript: bool,
}

/// Hands every transcript within to those evaluations that take it.
fn run<O: Originals + ?Sized>(
    within: &Within,
    evaluations: &mut [&mut Evaluation],
    originals: &O,
) -> Result<(), O::Error> {
    let seeks_only_words = !evaluations.iter().any(|evaluation| evaluation.plan.pairs_calls());
    let texts = || evaluations.iter().flat_map(|evaluation| evaluation.plan.texts());
    let sieve = if seeks_only_words { Sieve::of(texts()) } else { None };
    if let Some(sieve) = &sieve
        && evaluations.iter().all(|evaluation| evaluation.plan.takes_everything())
        && let Some(sifted) = originals.sifted(sieve)?
    {
        run_over(sifted.transcripts, Some(sieve), evaluations, originals)?;
        for evaluation in evaluations {
            evaluation.ledger.sifted_out(&sifted.ruled_out);
        }
        return Ok(());
    }
    run_over(originals.transcripts(within)?, sieve.as_ref(), evaluations, originals)
}

/// Reads stretches of transcripts on several threads, and feeds them in their order.
fn run_over<O: Originals + ?Sized>(
    transcripts: Transcripts<'_, O::Error>,
    sieve: Option<&Sieve>,
    evaluations: &mut [&mut Evaluation],
    originals: &O,
) -> Result<(), O::Error> {
    let mut waiting = Vec::new();
    let mut bytes = 0_u64;
    for transcript in transcripts {
        let transcript = transcript?;
        let taken = evaluations.iter().enumerate().filter(|(_n, evaluation)| evaluation.takes(&transcript));
        let takers: Arc<[usize]> = taken.map(|(n, _evaluation)| n).collect();
        if takers.is_empty() {
            continue;
        }
        let pairs_calls =
            takers.iter().any(|n| evaluations.get(*n).is_some_and(|taker| taker.plan.pairs_calls()));
        let mut rest = transcript.spans;
        let mut before = 0;
        loop {
            let stretch = if pairs_calls { rest.len() } else { stretch_of(&rest) };
            let later = rest.split_off(stretch);
            let ends_transcript = later.is_empty();
            bytes = rest.iter().fold(bytes, |bytes, span| bytes.saturating_add(span.bytes));
            let takers = Arc::clone(&takers);
            waiting.push(Stretch { spans: rest, before, takers, pairs_calls, ends_transcript });
            if bytes >= STRETCH_BYTES_MAX.saturating_mul(threads() as u64) {
                feed_all(&waiting, sieve, evaluations, originals)?;
                waiting.clear();
                bytes = 0;
            }
            before += stretch;
            rest = later;
            if ends_transcript {
                break;
            }
        }
    }
    feed_all(&waiting, sieve, evaluations, originals)
}

fn feed_all<O: Originals + ?Sized>(
    stretches: &[Stretch],
    sieve: Option<&Sieve>,
    evaluations: &mut [&mut Evaluation],
    originals: &O,
) -> Result<(), O::Error> {
    let readings = map_in_order(stretches, |stretch| {
        let takers = || stretch.takers.iter().filter_map(|n| evaluations.get(*n));
        let wanted = |span: &AskSpan| takers().any(|taker| taker.wants(span));
        let mut reading = Reading::read(stretch.spans.clone(), stretch.before, wanted, sieve, originals)?;
        if stretch.pairs_calls {
            reading.calls();
        } else {
            reading.keep(|span, content| {
                for filter in takers().flat_map(|taker| taker.plan.texts()) {
                    if holds_words(filter, span, content, originals)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            })?;
        }
        Ok(reading)
    });
    for (reading, stretch) in readings.into_iter().zip(stretches) {
        let reading = reading?;
        for n in stretch.takers.iter() {
            if let Some(taker) = evaluations.get_mut(*n) {
                taker.feed(&reading, originals)?;
                taker.transcripts += usize::from(stretch.ends_transcript);
            }
        }
    }
    Ok(())
}

/// How many of the first spans are read at once: at least one, and no more than fit the limit.
fn stretch_of(spans: &[AskSpan]) -> usize {
    let mut bytes = 0_u64;
    let fitting = spans.iter().take_while(|span| {
        bytes = bytes.saturating_add(span.bytes);
        bytes <= STRETCH_BYTES_MAX
    });
    fitting.count().max(1).min(spans.len())
}
