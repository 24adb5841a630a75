//! Declared needs for evidence: declare, list, withdraw.
//!
//! A demand is taken on only if it can be kept: everything in its scope must be there. Taking it on rescues what was
//! condemned, in the same commit (I36, I43). Withdrawing it removes nothing (I37).

use spanvault_store::Whereabouts;
use spanvault_types::key::{self, Table};
use spanvault_types::planted::{Bug, is_planted};
use spanvault_types::{
    Actor, DemandDeclared, DemandKind, DemandWithdrawn, Event, EvidentialClass, Horizon, Operation, Position,
    Reason, Refused, RefusedItem, Rescued, Scope, SpanRecorded, Ttl,
};

use crate::catalog::Subject;
use crate::error::{Error, ErrorKind, Result};
use crate::ids::{DemandId, Name, SpanId};
use crate::vault::Vault;

/// What a new demand or hold is about, by the names that people use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScopeName {
    /// Everything, now and later.
    All,
    /// A session, now and later.
    Session(String),
    /// A class, now and later.
    Class(EvidentialClass),
    /// Calls of a tool and their results, now and later.
    Tool(String),
    /// Calls that touch a path, or anything under it, and their results, now and later.
    Path(String),
    /// One span, summary (its whole closure) or original.
    Named(Name),
}

/// Until when a demand needs its originals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NeededUntil {
    /// Until an instant.
    At(spanvault_types::StoreTime),
    /// For this long from now, in store time.
    For(Ttl),
    /// Nobody knows.
    Unknown,
}

/// A demand as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemandInfo {
    /// Its id.
    pub demand: DemandId,
    /// What was declared.
    pub declared: DemandDeclared,
    /// The withdrawal, if there was one.
    pub withdrawn: Option<DemandWithdrawn>,
}

/// What a declaration did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// The demand's id.
    pub demand: DemandId,
    /// How many originals it needs as of now.
    pub originals: u64,
    /// How many of them had been condemned and were rescued.
    pub rescued: u64,
}

/// Why a demand could not be taken on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsatisfiable {
    /// Originals in its scope whose bytes cannot be had, with where they are.
    pub originals: Vec<(Position, Whereabouts)>,
}

impl Vault {
    /// Declares a demand, if everything in its scope can be kept for it.
    ///
    /// ```
    /// # fn main() -> spanvault::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a directory for the example");
    /// # let vault = spanvault::Vault::open(dir.path().join("agent.vault"))?;
    /// # let session = vault.session("run-42")?;
    /// use spanvault::types::{Actor, DemandKind, Ttl};
    /// use spanvault::{NeededUntil, ScopeName, SpanDraft};
    ///
    /// session.record(SpanDraft::user("Please pay the invoice INV-2025-08-44719."))?;
    /// let by = Actor { name: "audit".into(), reason: "the yearly audit".into() };
    /// let scope = ScopeName::Session("run-42".into());
    /// let declared = vault.declare(DemandKind::Audit, &scope, NeededUntil::For(Ttl::days(365)), by.clone())?;
    /// assert_eq!(declared.originals, 1);
    /// vault.withdraw(declared.demand, by)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Refused` where an original in its scope is gone or damaged (the refusal is in the log); `NotFound` or
    /// `Invalid` for the names in its scope.
    pub fn declare(
        &self,
        kind: DemandKind,
        scope: &ScopeName,
        until: NeededUntil,
        by: Actor,
    ) -> Result<Declared> {
        let scope = self.scope(scope)?;
        let horizon = match until {
            NeededUntil::At(at) => Horizon::Until(at),
            NeededUntil::For(ttl) => self.now().after(ttl).instant().map_or(Horizon::Unknown, Horizon::Until),
            NeededUntil::Unknown => Horizon::Unknown,
        };
        let mut writer = self.store.lock()?;
        let members = self.originals_in(&scope)?;
        let (condemned, lost) = self.standing(&members);
        let mut batch = writer.begin();
        if !lost.is_empty() && !is_planted(Bug::DemandOnWhatIsGone) {
            let items = lost
                .iter()
                .map(|(original, _where)| RefusedItem {
                    subject: *original,
                    bytes: 0,
                    tokens: 0,
                    reasons: vec![Reason::NotRetrievable { original: *original }],
                })
                .collect();
            let revision = writer.revision();
            let (operation, session) = (Operation::Demand, Position::ZERO);
            batch.push(Event::Refused(Refused { operation, session, revision, at: self.now(), items }), None);
            writer.commit(batch)?;
            return Err(unsatisfiable(&Unsatisfiable { originals: lost }));
        }
        let has_named = matches!(scope, Scope::Tool(_) | Scope::Path(_) | Scope::Span(_) | Scope::Summary(_));
        let originals = if has_named { members.clone() } else { Vec::new() };
        let at =
            batch.push(Event::DemandDeclared(DemandDeclared { kind, scope, horizon, originals, by }), None);
        let rescued = condemned.len() as u64;
        if !condemned.is_empty() {
            batch.push(Event::Rescued(Rescued { originals: condemned, by: at }), None);
        }
        writer.commit(batch)?;
        Ok(Declared { demand: DemandId(at), originals: members.len() as u64, rescued })
    }

    /// Every demand, oldest first.
    ///
    /// # Errors
    /// `Corrupt` where the log is damaged.
    pub fn demands(&self) -> Result<Vec<DemandInfo>> {
        let mut found = Vec::new();
        for at in self.positions(&key::key(Table::Demand, &[]))? {
            let Event::DemandDeclared(declared) = self.frame(at)?.event else { continue };
            let mut withdrawn = None;
            for end in self.positions(&key::key(Table::DemandEnd, &[at]))? {
                if let Event::DemandWithdrawn(event) = self.frame(end)?.event {
                    withdrawn = Some(event);
                }
            }
            found.push(DemandInfo { demand: DemandId(at), declared, withdrawn });
        }
        Ok(found)
    }

    /// Withdraws a demand: ends one reason to keep, and the leases that name only it. Removes nothing.
    ///
    /// # Errors
    /// `NotFound` for an unknown demand; `Conflict` where it was withdrawn before; `Invalid` without a reason.
    pub fn withdraw(&self, demand: DemandId, by: Actor) -> Result<()> {
        require_reason("withdraw a demand", &by)?;
        let mut writer = self.store.lock()?;
        if !matches!(self.frame(demand.0).map(|frame| frame.event), Ok(Event::DemandDeclared(_))) {
            return Err(Error::not_found(format!("find demand {demand}"))
                .with_hint("\"spanvault demand list\" lists them"));
        }
        if !self.positions(&key::key(Table::DemandEnd, &[demand.0]))?.is_empty() {
            return Err(Error::new(
                ErrorKind::Conflict,
                format!("withdraw demand {demand}: it is withdrawn already"),
            ));
        }
        let mut batch = writer.begin();
        batch.push(Event::DemandWithdrawn(DemandWithdrawn { demand: demand.0, by }), None);
        writer.commit(batch)?;
        Ok(())
    }

    /// Resolves the names in a scope.
    pub(crate) fn scope(&self, name: &ScopeName) -> Result<Scope> {
        Ok(match name {
            ScopeName::All => Scope::All,
            ScopeName::Session(session) => Scope::Session(self.find_session(session)?),
            ScopeName::Class(class) => Scope::Class(*class),
            ScopeName::Tool(tool) => Scope::Tool(tool.clone()),
            ScopeName::Path(path) => Scope::Path(path.clone()),
            ScopeName::Named(name) => match (name, self.resolve(name)?) {
                (Name::Span(span), _subject) => Scope::Span(span.0),
                (_name, Subject::Summary(summary) | Subject::Imported { summary, .. }) => {
                    Scope::Summary(summary)
                }
                (_name, Subject::Span { original, .. } | Subject::Gap(original)) => Scope::Original(original),
                (_name, Subject::Checkpoint(_)) => {
                    return Err(Error::invalid("keep a checkpoint: it is derived and never removed"));
                }
            },
        })
    }

    /// The originals that a scope covers as of now, ascending.
    pub(crate) fn originals_in(&self, scope: &Scope) -> Result<Vec<Position>> {
        let mut originals = match scope {
            Scope::Original(at) => vec![*at],
            Scope::Span(at) => vec![self.span_at(*at)?.original],
            Scope::Summary(at) => {
                self.any_summary_at(*at)?.citations().iter().map(|citation| citation.at).collect()
            }
            Scope::Session(session) => self.originals_where(Some(*session), &|_span| true)?,
            Scope::Class(class) => self.originals_where(None, &|span| span.class == *class)?,
            Scope::All => self.originals_where(None, &|_span| true)?,
            Scope::Tool(_) | Scope::Path(_) => {
                let mut found = Vec::new();
                for session in self.sessions()? {
                    for span in self.spans_in_scope(session.id(), scope)? {
                        found.push(self.span_at(span)?.original);
                    }
                }
                found
            }
        };
        originals.sort_unstable();
        originals.dedup();
        Ok(originals)
    }

    fn originals_where(
        &self,
        session: Option<Position>,
        wanted: &dyn Fn(&SpanRecorded) -> bool,
    ) -> Result<Vec<Position>> {
        let prefix = session.map_or_else(|| key::key(Table::Span, &[]), |at| key::key(Table::Span, &[at]));
        let mut found = Vec::new();
        for at in self.positions(&prefix)? {
            let span = self.span_at(at)?;
            if wanted(&span) {
                found.push(span.original);
            }
        }
        Ok(found)
    }

    /// Which of these originals are condemned, and which cannot be had.
    pub(crate) fn standing(&self, originals: &[Position]) -> (Vec<Position>, Vec<(Position, Whereabouts)>) {
        let mut condemned = Vec::new();
        let mut lost = Vec::new();
        for original in originals {
            let whereabouts = self.store.whereabouts(*original);
            if matches!(whereabouts, Whereabouts::Condemned { .. }) {
                condemned.push(*original);
            } else if !whereabouts.is_retrievable() {
                lost.push((*original, whereabouts));
            }
        }
        (condemned, lost)
    }

    /// The spans of a session that a tool or path scope covers, ascending: calls and their results. What cannot be
    /// read is covered.
    pub(crate) fn spans_in_scope(&self, session: Position, scope: &Scope) -> Result<Vec<Position>> {
        let view = self.view(session)?;
        let contents = view.texts();
        let texts: Vec<_> = contents.iter().map(|text| text.as_text().content).collect();
        let mut found: Vec<Position> = view
            .rows
            .iter()
            .filter(|row| matches!(row.sight, crate::view::Sight::Unseen(_)))
            .map(|row| row.at)
            .collect();
        for paired in spanvault_evidence::pair(&texts, &self.registry) {
            let body = texts.get(paired.call.span).and_then(|text| text.parts.get(paired.call.part));
            let Some(spanvault_types::PartBody::Call(call)) = body.map(|part| &part.body) else { continue };
            let is_in = match scope {
                Scope::Tool(tool) => call.tool == *tool,
                Scope::Path(path) => paired.effect.paths.iter().any(|touched| is_under(touched, path)),
                Scope::All
                | Scope::Session(_)
                | Scope::Class(_)
                | Scope::Span(_)
                | Scope::Original(_)
                | Scope::Summary(_) => false,
            };
            if is_in {
                let ends = [Some(paired.call.span), paired.result.map(|at| at.span)];
                found.extend(ends.into_iter().flatten().filter_map(|n| view.rows.get(n)).map(|row| row.at));
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }
}

/// Whether `path` is `prefix` or stands under it, in whole components.
fn is_under(path: &str, prefix: &str) -> bool {
    let prefix = prefix.trim_end_matches('/');
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// An act that goes against somebody's wish to keep needs a reason.
pub(crate) fn require_reason(act: &str, by: &Actor) -> Result<()> {
    if by.reason.trim().is_empty() {
        return Err(
            Error::invalid(format!("{act} without a reason")).with_hint("say why with \"--reason TEXT\"")
        );
    }
    Ok(())
}

fn unsatisfiable(why: &Unsatisfiable) -> Error {
    let shown: Vec<String> = why
        .originals
        .iter()
        .take(5)
        .map(|(at, whereabouts)| format!("{} is {}", SpanId(*at), whereabouts.as_str()))
        .collect();
    let message = format!(
        "declare a demand: unsatisfiable, {} originals in its scope cannot be had ({})",
        why.originals.len(),
        shown.join(", ")
    );
    Error::new(ErrorKind::Refused, message)
        .with_hint("narrow the scope to what is there; \"spanvault why s<NUMBER>\" explains each")
}

#[cfg(test)]
mod tests {
    use super::is_under;

    #[test]
    fn a_path_scope_is_made_of_whole_components() {
        assert!(is_under("/etc/app/conf.yaml", "/etc"));
        assert!(is_under("/etc", "/etc/"));
        assert!(!is_under("/etcetera", "/etc"));
    }
}
