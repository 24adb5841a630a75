//! Retention rules and the assumed audit.

use spanvault_types::{Actor, AssumptionSet, Event, EvidentialClass, Position, RetentionSet, Ttl, TtlRule};

use crate::error::{Error, Result};
use crate::keepers::{GRACE, Keepers};
use crate::vault::Vault;

/// A new retention rule; what is `None` stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewRetention {
    /// Only spans of this class.
    pub class: Option<EvidentialClass>,
    /// Only spans of this session, by name or unique start of it.
    pub session: Option<String>,
    /// How long in the hot tier.
    pub hot_for: Option<TtlRule>,
    /// How long kept at all.
    pub keep_for: Option<TtlRule>,
    /// How long condemned before removal.
    pub grace: Option<Ttl>,
}

/// The rules in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Every retention rule, oldest first, with its position.
    pub rules: Vec<(Position, RetentionSet)>,
    /// The assumed audit in milliseconds after recording; `None`: none is assumed.
    pub assumed_audit_ms: Option<u64>,
    /// The grace where no rule says otherwise.
    pub default_grace: Ttl,
}

impl Vault {
    /// Sets a retention rule. It acts on existing originals from now on and shortens nothing that was given (I4).
    ///
    /// ```
    /// # fn main() -> spanvault::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a directory for the example");
    /// # let vault = spanvault::Vault::open(dir.path().join("agent.vault"))?;
    /// use spanvault::NewRetention;
    /// use spanvault::types::{Actor, Ttl, TtlRule};
    ///
    /// let by = Actor { name: "ops".into(), reason: "the retention policy of 2026".into() };
    /// let rule = NewRetention { keep_for: Some(TtlRule::For(Ttl::days(180))), ..NewRetention::default() };
    /// vault.set_retention(&rule, by)?;
    /// assert_eq!(vault.policy()?.rules.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Invalid` where it says nothing, or lets an original leave the vault before it leaves the hot tier.
    pub fn set_retention(&self, new: &NewRetention, by: Actor) -> Result<Position> {
        if new.hot_for.is_none() && new.keep_for.is_none() && new.grace.is_none() {
            return Err(Error::invalid("set a retention rule that says nothing")
                .with_hint("give at least one of --hot-for, --keep-for and --grace"));
        }
        if let (Some(hot_for), Some(TtlRule::For(keep_for))) = (new.hot_for, new.keep_for) {
            let is_longer = match hot_for {
                TtlRule::For(hot_for) => hot_for > keep_for,
                TtlRule::Forever => true,
            };
            if is_longer {
                return Err(Error::invalid(
                    "set a retention rule: the time in the hot tier is longer than the time kept",
                )
                .with_hint("make --hot-for at most as long as --keep-for"));
            }
        }
        let session = new.session.as_deref().map(|name| self.find_session(name)).transpose()?;
        let mut writer = self.store.lock()?;
        let rule = RetentionSet {
            class: new.class,
            session,
            hot_for: new.hot_for,
            keep_for: new.keep_for,
            grace: new.grace,
            at: self.now(),
            by,
        };
        let mut batch = writer.begin();
        let at = batch.push(Event::RetentionSet(rule), None);
        writer.commit(batch)?;
        Ok(at)
    }

    /// Sets how long after its recording an audit is assumed to need an original, or that none does. Acts at once, on
    /// all originals that no demand ever covered.
    ///
    /// # Errors
    /// What the disk says.
    pub fn assume_audit(&self, audit_for: Option<Ttl>, by: Actor) -> Result<Position> {
        let mut writer = self.store.lock()?;
        let mut batch = writer.begin();
        let at = batch.push(Event::AssumptionSet(AssumptionSet { audit_for, by }), None);
        writer.commit(batch)?;
        Ok(at)
    }

    /// The rules in force.
    ///
    /// # Errors
    /// `Corrupt` where the log is damaged.
    pub fn policy(&self) -> Result<Policy> {
        let keepers = Keepers::load(self)?;
        let assumed_audit_ms = keepers.assumed_audit_ms();
        Ok(Policy { rules: keepers.rules, assumed_audit_ms, default_grace: GRACE })
    }
}
