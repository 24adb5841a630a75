//! The store under test: its log, its chain, its counts and its look-ups, without what a vault reads in a span.

use std::path::Path;

use spanvault_env::Env;
use spanvault_gate::{ClockTrust, LockEpoch, RemovalView, Stage, StoreState, VaultState, permit_removal};
use spanvault_store::{Access, FreeOptions, Removal, Store, StoreOptions};
use spanvault_types::{
    Condemned, ContentHash, Event, EvidentialClass, Expiry, Position, SessionOpened, StoreTime, Ttl, key,
};

use super::{Engine, Hash, Record};
use crate::{Outcome, bulk};

/// How many spans stand in one batch of the log.
const BATCH: usize = 1_000;

#[derive(Debug)]
pub(super) struct SpanvaultEngine {
    pub(super) store: Store,
    session: Position,
}

impl SpanvaultEngine {
    pub(super) fn create(dir: &Path) -> Outcome<Self> {
        let options = StoreOptions { reserve_bytes: 0, ..StoreOptions::default() };
        let (store, _report) = Store::open(Env::real(), &dir.join("vault"), Access::Write, options)?;
        let mut writer = store.lock()?;
        let mut batch = writer.begin();
        let opened = SessionOpened { name: "bench".to_owned(), format: String::new() };
        let session = batch.push(Event::SessionOpened(opened), None);
        writer.commit(batch)?;
        drop(writer);
        Ok(Self { store, session })
    }
}

impl Engine for SpanvaultEngine {
    fn put(&self, records: &[Record]) -> Outcome {
        let mut last = Position::ZERO;
        for records in records.chunks(BATCH) {
            let mut writer = self.store.lock()?;
            let mut batch = writer.begin();
            for record in records {
                let at = batch.next();
                let span = bulk::span(self.session, at.get(), at, record.body.len() as u64);
                batch.push(Event::SpanRecorded(span), Some(record.body.clone()));
            }
            last = writer.append(batch)?;
        }
        Ok(self.store.sync(last)?)
    }

    fn get(&self, hash: &Hash) -> Outcome<Vec<u8>> {
        let original = self.store.original_named(&ContentHash::from_bytes(*hash))?;
        Ok(original.ok_or("there is no such original")?.bytes)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a store without a vault around it, whose originals nobody needs: what the ban protects is not here"
    )]
    fn remove(&self, hashes: &[Hash]) -> Outcome {
        let mut originals = Vec::with_capacity(hashes.len());
        for hash in hashes {
            let found = self.store.scan_last(&key::original(&ContentHash::from_bytes(*hash)))?;
            originals.push(found.ok_or("there is no such original")?.1);
        }
        let condemned = Condemned { originals: originals.clone(), at: StoreTime::from_ms(2_000) };
        let mut writer = self.store.lock()?;
        let mut batch = writer.begin();
        batch.push(Event::Condemned(condemned), None);
        writer.commit(batch)?;
        for originals in originals.chunks(BATCH) {
            let epoch = LockEpoch::new(writer.epoch());
            let removals = originals
                .iter()
                .map(|original| {
                    let state = VaultState {
                        now: StoreTime::from_ms(1_000_000_000),
                        clock: ClockTrust::Trusted,
                        store: StoreState::Ok,
                        policy: Ok(Position::ZERO),
                        revision: writer.revision(),
                    };
                    let permit = permit_removal(epoch, &state, &unneeded(*original)?)
                        .map_err(|refusal| format!("{refusal:?}"))?;
                    Ok(Removal { permit, class: EvidentialClass::Structured })
                })
                .collect::<Outcome<Vec<_>>>()?;
            self.store.remove(&mut writer, removals)?;
        }
        self.store.free_space(&mut writer, FreeOptions::default(), &mut |_| ())?;
        Ok(())
    }
}

/// What the gate sees of an original that nothing rests on.
fn unneeded(original: Position) -> Outcome<RemovalView> {
    Ok(RemovalView {
        original,
        stage: Ok(Stage::Condemned { since: StoreTime::from_ms(2_000) }),
        grace: Ok(Ttl::from_ms(1_000)?),
        retention: Ok(Expiry::At(StoreTime::from_ms(1_000))),
        leases: Ok(Vec::new()),
        demands: Ok(Vec::new()),
        holds: Ok(Vec::new()),
        live: Ok(Vec::new()),
        cited_by: Ok(Vec::new()),
    })
}
