//! Recording, liveness and checkpoints.

use spanvault_types::Expiry;

use super::{Model, Original, Span, Stage};
use crate::expect::Expectation;
use crate::op::{Content, OriginalId, Piece, SessionId, SpanId};

impl Model {
    pub(super) fn record(&mut self, session: SessionId, content: Content) -> Expectation {
        // Bytes that come back after their tombstone have a history of their own, which is not told here.
        let again = |piece| self.original_with(content, piece).is_some_and(|original| self.is_gone(original));
        let unasked = matches!(content, Content::Kept(n) if !self.is_promised(session, n));
        if content.pieces().iter().any(|&piece| again(piece)) || unasked {
            return Expectation::NotApplicable;
        }
        let first = self.spans.len();
        let mut recorded = Vec::new();
        for (at, &piece) in content.pieces().iter().enumerate() {
            let original = self.original_with(content, piece).unwrap_or_else(|| {
                self.originals.push(Original { content, piece, cold: false, stage: Stage::Kept });
                OriginalId(self.originals.len() - 1)
            });
            let pair = (content.pieces().len() == 2).then_some(SpanId(first + 1 - at));
            let now = self.now();
            let mut span = Span {
                session,
                content,
                piece,
                original,
                pair,
                recorded_at: now,
                keep: Expiry::Never,
                hot: Expiry::Never,
                demanded: false,
                carried: false,
                summary: None,
            };
            self.give_rules_in_force(&mut span);
            self.spans.push(span);
            let id = SpanId(self.spans.len() - 1);
            let demanded =
                self.demands.iter().any(|demand| demand.is_in_force(now) && self.is_about(demand.about, id));
            self.spans[id.0].demanded = demanded;
            self.rescue(&[original]);
            recorded.push(id);
        }
        self.clock.acknowledge();
        Expectation::Recorded(recorded)
    }

    pub(super) fn checkpoint(&mut self, session: SessionId) -> Expectation {
        if !self.spans.iter().any(|span| span.session == session) {
            return Expectation::NotApplicable;
        }
        let open: Vec<SpanId> = self
            .spans()
            .filter(|&span| self.spans[span.0].session == session && self.is_live(span))
            .filter(|&span| !self.is_gone(self.spans[span.0].original))
            .collect();
        for span in &open {
            self.spans[span.0].carried = true;
        }
        if !open.is_empty() {
            self.clock.acknowledge();
        }
        Expectation::Checkpointed(open)
    }

    /// Whether something is open in a span: a promise that no later look in its session keeps, or a call without its
    /// result. A look or a result that nobody can read any more keeps and answers nothing.
    pub(super) fn is_live(&self, id: SpanId) -> bool {
        let span = &self.spans[id.0];
        if span.carried {
            return false;
        }
        match (span.content, span.piece) {
            (Content::Promise(n), _) => !self.spans[id.0..].iter().any(|later| {
                later.session == span.session
                    && later.content == Content::Kept(n)
                    && later.piece == Piece::Call
                    && !self.is_gone(later.original)
            }),
            (_, Piece::Call) => span.pair.is_none_or(|result| self.is_gone(self.spans[result.0].original)),
            (_, Piece::Whole | Piece::Result) => false,
        }
    }

    fn is_promised(&self, session: SessionId, n: u8) -> bool {
        self.spans().any(|span| {
            let promise = &self.spans[span.0];
            promise.session == session && promise.content == Content::Promise(n) && self.is_live(span)
        })
    }

    fn original_with(&self, content: Content, piece: Piece) -> Option<OriginalId> {
        self.originals().find(|original| {
            self.originals[original.0].content == content && self.originals[original.0].piece == piece
        })
    }
}
