//! What a demand or hold is about, original by original and span by span.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use spanvault_types::{Position, Scope, SpanRecorded};

use crate::error::Result;
use crate::vault::Vault;

/// What a demand or hold is about.
#[derive(Debug)]
pub(crate) struct Scoped<'a> {
    pub(crate) scope: &'a Scope,
    /// The originals that it was about when it was set, where its scope has to be read for that.
    pub(crate) named: &'a [Position],
    pub(crate) set_at: Position,
}

impl Scoped<'_> {
    /// Whether it is about an original, whose spans are `occurrences`.
    pub(crate) fn covers(
        &self,
        vault: &Vault,
        original: Position,
        occurrences: &[(Position, SpanRecorded)],
        members: &mut ScopeMembers,
    ) -> Result<bool> {
        if self.names(original) {
            return Ok(true);
        }
        for (at, span) in occurrences {
            if self.speaks_of(vault, *at, span, members)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether it is about one span, and not only about the same bytes elsewhere.
    pub(crate) fn speaks_of(
        &self,
        vault: &Vault,
        at: Position,
        span: &SpanRecorded,
        members: &mut ScopeMembers,
    ) -> Result<bool> {
        let is_in = |spans: &[Position]| spans.binary_search(&at).is_ok();
        Ok(match self.scope {
            Scope::All => true,
            Scope::Session(session) => span.session == *session,
            Scope::Class(class) => span.class == *class,
            Scope::Original(one) => span.original == *one,
            Scope::Span(one) => at == *one,
            Scope::Summary(summary) => {
                self.names(span.original) && is_in(members.of_summary(vault, *summary)?)
            }
            // Spans that came later are in scope if they are such calls or their results.
            Scope::Tool(_) | Scope::Path(_) => {
                (at > self.set_at || self.names(span.original))
                    && is_in(members.of_session(vault, self, span.session)?)
            }
        })
    }

    fn names(&self, original: Position) -> bool {
        self.named.binary_search(&original).is_ok()
    }
}

/// Which spans a scope that has to be read covers; each is read once.
#[derive(Debug, Default)]
pub(crate) struct ScopeMembers {
    of_sessions: HashMap<(Position, Position), Vec<Position>>,
    of_summaries: HashMap<Position, Vec<Position>>,
}

impl ScopeMembers {
    /// The spans of a session that a tool or path scope covers, ascending.
    fn of_session(&mut self, vault: &Vault, scoped: &Scoped<'_>, session: Position) -> Result<&[Position]> {
        Ok(match self.of_sessions.entry((scoped.set_at, session)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(vault.spans_in_scope(session, scoped.scope)?),
        })
    }

    /// The spans that a summary stands for, through any number of summaries, ascending.
    fn of_summary(&mut self, vault: &Vault, summary: Position) -> Result<&[Position]> {
        Ok(match self.of_summaries.entry(summary) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let mut spans = vault.any_summary_at(summary)?.spans().to_vec();
                spans.sort_unstable();
                unknown.insert(spans)
            }
        })
    }
}
