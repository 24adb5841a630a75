//! The whole way of a span: hash, body, citations, expiry and some twenty atoms, beside embedded stores with tables for the
//! same; and the atoms alone.
//!
//! The vault is used as an agent uses it: a session is recorded in one batch, with one sync, and compacted into one summary
//! that cites what it stands for. Its atoms are the terms that it posts of a span: it reads and parses every span to find
//! them, and the gate reads them all again before it permits the summary. The other stores are handed the same terms ready, and
//! so are a log and runs without a vault around them.

use std::path::Path;
use std::time::Duration;

use spanvault::types::Position;
use spanvault_benches::engine::disk_bytes;
use spanvault_benches::place::{self, Place};
use spanvault_benches::postings::{self, Pair};
use spanvault_benches::processor::spent;
use spanvault_benches::report::{Report, Target};
use spanvault_benches::settings::Settings;
use spanvault_benches::stats::{median, per_s, ratio, us, us_each};
use spanvault_benches::tables::{Durability, Kind};
use spanvault_benches::watch::timed;
use spanvault_benches::whole::{Parts, Work};
use spanvault_benches::{Outcome, check};

/// How many pairs are put in one transaction.
const PAIRS: usize = 20_000;
/// How many terms are looked up.
const LOOK_UPS: usize = 2_000;

fn main() -> Outcome {
    let settings = Settings::from_command_line();
    let place = Place::below(env!("CARGO_TARGET_TMPDIR"))?;
    let rounds = settings.count("rounds", 3)?;
    let mut report = Report::new("end_to_end");
    let dir = place.join("first.vault");
    let work = Work::read_by_a_vault(&dir, settings.count("spans", 32_000)?)?;
    report.about("spans", work.spans());
    report.about("bytes a span", work.bytes() / work.spans() as u64);
    report.about("pairs", work.pairs.len());
    report.about("pairs a span", ratio_of(work.pairs.len() as u64, work.spans()));
    report.about("summaries", work.summaries());
    report.about("citations", work.citations());
    report.about("details a span", ratio_of(work.details()? as u64, work.spans()));
    report.about("rounds", rounds);
    whole(&place, &work, rounds, &mut report)?;
    atoms(&place, &dir, &work, rounds, &mut report)?;
    report.finish(&settings)
}

fn ratio_of(over: u64, under: usize) -> f64 {
    1.0 / per_s(under, Duration::from_secs(over))
}

/// What the parts of the work took on one side, round by round, in microseconds a span.
#[derive(Default)]
struct Times {
    recording: Both,
    citing: Both,
    closing: Both,
    without_citing: Both,
    all: Both,
}

/// By the clock, and by what processors worked.
#[derive(Default)]
struct Both {
    clock: Vec<f64>,
    processor: Vec<f64>,
}

impl Times {
    fn add(&mut self, parts: &Parts, spans: usize) {
        let mut without_citing = parts.recording;
        without_citing += parts.closing;
        let mut all = without_citing;
        all += parts.citing;
        for (times, spent) in [
            (&mut self.recording, parts.recording),
            (&mut self.citing, parts.citing),
            (&mut self.closing, parts.closing),
            (&mut self.without_citing, without_citing),
            (&mut self.all, all),
        ] {
            times.clock.push(us_each(spent.clock, spans));
            times.processor.push(us_each(spent.processor, spans));
        }
    }

    fn say(&self, name: &str, report: &mut Report) {
        for (part, times) in [
            ("recording", &self.recording),
            ("summaries and citations", &self.citing),
            ("closing", &self.closing),
            ("a span", &self.all),
        ] {
            report.figure(format!("{name}, {part}"), median(&times.clock), "us");
            report.figure(format!("{name}, {part}, processors"), median(&times.processor), "us");
        }
    }
}

/// Everything, by turns.
fn whole(place: &Place, work: &Work, rounds: usize, report: &mut Report) -> Outcome {
    let (mut ours, mut bare) = (Times::default(), Times::default());
    let mut theirs: Vec<(Kind, Times)> = Kind::ALL.iter().map(|kind| (*kind, Times::default())).collect();
    for round in 0..rounds {
        let dir = place.join(&format!("whole {round}.vault"));
        ours.add(&work.into_vault(&dir)?, work.spans());
        place::clear(&dir)?;
        let dir = place.join(&format!("whole {round}.log"));
        bare.add(&work.into_log(&dir)?, work.spans());
        place::clear(&dir)?;
        for (kind, times) in &mut theirs {
            let dir = place.join(&format!("whole {round} {}", kind.name()));
            let mut tables = kind.create(&dir, Durability::Synced)?;
            let parts = work.into_tables(&mut *tables)?;
            work.check_tables(&*tables)?;
            let ((), closing) = spent(|| {
                drop(tables);
                Ok(())
            })?;
            times.add(&Parts { closing, ..parts }, work.spans());
            place::clear(&dir)?;
        }
    }
    ours.say("vault", report);
    bare.say("log and runs", report);
    for (kind, times) in &theirs {
        times.say(kind.name(), report);
        let mut over = |what: &str, theirs: &[f64], ours: &[f64], is_judged: bool| {
            let name = format!("{what}, times {}", kind.name());
            match least(*kind).filter(|_| is_judged) {
                Some(least) => report.judged(name, ratio(theirs, ours), "x", Target::AtLeast(least)),
                None => report.figure(name, ratio(theirs, ours), "x"),
            }
        };
        over("vault", &times.all.clock, &ours.all.clock, true);
        over("vault, processors", &times.all.processor, &ours.all.processor, false);
        let (plain, own) = (&times.without_citing, &ours.without_citing);
        over("vault without summaries", &plain.clock, &own.clock, false);
        over("vault without summaries, processors", &plain.processor, &own.processor, false);
        over("log and runs", &times.all.clock, &bare.all.clock, true);
        over("log and runs, processors", &times.all.processor, &bare.all.processor, false);
    }
    Ok(())
}

/// How many times faster than a store with the same tables a vault has to be.
const fn least(kind: Kind) -> Option<f64> {
    match kind {
        Kind::Sqlite => Some(8.0),
        Kind::Redb | Kind::Fjall => None,
        #[cfg(feature = "rocksdb")]
        Kind::Rocksdb => Some(3.0),
    }
}

/// The pairs of a term and a span alone, not synced, for they can be read again: into runs as the vault makes them, and
/// into tables.
fn atoms(place: &Place, dir: &Path, work: &Work, rounds: usize, report: &mut Report) -> Outcome {
    let count = work.pairs.len();
    let numbers: Vec<(u64, u64)> = work.pairs.iter().map(|pair| (pair.term.get(), pair.span)).collect();
    let sum: u64 = numbers.iter().map(|(_term, span)| span).sum();
    let mut terms = work.pairs.clone();
    terms.sort_unstable();
    terms.dedup_by_key(|pair| pair.term);
    let wanted: Vec<&Pair> = terms.iter().step_by(terms.len().div_ceil(LOOK_UPS)).collect();
    let (mut made, mut found, mut scanned) = (Vec::new(), Vec::new(), Vec::new());
    let mut theirs: Vec<_> = Kind::ALL.iter().map(|kind| (*kind, [const { Vec::new() }; 4])).collect();
    for round in 0..rounds {
        let runs_dir = place.join(&format!("runs {round}"));
        let (runs, time) = timed(|| postings::make_runs(&runs_dir, &work.pairs))?;
        made.push(per_s(count, time) / 1e6);
        let look_up = |pair: &&Pair| {
            let spans = runs.iter().map(|run| run.positions(pair.term));
            let spans: Vec<Position> = spans.collect::<Option<Vec<_>>>().ok_or("a run is damaged")?.concat();
            check(spans.contains(&Position::new(pair.span)), || "a span is not found".to_owned())
        };
        found.push(us_each(spent(|| wanted.iter().try_for_each(look_up))?.1.processor, wanted.len()));
        let (all, time) = timed(|| {
            let mut all = 0;
            for run in &runs {
                postings::each_entry(run, &mut |_term, spans| all += spans.iter().sum::<u64>())?;
            }
            Outcome::Ok(all)
        })?;
        check(all == sum, || "the runs have other pairs".to_owned())?;
        scanned.push(per_s(count, time) / 1e6);
        place::clear(&runs_dir)?;
        for (kind, [made, found, scanned, bytes]) in &mut theirs {
            let dir = place.join(&format!("atoms {round} {}", kind.name()));
            let mut tables = kind.create(&dir, Durability::Unsynced)?;
            let post = || numbers.chunks(PAIRS).try_for_each(|pairs| tables.post(pairs));
            made.push(per_s(count, timed(post)?.1) / 1e6);
            tables.settle()?;
            let look_up = |pair: &&Pair| {
                let spans = tables.spans_with(pair.term.get())?;
                check(spans.contains(&pair.span), || "a span is not found".to_owned())
            };
            found.push(us_each(spent(|| wanted.iter().try_for_each(look_up))?.1.processor, wanted.len()));
            let (all, time) = timed(|| tables.sum_of_pairs())?;
            check(all == sum, || format!("{} has other pairs", kind.name()))?;
            scanned.push(per_s(count, time) / 1e6);
            drop(tables);
            bytes.push(ratio_of(disk_bytes(&dir)?, count));
            place::clear(&dir)?;
        }
    }
    let on_disk = ratio_of(disk_bytes(&dir.join("postings"))?, count);
    report.judged("atoms, on the disk, each", on_disk, "bytes", Target::AtMost(20.0));
    report.figure("atoms, into runs", median(&made), "M/s");
    report.judged(
        "atoms, spans of a term in open runs, processor",
        median(&found),
        "us",
        Target::AtMost(10.0),
    );
    report.figure("atoms, read in order", median(&scanned), "M/s");
    report.figure("atoms, asked of an open vault", us(work.check_vault(dir)?), "us");
    for (kind, [into, look_up, scan, bytes]) in &theirs {
        let name = kind.name();
        report.figure(format!("atoms, on the disk, each, {name}"), median(bytes), "bytes");
        report.figure(format!("atoms, into {name}"), median(into), "M/s");
        let over = ratio(&made, into);
        let name_of_ratio = format!("atoms, into runs, times {name}");
        match kind {
            Kind::Fjall => report.judged(name_of_ratio, over, "x", Target::AtLeast(6.0)),
            #[cfg(feature = "rocksdb")]
            Kind::Rocksdb => report.judged(name_of_ratio, over, "x", Target::AtLeast(4.0)),
            Kind::Sqlite | Kind::Redb => report.figure(name_of_ratio, over, "x"),
        }
        report.figure(format!("atoms, spans of a term in {name}, processor"), median(look_up), "us");
        report.figure(format!("atoms, read in order from {name}"), median(scan), "M/s");
        if *kind == Kind::Redb {
            let over = ratio(&scanned, scan);
            report.judged("atoms, read in order, times redb", over, "x", Target::AtLeast(1.0));
        }
    }
    Ok(())
}
