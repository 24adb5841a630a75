//! A transcript, or a stretch of one, read for evaluation.

use std::cell::OnceCell;
use std::sync::Arc;

use spanvault_evidence::{At, CallEffect, FateReading, PairedCall, Registry, pair};
use spanvault_types::{Call, Outcome, Part, PartBody, Position, SpanContent, SpanKind};

use super::kinds::{PartKind, may_hold};
use super::originals::{AskSpan, Originals, Sight, UnseenReason};
use super::rivals::Rivals;
use super::sieve::Sieve;

/// Spans in source order with what can be seen of them.
#[derive(Debug)]
pub(super) struct Reading {
    /// How many spans of the transcript stand before the first of these.
    pub(super) before: usize,
    pub(super) spans: Vec<AskSpan>,
    slots: Vec<Slot>,
    calls: OnceCell<Vec<ReadCall>>,
    /// What is known of tools.
    registry: Arc<Registry>,
}

/// What was seen of a span.
#[derive(Debug)]
pub(super) enum Slot {
    Seen(SpanContent),
    /// It was seen, and none of the words that are looked for stand in it.
    WithoutWords,
    Unseen {
        reason: UnseenReason,
        tombstone: Option<Position>,
    },
    /// It is a record of the runtime that holds neither words nor calls.
    NoConversation,
    /// Nobody wanted to look.
    Skipped,
}

/// A call and what is certain of it.
#[derive(Debug)]
pub(super) struct ReadCall {
    pub(super) call: At,
    pub(super) effect: CallEffect,
    pub(super) answer: CallAnswer,
}

/// What is certain of a call's result.
#[derive(Debug)]
pub(super) enum CallAnswer {
    /// It is this one.
    Result { at: At, fate: FateReading },
    /// There is none.
    None(FateReading),
    /// It may stand in one of these spans: none of them can be seen, or order does not say which of them it is.
    InDoubt(Vec<usize>),
}

impl Reading {
    /// Reads those of `spans` that are wanted and that the sieve, where there is one, lets through.
    pub(super) fn read<O: Originals + ?Sized>(
        spans: Vec<AskSpan>,
        before: usize,
        wanted: impl Fn(&AskSpan) -> bool,
        sieve: Option<&Sieve>,
        originals: &O,
    ) -> Result<Self, O::Error> {
        let slots = spans
            .iter()
            .map(|span| {
                if span.kind == SpanKind::Meta {
                    return Ok(Slot::NoConversation);
                }
                if !wanted(span) {
                    return Ok(Slot::Skipped);
                }
                let sight = match sieve {
                    Some(sieve) => originals.sift(span, sieve)?,
                    None => Some(originals.read(span)?),
                };
                Ok(match sight {
                    Some(Sight::Seen(content)) => Slot::Seen(content),
                    Some(Sight::Unseen { reason, tombstone }) => Slot::Unseen { reason, tombstone },
                    None => Slot::WithoutWords,
                })
            })
            .collect::<Result<_, _>>()?;
        let registry = originals.registry();
        Ok(Self { before, spans, slots, calls: OnceCell::new(), registry })
    }

    /// Drops the content of every span that `holds_words` does not hold for.
    pub(super) fn keep<E>(
        &mut self,
        mut holds_words: impl FnMut(&AskSpan, &SpanContent) -> Result<bool, E>,
    ) -> Result<(), E> {
        for (span, slot) in self.spans.iter().zip(&mut self.slots) {
            if let Slot::Seen(content) = slot
                && !holds_words(span, content)?
            {
                *slot = Slot::WithoutWords;
            }
        }
        Ok(())
    }

    /// Every span with what was seen of it.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &AskSpan, &Slot)> {
        self.spans.iter().zip(&self.slots).enumerate().map(|(at, (span, slot))| (at, span, slot))
    }

    pub(super) fn slot(&self, at: usize) -> Option<&Slot> {
        self.slots.get(at)
    }

    pub(super) fn part(&self, at: At) -> Option<&Part> {
        match self.slots.get(at.span)? {
            Slot::Seen(content) => content.parts.get(at.part),
            Slot::WithoutWords | Slot::Unseen { .. } | Slot::NoConversation | Slot::Skipped => None,
        }
    }

    pub(super) fn call(&self, at: At) -> Option<&Call> {
        match &self.part(at)?.body {
            PartBody::Call(call) => Some(call),
            PartBody::Text(_) | PartBody::Thinking(_) | PartBody::Summary(_) | PartBody::Result(_) => None,
        }
    }

    pub(super) fn outcome(&self, at: At) -> Option<&Outcome> {
        match &self.part(at)?.body {
            PartBody::Result(outcome) => Some(outcome),
            PartBody::Text(_) | PartBody::Thinking(_) | PartBody::Summary(_) | PartBody::Call(_) => None,
        }
    }

    /// The calls in source order. Needs the whole transcript, every span wanted.
    pub(super) fn calls(&self) -> &[ReadCall] {
        self.calls.get_or_init(|| self.pair())
    }

    fn pair(&self) -> Vec<ReadCall> {
        let blanks: Vec<SpanContent> = self.spans.iter().map(blank).collect();
        let contents: Vec<&SpanContent> = self
            .slots
            .iter()
            .zip(&blanks)
            .map(|(slot, blank)| match slot {
                Slot::Seen(content) => content,
                Slot::WithoutWords | Slot::Unseen { .. } | Slot::NoConversation | Slot::Skipped => blank,
            })
            .collect();
        let unseen: Vec<usize> = self
            .iter()
            .filter(|(_at, span, slot)| {
                !matches!(slot, Slot::Seen(_)) && may_hold(span.kind, PartKind::Result)
            })
            .map(|(at, _span, _slot)| at)
            .collect();
        let rivals = Rivals::new(&contents, unseen);
        let read = |paired: PairedCall| {
            let call = (paired.call, self.call(paired.call)?);
            let result = paired.result.and_then(|at| Some((at, self.outcome(at)?)));
            let unseen = rivals.of(call, result);
            let answer = match result {
                _any if !unseen.is_empty() => CallAnswer::InDoubt(unseen),
                _any if !paired.rivals.is_empty() => {
                    CallAnswer::InDoubt(paired.rivals.iter().map(|rival| rival.span).collect())
                }
                Some((at, _outcome)) => CallAnswer::Result { at, fate: paired.fate },
                None => CallAnswer::None(paired.fate),
            };
            Some(ReadCall { call: paired.call, effect: paired.effect, answer })
        };
        pair(&contents, &self.registry).into_iter().filter_map(read).collect()
    }
}

/// What stands for a span that cannot be seen: who spoke, and nothing said.
fn blank(span: &AskSpan) -> SpanContent {
    SpanContent {
        role: span.role,
        kind: span.kind,
        timestamp_ms: span.timestamp_ms,
        event_key: None,
        parts: Vec::new(),
    }
}
