//! The same spans, atoms, citations and expiries in a vault and in tables; and whether both have the same.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use serde_json::json;
use spanvault::ask::{Query, Verdict};
use spanvault::types::{Actor, ContentHash, Expiry, Ttl, TtlRule};
use spanvault::{
    CompactionOptions, Keep, NewRetention, Receipt, SpanDraft, SpanFilter, Summarizer, SummaryId,
    SummaryMade, SummaryRequest, Vault,
};

use crate::noise::Noise;
use crate::postings::{self, Pair};
use crate::processor::{Spent, spent};
use crate::records::{Exchange, exchange};
use crate::tables::{Row, Summary, Tables};
use crate::watch::timed;
use crate::{Outcome, check};

mod log;

/// The length of an original in bytes.
const SPAN_BYTES: usize = 4_096;
/// How many spans a session has: a batch.
const SESSION_SPANS: usize = 1_000;
/// How many spans of a session stay verbatim.
const KEPT: usize = 20;
/// How long originals are kept: longer than the audit that a vault assumes.
const KEEP_FOR: Ttl = Ttl::days(180);
/// How many exchanges a summary stands for, as a vault cuts a session, and how many of them its words name.
const SUMMARISED: usize = 32;
const NAMED: usize = 12;
/// How many questions are asked, and how many sessions looked into, to see whether both sides have the same.
const SAMPLE: usize = 40;

/// What both sides are handed, and what a vault made of it.
#[derive(Debug)]
pub struct Work {
    sessions: Vec<Vec<Exchange>>,
    receipts: Vec<Receipt>,
    /// The summaries of each session.
    summaries: Vec<Vec<Made>>,
    /// The terms of each span, each once.
    terms: Vec<Vec<u64>>,
    /// All of them, in the order of the spans.
    pub pairs: Vec<Pair>,
    /// What is asked: a customer, a term that stands for it, and the spans whose calls name it.
    asked: Vec<(String, u64, BTreeSet<u64>)>,
}

/// What the parts took.
#[derive(Debug, Clone, Copy, Default)]
pub struct Parts {
    /// Spans with all that is theirs.
    pub recording: Spent,
    /// Summaries and their citations.
    pub citing: Spent,
    /// Whatever is left when all is recorded.
    pub closing: Spent,
}

/// A summary that a vault made.
#[derive(Debug)]
struct Made {
    summary: SummaryId,
    /// Its number in tables, which is none of a span.
    number: u64,
    cited: Range<u64>,
}

/// A vault that was filled and closed.
struct Filled {
    receipts: Vec<Receipt>,
    summaries: Vec<Vec<Made>>,
    parts: Parts,
}

impl Work {
    /// Makes at least `count` spans, has a vault in `dir` read them, and takes the terms that it posts.
    ///
    /// # Errors
    /// What the vault says.
    pub fn read_by_a_vault(dir: &Path, count: usize) -> Outcome<Self> {
        let mut noise = Noise::new(11);
        let mut exchanges = (0..).map(|number| exchange(&mut noise, number, SPAN_BYTES));
        let sessions: Vec<Vec<Exchange>> = (0..count.div_ceil(SESSION_SPANS))
            .map(|_session| exchanges.by_ref().take(SESSION_SPANS / 2).collect())
            .collect();
        let Filled { receipts, summaries, .. } = fill(dir, &sessions)?;
        let mut posted = postings::of_vault(dir)?;
        let (mut terms, mut pairs) = (Vec::new(), Vec::new());
        for (number, receipt) in (1..).zip(&receipts) {
            let mut found = posted.remove(&receipt.span.0).ok_or("nothing was posted of a span")?;
            found.sort_unstable();
            found.dedup();
            pairs.extend(found.iter().map(|term| Pair { term: *term, span: number }));
            terms.push(found.iter().map(|term| term.get()).collect());
        }
        let asked = questions(&sessions, &pairs)?;
        Ok(Self { sessions, receipts, summaries, terms, pairs, asked })
    }

    /// How many spans there are. Their numbers begin with 1.
    pub const fn spans(&self) -> usize {
        self.receipts.len()
    }

    /// The bytes of their originals.
    pub fn bytes(&self) -> u64 {
        self.receipts.iter().map(|receipt| receipt.bytes.len() as u64).sum()
    }

    /// How many citations there are.
    pub fn citations(&self) -> usize {
        let cited = self.summaries.iter().flatten().map(|made| made.cited.end - made.cited.start);
        usize::try_from(cited.sum::<u64>()).unwrap_or(usize::MAX)
    }

    /// How many details are read in all spans as evidence.
    ///
    /// # Errors
    /// Where one is no message.
    pub fn details(&self) -> Outcome<usize> {
        let details = |receipt: &Receipt| {
            let content = spanvault_import::parse(spanvault_import::CHAT_JSON, &receipt.bytes);
            let content = content.map_err(|unparsed| unparsed.to_string())?;
            Outcome::Ok(spanvault_evidence::atoms(&content, &receipt.bytes).len())
        };
        self.receipts.iter().map(details).sum()
    }

    /// How many summaries there are.
    pub fn summaries(&self) -> usize {
        self.summaries.iter().map(Vec::len).sum()
    }

    /// Records and compacts every session in a new vault and closes it, so that everything is posted.
    ///
    /// # Errors
    /// What the vault says.
    pub fn into_vault(&self, dir: &Path) -> Outcome<Parts> {
        Ok(fill(dir, &self.sessions)?.parts)
    }

    /// Puts the same into tables.
    ///
    /// # Errors
    /// What the tables say.
    pub fn into_tables(&self, tables: &mut dyn Tables) -> Outcome<Parts> {
        let mut parts = Parts::default();
        let mut terms = self.terms.chunks(SESSION_SPANS);
        for (n, (session, summaries)) in self.sessions.iter().zip(&self.summaries).enumerate() {
            let rows: Vec<Row<'_>> = (first_of(n)..)
                .zip(bodies(session))
                .zip(terms.next().unwrap_or_default())
                .map(|((span, body), terms)| Row { span, body, expires_at: expires_at(span), terms })
                .collect();
            parts.recording += spent(|| tables.record(&rows))?.1;
            let summaries: Vec<Summary> = (0..)
                .zip(summaries)
                .map(|(part, made)| {
                    let text = format!("{n}: {}", told(session, part));
                    Summary { number: made.number, text, cited: made.cited.clone() }
                })
                .collect();
            parts.citing += spent(|| tables.summarize(&summaries))?.1;
        }
        Ok(parts)
    }

    /// The vault gives the spans of a term, what a summary cites, when a span expires, and bytes; says what a question takes
    /// in a vault that is open.
    ///
    /// # Errors
    /// What the vault says, and where it gives something else.
    pub fn check_vault(&self, dir: &Path) -> Outcome<Duration> {
        let vault = Vault::open_read_only(dir)?;
        let mut times = Duration::ZERO;
        for (customer, _term, spans) in &self.asked {
            let query = json!({"calls": {"any_arg": customer}, "get": "count"}).to_string();
            let query = Query::from_json(&query)?;
            let (answer, time) = timed(|| vault.ask(&query))?;
            times += time;
            let found: BTreeSet<&str> = answer.evidence.iter().map(|found| found.hash.as_str()).collect();
            let hashes: Vec<String> =
                spans.iter().map(|span| self.hash(*span).map(|h| h.to_string())).collect::<Outcome<_>>()?;
            let is_right = answer.answer == Verdict::Present
                && answer.value == json!(spans.len())
                && hashes.iter().all(|hash| found.contains(hash.as_str()));
            check(is_right, || format!("{customer}: {answer:?}"))?;
        }
        for made in self.summaries.iter().flatten().take(SAMPLE) {
            let originals = vault.expand(made.summary)?.originals;
            let found: Vec<_> = originals.iter().filter_map(|original| original.hash).collect();
            let expected = made.cited.clone().map(|span| self.hash(span)).collect::<Outcome<Vec<_>>>()?;
            check(found == expected, || format!("{} cites other originals", made.summary))?;
        }
        let (mut spans, mut expiring) = (0, 0);
        vault.spans(&SpanFilter { session: Some(name(0)), source: None }, &mut |span| {
            spans += 1;
            expiring += usize::from(matches!(span.expires_at, Expiry::At(_)));
            Ok(())
        })?;
        check(spans == SESSION_SPANS && expiring == spans, || format!("{expiring} of {spans} spans expire"))?;
        for receipt in self.receipts.iter().step_by(self.spans().div_ceil(SAMPLE)) {
            check(vault.recover(receipt.hash)? == receipt.bytes, || format!("{} differs", receipt.span))?;
        }
        Ok(times / u32::try_from(self.asked.len())?)
    }

    /// Tables give the same.
    ///
    /// # Errors
    /// What the tables say, and where they give something else.
    pub fn check_tables(&self, tables: &dyn Tables) -> Outcome {
        for (customer, term, spans) in &self.asked {
            let found = tables.spans_with(*term)?;
            check(found.iter().eq(spans), || format!("{customer}: {found:?}"))?;
        }
        for made in self.summaries.iter().flatten().take(SAMPLE) {
            let (children, summaries) = tables.citations(made.number)?;
            let is_right = children.iter().copied().eq(made.cited.clone()) && summaries == [made.number];
            check(is_right, || format!("{} cites other spans", made.summary))?;
        }
        for span in [1, self.spans() as u64 / 2, self.spans() as u64] {
            let due = tables.due(expires_at(span) + 1)?;
            check(due as u64 == span, || format!("{due} spans are due, not {span}"))?;
        }
        for (number, receipt) in (1..).zip(&self.receipts).step_by(self.spans().div_ceil(SAMPLE)) {
            let hash = tables.hash_of(number)?;
            let is_right = hash == *receipt.hash.as_bytes() && tables.original(&hash)? == receipt.bytes;
            check(is_right, || format!("span {number} differs"))?;
        }
        Ok(())
    }

    /// The name of a span's original.
    fn hash(&self, span: u64) -> Outcome<ContentHash> {
        let receipt = usize::try_from(span - 1).ok().and_then(|at| self.receipts.get(at));
        Ok(receipt.ok_or("there is no such span")?.hash)
    }
}

/// Records and compacts every session in a new vault, and closes it.
fn fill(dir: &Path, sessions: &[Vec<Exchange>]) -> Outcome<Filled> {
    let (mut receipts, mut summaries, mut parts) = (Vec::new(), Vec::new(), Parts::default());
    let mut number = first_of(sessions.len());
    let vault = Vault::open(dir)?;
    let by = Actor { name: "bench".to_owned(), reason: "to measure".to_owned() };
    let keep_for = Some(TtlRule::For(KEEP_FOR));
    vault.set_retention(&NewRetention { keep_for, ..NewRetention::default() }, by)?;
    let options = CompactionOptions { keep: Keep::last(KEPT), ..CompactionOptions::default() };
    for (n, exchanges) in sessions.iter().enumerate() {
        let record = || {
            let session = vault.session(&name(n))?;
            let drafts = bodies(exchanges).map(SpanDraft::message_json).collect();
            Outcome::Ok((session.record_all(drafts)?, session))
        };
        let ((recorded, session), recording) = spent(record)?;
        receipts.extend(recorded);
        parts.recording += recording;
        let mut words = Told { session: exchanges, parts: 0 };
        let (made, citing) = spent(|| Ok(session.compact_with(&options, &mut words)?))?;
        parts.citing += citing;
        check(made.permitted == SESSION_SPANS - KEPT, || format!("refused: {:?}", made.reasons))?;
        let mut from = first_of(n);
        let cite = |made: SummaryMade| {
            let cited = from..from + made.covers as u64;
            from = cited.end;
            number += 1;
            Ok(Made { summary: made.summary.ok_or("a summary was not made")?, number, cited })
        };
        summaries.push(made.summaries.into_iter().map(cite).collect::<Outcome<_>>()?);
    }
    parts.closing = spent(|| Ok(vault.close()?))?.1;
    Ok(Filled { receipts, summaries, parts })
}

/// For some customers the spans whose calls name them, and a term that was posted of just these.
fn questions(sessions: &[Vec<Exchange>], pairs: &[Pair]) -> Outcome<Vec<(String, u64, BTreeSet<u64>)>> {
    let mut spans: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for (number, exchange) in (0..).zip(sessions.iter().flatten()) {
        spans.entry(&exchange.customer).or_default().insert(2 * number + 1);
    }
    let mut terms: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for pair in pairs {
        terms.entry(pair.term.get()).or_default().push(pair.span);
    }
    let often = spans.into_iter().filter(|(_customer, spans)| spans.len() > 1);
    often
        .take(SAMPLE)
        .map(|(customer, spans)| {
            let term = terms.iter().find(|(_term, posted)| posted.iter().eq(&spans));
            let (term, _posted) = term.ok_or_else(|| format!("{customer}: no term has its spans"))?;
            Ok((customer.to_owned(), *term, spans))
        })
        .collect()
}

fn bodies(session: &[Exchange]) -> impl Iterator<Item = &[u8]> {
    session.iter().flat_map(|exchange| [exchange.call.as_slice(), exchange.result.as_slice()])
}

fn name(session: usize) -> String {
    format!("shift {session}.")
}

/// The number of the first span of a session.
const fn first_of(session: usize) -> u64 {
    (session * SESSION_SPANS) as u64 + 1
}

const fn expires_at(span: u64) -> u64 {
    KEEP_FOR.as_ms() + span
}

/// The words of a model that has read a part of a session.
fn told(session: &[Exchange], part: usize) -> String {
    let customers = session.iter().skip(part * SUMMARISED).take(NAMED);
    let customers: Vec<&str> = customers.map(|exchange| exchange.customer.as_str()).collect();
    format!("Tickets were updated for {}; this is part {part}.", customers.join(", "))
}

struct Told<'a> {
    session: &'a [Exchange],
    parts: usize,
}

impl Summarizer for Told<'_> {
    fn name(&self) -> &'static str {
        "caller"
    }

    fn summarize(&mut self, _range: &SummaryRequest<'_>) -> spanvault::Result<String> {
        self.parts += 1;
        Ok(told(self.session, self.parts - 1))
    }
}
