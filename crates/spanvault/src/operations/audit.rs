//! Every side effect in scope, with its fate and its proof.

use spanvault_evidence::{At, CallEffect, Effect, Fate, FateReading, PairedCall, pair};
use spanvault_types::{Call, ContentHash, EvidentialClass, PartBody, SpanContent};

use crate::ask::{Answer, Get, Query};
use crate::error::Result;
use crate::ids::SpanId;
use crate::vault::Vault;
use crate::view::{SessionView, Sight};

/// One side effect.
#[derive(Debug, Clone, PartialEq)]
pub struct SideEffect {
    /// The name of its session.
    pub session: String,
    /// The span of the call.
    pub call: SpanId,
    /// The content hash of the call's original.
    pub call_hash: Option<ContentHash>,
    /// The span of the result, if there is one.
    pub result: Option<SpanId>,
    /// The content hash of the result's original.
    pub result_hash: Option<ContentHash>,
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub args: serde_json::Value,
    /// What it does and to what.
    pub effect: CallEffect,
    /// What became of it.
    pub fate: FateReading,
}

impl SideEffect {
    /// What it changed: the paths that it writes, else the tool itself.
    pub fn resources(&self) -> Vec<&str> {
        if self.effect.writes.is_empty() {
            return vec![&self.tool];
        }
        self.effect.writes.iter().map(String::as_str).collect()
    }

    /// Whether its result reports success.
    pub fn succeeded(&self) -> bool {
        self.fate.fate == Fate::Succeeded
    }
}

/// Every side effect in scope.
#[derive(Debug, Clone, PartialEq)]
pub struct Audit {
    /// The side effects that are seen, session by session, in order.
    pub effects: Vec<SideEffect>,
    /// How many there are, and what was looked through: *insufficient* where something could not be seen.
    pub proof: Answer,
}

impl Vault {
    /// Lists every call that changed something, or may have: in one session, or in all.
    ///
    /// # Errors
    /// `NotFound` for an unknown session; `Corrupt` where the log is damaged.
    pub fn audit(&self, session: Option<&str>) -> Result<Audit> {
        let effects_of_interest = vec!["mutates".to_owned(), "external".to_owned(), "opaque".to_owned()];
        let mut query = Query::any_call().effect(effects_of_interest).get(Get::Count);
        if let Some(session) = session {
            query = query.session(session);
        }
        let proof = self.ask(&query)?;
        let sessions = match session {
            Some(name) => vec![self.find(name)?],
            None => self.sessions()?,
        };
        let mut effects = Vec::new();
        for session in sessions {
            let view = self.view(session.id())?;
            self.side_effects(session.name(), &view, &mut effects)?;
        }
        Ok(Audit { effects, proof })
    }

    fn side_effects(&self, session: &str, view: &SessionView, found: &mut Vec<SideEffect>) -> Result<()> {
        let owned = view.texts();
        let contents: Vec<_> = owned.iter().map(|text| text.as_text().content).collect();
        // Where a call or result cannot be seen, an order says nothing about which result answers which call.
        let has_gaps = view.rows.iter().any(|row| matches!(row.sight, Sight::Unseen(_)));
        for mut paired in pair(&contents, &self.registry).into_iter().filter(is_side_effect) {
            if (has_gaps && !names_its_result(&contents, &paired)) || !paired.rivals.is_empty() {
                paired.result = None;
                paired.fate = FateReading { fate: Fate::Unknown, executed: true };
            }
            let part = contents.get(paired.call.span).and_then(|content| content.parts.get(paired.call.part));
            let Some(PartBody::Call(Call { tool, args, .. })) = part.map(|part| &part.body) else { continue };
            let Some(row) = view.rows.get(paired.call.span) else { continue };
            let result = paired.result.and_then(|at| view.rows.get(at.span));
            found.push(SideEffect {
                session: session.to_owned(),
                call: SpanId(row.at),
                call_hash: self.hash_at(row.span.original)?,
                result: result.map(|row| SpanId(row.at)),
                result_hash: result.map(|row| self.hash_at(row.span.original)).transpose()?.flatten(),
                tool: tool.clone(),
                args: args.clone(),
                effect: paired.effect,
                fate: paired.fate,
            });
        }
        Ok(())
    }
}

/// Whether a call and its result name each other by an id that no other call of the record has.
fn names_its_result(contents: &[&SpanContent], paired: &PairedCall) -> bool {
    let body =
        |at: At| contents.get(at.span).and_then(|content| content.parts.get(at.part)).map(|part| &part.body);
    let Some(PartBody::Call(Call { id: Some(id), .. })) = body(paired.call) else { return false };
    let Some(PartBody::Result(outcome)) = paired.result.and_then(body) else { return false };
    let has_id = |body: &PartBody| matches!(body, PartBody::Call(call) if call.id.as_ref() == Some(id));
    let calls = contents.iter().flat_map(|content| &content.parts).filter(|part| has_id(&part.body)).count();
    outcome.call_id.as_ref() == Some(id) && calls == 1
}

/// Whether a call changed something or may have; known checks and reads did not.
fn is_side_effect(paired: &PairedCall) -> bool {
    paired.effect.effect != Effect::Reads
        && spanvault_evidence::class_of_call(&paired.effect) == EvidentialClass::SideEffecting
}
