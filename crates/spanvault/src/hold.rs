//! Holds: what keeps originals until a named person lets them go.

use spanvault_types::key::{self, Table};
use spanvault_types::planted::{Bug, is_planted};
use spanvault_types::{Actor, Event, HoldPlaced, HoldReleased, Rescued, Scope};

use crate::demand::{ScopeName, require_reason};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::{HoldId, SpanId};
use crate::vault::Vault;

/// A hold as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoldInfo {
    /// Its id.
    pub hold: HoldId,
    /// What was placed.
    pub placed: HoldPlaced,
    /// The release, if there was one.
    pub released: Option<HoldReleased>,
}

/// What placing a hold did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The hold's id.
    pub hold: HoldId,
    /// How many originals it keeps as of now.
    pub originals: u64,
    /// How many of them had been condemned and were rescued.
    pub rescued: u64,
}

impl Vault {
    /// Places a hold on an original, a span, the closure of a summary, or a session.
    ///
    /// Needs little: no reason, and room on the disk only for one small record (I53, I9).
    ///
    /// ```
    /// # fn main() -> spanvault::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a directory for the example");
    /// # let vault = spanvault::Vault::open(dir.path().join("agent.vault"))?;
    /// # let session = vault.session("run-42")?;
    /// use spanvault::types::Actor;
    /// use spanvault::{ScopeName, SpanDraft};
    ///
    /// let receipt = session.record(SpanDraft::user("Please pay the invoice INV-2025-08-44719."))?;
    /// let by = Actor { name: "legal".into(), reason: "case 17".into() };
    /// let held = vault.hold(&ScopeName::Named(receipt.hash.into()), by.clone())?;
    /// assert_eq!(vault.why(receipt.hash)?.holds, [held.hold]);
    /// vault.release(held.hold, by)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Insufficient` where everything that it names is gone (I42); `NotFound` or `Invalid` for the name.
    pub fn hold(&self, scope: &ScopeName, by: Actor) -> Result<Held> {
        let scope = self.scope(scope)?;
        let mut writer = self.store.lock()?;
        let members = self.originals_in(&scope)?;
        let (condemned, lost) = self.standing(&members);
        // A session may get more; an original, a span or a summary does not.
        let can_grow = matches!(scope, Scope::Session(_));
        if let Some((first, whereabouts)) = lost.first().filter(|_| lost.len() == members.len() && !can_grow)
        {
            let message = format!("hold original {}: it is {}", SpanId(*first), whereabouts.as_str());
            return Err(Error::new(ErrorKind::Insufficient, message));
        }
        let has_named = matches!(scope, Scope::Span(_) | Scope::Summary(_));
        let originals = if has_named { members.clone() } else { Vec::new() };
        let mut batch = writer.begin();
        let at = batch.push(Event::HoldPlaced(HoldPlaced { scope, originals, by }), None);
        let rescued = condemned.len() as u64;
        if !condemned.is_empty() && !is_planted(Bug::HoldWithoutRescue) {
            batch.push(Event::Rescued(Rescued { originals: condemned, by: at }), None);
        }
        writer.commit(batch)?;
        Ok(Held { hold: HoldId(at), originals: (members.len() - lost.len()) as u64, rescued })
    }

    /// Every hold, oldest first.
    ///
    /// # Errors
    /// `Corrupt` where the log is damaged.
    pub fn holds(&self) -> Result<Vec<HoldInfo>> {
        let mut found = Vec::new();
        for at in self.positions(&key::key(Table::Hold, &[]))? {
            let Event::HoldPlaced(placed) = self.frame(at)?.event else { continue };
            let mut released = None;
            for end in self.positions(&key::key(Table::HoldEnd, &[at]))? {
                if let Event::HoldReleased(event) = self.frame(end)?.event {
                    released = Some(event);
                }
            }
            found.push(HoldInfo { hold: HoldId(at), placed, released });
        }
        Ok(found)
    }

    /// Releases a hold: ends one reason to keep. Removes nothing.
    ///
    /// # Errors
    /// `NotFound` for an unknown hold; `Conflict` where it was released before; `Invalid` without a reason.
    pub fn release(&self, hold: HoldId, by: Actor) -> Result<()> {
        require_reason("release a hold", &by)?;
        let mut writer = self.store.lock()?;
        if !matches!(self.frame(hold.0).map(|frame| frame.event), Ok(Event::HoldPlaced(_))) {
            return Err(
                Error::not_found(format!("find hold {hold}")).with_hint("\"spanvault hold list\" lists them")
            );
        }
        if !self.positions(&key::key(Table::HoldEnd, &[hold.0]))?.is_empty() {
            return Err(Error::new(
                ErrorKind::Conflict,
                format!("release hold {hold}: it is released already"),
            ));
        }
        let mut batch = writer.begin();
        batch.push(Event::HoldReleased(HoldReleased { hold: hold.0, by }), None);
        writer.commit(batch)?;
        Ok(())
    }
}
