//! Reads a stretch of the log for what is to be posted of it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use spanvault_index::postings::{RunDraft, STRETCH_FRAMES_MAX};
use spanvault_store::Store;
use spanvault_types::{ContentHash, Event, Position, SpanContent, SpanKind, SpanRecorded};

use super::{Poster, SpanTerms};
use crate::ask::terms;
use crate::error::Result;
use crate::view::{Formats, content_of};

/// After so many bytes of originals a stretch ends with the next commit, however few frames it has.
const STRETCH_BYTES_MAX: u64 = 64 << 20;

/// What was read of a stretch.
pub(super) struct Stretch {
    pub(super) draft: RunDraft,
    /// The commit that it ends with, and the chain value there.
    pub(super) last: Position,
    pub(super) chain: [u8; 32],
}

/// Reads the stretch that begins at `from` on so many threads; `None` where there is none, where it is damaged, and
/// where `stop` was said meanwhile.
pub(super) fn read(poster: &Poster, from: Position, threads: usize, stop: &AtomicBool) -> Option<Stretch> {
    let mut spans = Vec::new();
    let mut uncommitted = Vec::new();
    let (mut frames, mut bytes, mut end) = (0, 0_u64, None);
    for frame in poster.store.frames(from) {
        // Which spans a damaged frame holds nobody knows: what follows is not posted.
        let Ok(frame) = frame else { break };
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        frames += 1;
        if let Event::SpanRecorded(span) = frame.event {
            bytes = bytes.saturating_add(span.bytes);
            uncommitted.push((frame.at, span));
        } else if let Event::Commit(commit) = frame.event {
            spans.append(&mut uncommitted);
            end = Some((frame.at, commit.chain));
            if frames >= STRETCH_FRAMES_MAX || bytes >= STRETCH_BYTES_MAX {
                break;
            }
        }
    }
    let (last, chain) = end?;
    let draft = post_all(poster, &spans, threads, stop);
    // What was left out must not count as a stretch.
    (!stop.load(Ordering::Relaxed)).then_some(Stretch { draft, last, chain })
}

fn post_all(
    poster: &Poster,
    spans: &[(Position, SpanRecorded)],
    threads: usize,
    stop: &AtomicBool,
) -> RunDraft {
    let share = spans.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        let workers: Vec<_> = spans
            .chunks(share)
            .map(|spans| {
                scope.spawn(move || {
                    let formats = Formats::default();
                    let mut draft = RunDraft::default();
                    for (at, span) in spans {
                        if stop.load(Ordering::Relaxed) {
                            break;
                        }
                        post_span(poster, &formats, *at, span, &mut draft);
                    }
                    draft
                })
            })
            .collect();
        let mut all = RunDraft::default();
        for (worker, spans) in workers.into_iter().zip(spans.chunks(share)) {
            match worker.join() {
                Ok(draft) => all.combine(draft),
                Err(_panicked) => spans.iter().for_each(|(at, span)| {
                    count(*at, span, &mut all);
                    all.unread(*at);
                }),
            }
        }
        all
    })
}

fn count(at: Position, span: &SpanRecorded, draft: &mut RunDraft) {
    draft.share(span.session).spans += 1;
    draft.post(terms::session_span(span.session), at);
}

fn post_span(poster: &Poster, formats: &Formats, at: Position, span: &SpanRecorded, draft: &mut RunDraft) {
    count(at, span, draft);
    if span.kind == SpanKind::Meta {
        return;
    }
    let read = poster.ahead.take(at).or_else(|| read_span(poster, formats, span));
    let Some(SpanTerms { hash, terms, is_nameless }) = read else {
        draft.unread(at);
        return;
    };
    let share = draft.share(span.session);
    share.read += 1;
    share.read_bytes += span.bytes;
    share.sum.add(&hash);
    share.is_nameless |= is_nameless;
    for term in terms {
        draft.post(term, at);
    }
}

/// Reads a span from the log; `None` where that cannot be done.
fn read_span(poster: &Poster, formats: &Formats, span: &SpanRecorded) -> Option<SpanTerms> {
    let (content, hash) = content(&poster.store, formats, span).ok()??;
    Some(SpanTerms::of(span.session, &content, hash, &poster.registry))
}

/// What a span says, with the hash of its original, where that can be seen.
fn content(
    store: &Store,
    formats: &Formats,
    span: &SpanRecorded,
) -> Result<Option<(SpanContent, ContentHash)>> {
    if !span.kind.was_parsed() {
        return Ok(None);
    }
    let original = store.original(span.original)?;
    let content = content_of(store, span, &original.bytes, formats)?;
    Ok((content.kind != SpanKind::Quarantined).then_some((content, original.hash)))
}
