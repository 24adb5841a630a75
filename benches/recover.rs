//! Getting originals back, verified: at random and warm, beside a bare read of the same bytes and `SQLite`.

use spanvault::{Cooling, Receipt, Run, SpanDraft, Vault};
use spanvault_benches::noise::Noise;
use spanvault_benches::peer::Peer;
use spanvault_benches::place::Place;
use spanvault_benches::raw::RawFile;
use spanvault_benches::report::{Report, Target};
use spanvault_benches::settings::Settings;
use spanvault_benches::stats::{mebibytes, median, ratio, us_each};
use spanvault_benches::watch::timed;
use spanvault_benches::{Outcome, check, spans};
use spanvault_env::Env;
use spanvault_store::{Access, Store, StoreOptions};

/// The length of an original in bytes.
const SPAN_BYTES: usize = 4_096;
/// How many originals are put at once.
const BATCH: usize = 1_000;

fn main() -> Outcome {
    let settings = Settings::from_command_line();
    let place = Place::below(env!("CARGO_TARGET_TMPDIR"))?;
    let (count, gets) = (settings.count("spans", 50_000)?, settings.count("gets", 5_000)?);
    let rounds = settings.count("rounds", 5)?;
    let mut report = Report::new("recover");
    report.about("spans", count);
    report.about("span bytes", SPAN_BYTES);
    report.about("gets a round", gets);
    report.about("rounds", rounds);
    let sides = Sides::fill(&place, count)?;
    let mut noise = Noise::new(5);
    let mut times = [const { Vec::new() }; 6];
    // The first round warms everything up.
    for round in 0..=rounds {
        let wanted: Vec<&Kept> = (0..gets).filter_map(|_n| sides.kept.get(noise.below(count))).collect();
        let ways: [Way<'_>; 6] = [
            &|kept| sides.bare(kept),
            &|kept| sides.bare_verified(kept),
            &|kept| sides.store(kept),
            &|kept| Ok(sides.vault.recover(kept.receipt.span)?),
            &|kept| Ok(sides.vault.recover(kept.receipt.hash)?),
            &|kept| sides.peer(kept),
        ];
        for (way, times) in ways.iter().zip(&mut times) {
            let (bytes, time) =
                timed(|| wanted.iter().try_fold(0, |bytes, kept| way(kept).map(|body| bytes + body.len())))?;
            let expected: usize = wanted.iter().map(|kept| kept.receipt.bytes.len()).sum();
            check(bytes == expected, || format!("{bytes} bytes came back of {expected}"))?;
            if round > 0 {
                times.push(us_each(time, gets));
            }
        }
    }
    let [bare, verified, store, span, hash, peer] = &times;
    report.figure("pread", median(bare), "us");
    report.figure("pread and BLAKE3", median(verified), "us");
    report.figure("store, by position", median(store), "us");
    report.figure("vault, by span", median(span), "us");
    report.figure("vault, by hash", median(hash), "us");
    report.figure("SQLite, by hash, and BLAKE3", median(peer), "us");
    report.figure("store, times pread and BLAKE3", ratio(store, verified), "x");
    report.judged("store, times SQLite", ratio(store, peer), "x", Target::AtMost(1.1));
    report.judged("vault by hash, times SQLite", ratio(hash, peer), "x", Target::AtMost(1.1));
    cold(&sides, gets, rounds, &mut report)?;
    sides.vault.close()?;
    report.finish(&settings)
}

/// The same originals once all of them are in cold packs, each a frame of its own with a dictionary.
fn cold(sides: &Sides, gets: usize, rounds: usize, report: &mut Report) -> Outcome {
    let demoted = sides.vault.demote(Cooling::After(0), Run::Real, &mut |_progress| {})?;
    check(demoted.demoted == sides.kept.len() as u64, || "not all were demoted".to_owned())?;
    let mut noise = Noise::new(6);
    let mut times = Vec::new();
    for round in 0..=rounds {
        let wanted: Vec<&Kept> =
            (0..gets).filter_map(|_n| sides.kept.get(noise.below(sides.kept.len()))).collect();
        let get = |kept: &&Kept| {
            let is_right = sides.store.original(kept.receipt.span.0)?.bytes == kept.receipt.bytes;
            check(is_right, || format!("{} differs", kept.receipt.span))
        };
        let ((), time) = timed(|| wanted.iter().try_for_each(get))?;
        if round > 0 {
            times.push(us_each(time, gets));
        }
    }
    // How much smaller they are says little: half of such a line is made by chance. See `cold`.
    let smaller = mebibytes(demoted.bytes_before) / mebibytes(demoted.bytes_after);
    report.figure("cold, generated lines, times smaller", smaller, "x");
    report.judged("cold, store, by position", median(&times), "us", Target::AtMost(10.0));
    Ok(())
}

/// One way to get an original.
type Way<'a> = &'a dyn Fn(&Kept) -> Outcome<Vec<u8>>;

/// The same originals on each side.
struct Sides {
    vault: Vault,
    /// A reader of the same vault, without what is built on it.
    store: Store,
    raw: RawFile,
    peer: Peer,
    kept: Vec<Kept>,
}

/// An original and where the plain file has it.
struct Kept {
    receipt: Receipt,
    offset: u64,
}

impl Sides {
    fn fill(place: &Place, count: usize) -> Outcome<Self> {
        let dir = place.join("recover.vault");
        let vault = Vault::open(&dir)?;
        let mut raw = RawFile::create(&place.join("recover.raw"))?;
        let mut peer = Peer::create(&place.join("recover.db"))?;
        let mut kept = Vec::with_capacity(count);
        let mut offset = 0;
        let session = vault.session("bench")?;
        for originals in spans::originals(4, count, SPAN_BYTES).chunks(BATCH) {
            peer.put(originals)?;
            raw.append(&originals.concat())?;
            let drafts = originals.iter().cloned().map(SpanDraft::message_json).collect();
            for receipt in session.record_all(drafts)? {
                let len = receipt.bytes.len() as u64;
                kept.push(Kept { receipt, offset });
                offset += len;
            }
        }
        let (store, _report) = Store::open(Env::real(), &dir, Access::Read, StoreOptions::default())?;
        let sides = Self { vault, store, raw, peer, kept };
        sides.kept.iter().step_by(997).try_for_each(|kept| sides.agree(kept))?;
        Ok(sides)
    }

    /// Every side gives the very same bytes.
    fn agree(&self, kept: &Kept) -> Outcome {
        let Receipt { span, hash, bytes, .. } = &kept.receipt;
        let all = [
            self.bare(kept)?,
            self.store(kept)?,
            self.vault.recover(*span)?,
            self.vault.recover(*hash)?,
            self.peer(kept)?,
        ];
        check(all.iter().all(|body| body == bytes), || format!("{span} differs"))
    }

    fn bare(&self, kept: &Kept) -> Outcome<Vec<u8>> {
        self.raw.read(kept.offset, kept.receipt.bytes.len())
    }

    fn bare_verified(&self, kept: &Kept) -> Outcome<Vec<u8>> {
        let bytes = self.bare(kept)?;
        let is_right = blake3::hash(&bytes).as_bytes() == kept.receipt.hash.as_bytes();
        check(is_right, || "the file has other bytes".to_owned())?;
        Ok(bytes)
    }

    fn store(&self, kept: &Kept) -> Outcome<Vec<u8>> {
        Ok(self.store.original(kept.receipt.span.0)?.bytes)
    }

    fn peer(&self, kept: &Kept) -> Outcome<Vec<u8>> {
        Ok(self.peer.get(kept.receipt.hash.as_bytes())?.ok_or("SQLite has it not")?)
    }
}
