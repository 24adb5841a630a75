//! Threads that record at the same time share one batch: one of them writes for all who wait.
//!
//! Whoever comes first leads. It takes the writer lock, then what all who have come by then want to record, writes it
//! as one batch with one call and one sync, and hands the lead on to the first of those who came since. Before it begins
//! it waits a little for those whom the batch before served ([`Gather`]). Those whose spans it wrote sleep until they are
//! durable, and each asks the store itself before it believes so (I8). A batch that fails is nobody's: each records alone,
//! so that none gets an error that is another's.

use std::sync::{Arc, PoisonError};

use spanvault_env::Gather;
use spanvault_env::sync::{Condvar, Mutex, MutexGuard};
use spanvault_store::Durability;
use spanvault_types::planted::{Bug, is_planted};
use spanvault_types::{ContentHash, EvidentialClass, Position, SpanContent};

use crate::error::{Error, Result};
use crate::postings::SpanTerms;
use crate::recorder::{NewSpan, Recorder};
use crate::vault::Vault;

/// A batch of several holds no more bytes of bodies than this: whoever has little to record need not wait for much.
const BATCH_BYTES: usize = 1 << 20;

/// Spans that a thread records in a session, all or none.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) session: Position,
    pub(crate) spans: Vec<ReadSpan>,
    pub(crate) durability: Durability,
}

impl Request {
    fn bytes(&self) -> usize {
        self.spans.iter().map(|span| span.bytes.len()).sum()
    }
}

/// A span that was read.
#[derive(Debug)]
pub(crate) struct ReadSpan {
    pub(crate) bytes: Vec<u8>,
    pub(crate) hash: ContentHash,
    pub(crate) content: SpanContent,
    pub(crate) class: EvidentialClass,
    /// What [`Vault::terms_of`] gave of it.
    pub(crate) terms: Option<SpanTerms>,
}

/// Spans that are in the log.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) request: Request,
    /// Where each of them is.
    pub(crate) spans: Vec<Position>,
    pub(crate) commit: Position,
}

/// Where threads that want to record meet.
#[derive(Debug, Default)]
pub(crate) struct Joint {
    queue: Mutex<Queue>,
    /// Tells the one who leads that somebody came.
    arrival: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    /// Those who wait to be written, in the order in which they came. Empty where nobody leads.
    waiting: Vec<Member>,
    is_led: bool,
    gather: Gather,
}

/// One who waits, and what it wants.
#[derive(Debug)]
struct Member {
    seat: Arc<Seat>,
    request: Request,
    /// Where its spans are, once they are written.
    spans: Vec<Position>,
}

impl Member {
    const fn new(seat: Arc<Seat>, request: Request) -> Self {
        Self { seat, request, spans: Vec::new() }
    }

    fn tell(self, commit: Position) {
        let recorded = Recorded { request: self.request, spans: self.spans, commit };
        self.seat.tell(News::Recorded(recorded));
    }
}

/// Where one waits for news.
#[derive(Debug, Default)]
struct Seat {
    news: Mutex<Option<News>>,
    changed: Condvar,
}

#[derive(Debug)]
enum News {
    /// It is your turn to write for all who wait.
    Lead,
    /// It is written, and as durable as the store says.
    Recorded(Recorded),
    /// The batch failed: record it alone.
    Alone(Request),
    /// Who wrote it panicked.
    Lost,
}

impl Joint {
    /// Records spans, and returns when they are as durable as is asked. Whoever wants no sync does not wait behind those
    /// who do.
    pub(crate) fn record(&self, vault: &Vault, request: Request) -> Result<Recorded> {
        if request.durability != Durability::Sync {
            return record_alone(vault, request);
        }
        let seat = Arc::new(Seat::default());
        if self.is_first(Member::new(Arc::clone(&seat), request)) {
            return self.lead(vault);
        }
        match seat.news() {
            News::Lead => self.lead(vault),
            News::Recorded(recorded) => {
                if !is_planted(Bug::ToldBeforeDurable) {
                    vault.make_durable(recorded.commit)?;
                }
                Ok(recorded)
            }
            News::Alone(request) => record_alone(vault, request),
            News::Lost => Err(Error::internal("record: the thread that wrote this with its own panicked")),
        }
    }

    /// Takes a place in the queue; says whether nobody leads, so that this one has to.
    fn is_first(&self, member: Member) -> bool {
        let mut queue = self.queue();
        queue.waiting.push(member);
        self.arrival.notify_one();
        !std::mem::replace(&mut queue.is_led, true)
    }

    /// Writes for itself, the first of those who wait, and for others who do.
    fn lead(&self, vault: &Vault) -> Result<Recorded> {
        let mut led = Led { joint: self, group: Vec::new() };
        led.gather();
        let began_us = vault.options.env.clock.elapsed_us();
        let written = Recorder::start(vault).and_then(|mut recorder| {
            led.take();
            let spans = led.group.iter().map(|member| recorder.spans(&member.request));
            let spans = spans.collect::<Result<Vec<_>>>()?;
            Ok((spans, recorder.append()?))
        });
        match written {
            Ok((spans, commit)) => {
                for (member, spans) in led.group.iter_mut().zip(spans) {
                    member.spans = spans;
                }
                let durable =
                    if is_planted(Bug::ToldBeforeDurable) { Ok(()) } else { vault.make_durable(commit) };
                let took_us = vault.options.env.clock.elapsed_us().saturating_sub(began_us);
                let mut group = led.served(took_us).into_iter();
                let own = group.next();
                group.for_each(|member| member.tell(commit));
                durable?;
                let own = own.ok_or_else(|| Error::internal("record: nobody waited"))?;
                Ok(Recorded { request: own.request, spans: own.spans, commit })
            }
            Err(error) => {
                if led.group.is_empty() {
                    led.take();
                }
                let mut group = led.served(0).into_iter();
                let own = group.next();
                let was_alone = group.len() == 0;
                group.for_each(|member| member.seat.tell(News::Alone(member.request)));
                match own {
                    Some(own) if !was_alone => record_alone(vault, own.request),
                    _ => Err(error),
                }
            }
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The lead, and those whose spans are being written. Whatever happens, it is handed on, and nobody waits for ever.
struct Led<'j> {
    joint: &'j Joint,
    group: Vec<Member>,
}

impl Led<'_> {
    /// Waits for those whom the last batch served, as long as that is worth it.
    fn gather(&self) {
        let queue = self.joint.queue();
        let patience = queue.gather.patience();
        if !patience.is_zero() {
            let others_come = |queue: &mut Queue| !queue.gather.is_whole(queue.waiting.len());
            drop(self.joint.arrival.wait_timeout_while(queue, patience, others_come));
        }
    }

    /// Takes who waits: one at least, and no more than a batch may hold.
    fn take(&mut self) {
        let mut queue = self.joint.queue();
        let mut bytes = 0;
        let fits = |member: &&Member| {
            bytes += member.request.bytes();
            bytes <= BATCH_BYTES
        };
        let count = queue.waiting.iter().take_while(fits).count().max(1).min(queue.waiting.len());
        self.group = queue.waiting.drain(..count).collect();
    }

    /// Notes how long their batch took, hands the lead on, and gives who was in it.
    fn served(mut self, took_us: u64) -> Vec<Member> {
        let group = std::mem::take(&mut self.group);
        self.joint.queue().gather.served(group.len(), took_us);
        group
    }
}

impl Drop for Led<'_> {
    fn drop(&mut self) {
        {
            let mut queue = self.joint.queue();
            match queue.waiting.first() {
                Some(next) => next.seat.tell(News::Lead),
                None => queue.is_led = false,
            }
        }
        self.group.drain(..).for_each(|member| member.seat.tell(News::Lost));
    }
}

impl Seat {
    fn tell(&self, news: News) {
        *self.news.lock().unwrap_or_else(PoisonError::into_inner) = Some(news);
        self.changed.notify_one();
    }

    fn news(&self) -> News {
        let mut news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match news.take() {
                Some(news) => return news,
                None => news = self.changed.wait(news).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

/// Records spans as a batch of their own.
fn record_alone(vault: &Vault, request: Request) -> Result<Recorded> {
    let mut recorder = Recorder::start(vault)?;
    let spans = recorder.spans(&request)?;
    let commit = recorder.append()?;
    vault.settle(commit, request.durability)?;
    Ok(Recorded { request, spans, commit })
}

impl Recorder<'_> {
    /// Records the spans of one request.
    fn spans(&mut self, request: &Request) -> Result<Vec<Position>> {
        let record = |span: &ReadSpan| {
            let index = self.next_ordinal(request.session)?;
            self.span(NewSpan {
                session: request.session,
                source: Position::ZERO,
                record: String::new(),
                index,
                content: &span.content,
                class: span.class,
                bytes: span.bytes.clone(),
                hash: span.hash,
                terms: span.terms.clone(),
            })
        };
        request.spans.iter().map(record).collect()
    }
}

#[cfg(test)]
mod tests;
