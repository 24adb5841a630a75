//! Recording: one span at a time, from several threads, and in bulk, beside the bare disk and `SQLite`.

use std::time::Duration;

use spanvault::{Durability, Receipt, Session, SpanDraft, Vault};
use spanvault_benches::noise::Noise;
use spanvault_benches::peer::Peer;
use spanvault_benches::place::Place;
use spanvault_benches::raw::RawFile;
use spanvault_benches::report::{Report, Target};
use spanvault_benches::settings::Settings;
use spanvault_benches::shared_file::SharedFile;
use spanvault_benches::stats::{mb_per_s, median, per_s, percentile, ratio, us};
use spanvault_benches::watch::timed;
use spanvault_benches::{Outcome, bulk, check, spans};

/// The length of an original in bytes.
const SPAN_BYTES: usize = 4_096;
/// How many threads record at once.
const THREADS: usize = 8;

fn main() -> Outcome {
    let settings = Settings::from_command_line();
    let place = Place::below(env!("CARGO_TARGET_TMPDIR"))?;
    let mut report = Report::new("record");
    report.about("span bytes", SPAN_BYTES);
    singles(&place, settings.count("singles", 300)?, &mut report)?;
    levels(&place, settings.count("singles", 300)?, &mut report)?;
    threads(&place, settings.count("each", 100)?, settings.count("rounds", 5)?, &mut report)?;
    in_bulk(&place, settings.count("bulk", 50_000)?, settings.count("bulk-rounds", 3)?, &mut report)?;
    report.finish(&settings)
}

/// One span, durable, before the next: the three take turns.
fn singles(place: &Place, count: usize, report: &mut Report) -> Outcome {
    report.about("singles", count);
    let vault = Vault::open(place.join("single.vault"))?;
    let session = vault.session("bench")?;
    let mut raw = RawFile::create(&place.join("single.raw"))?;
    let mut peer = Peer::create(&place.join("single.db"))?;
    let mut receipts = Vec::new();
    let (mut ours, mut bare, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    for original in spans::originals(1, count, SPAN_BYTES) {
        let draft = SpanDraft::message_json(original.clone());
        let (receipt, time) = timed(|| session.record(draft))?;
        receipts.push(receipt);
        ours.push(us(time));
        bare.push(us(timed(|| raw.append(&original).and_then(|()| raw.sync()))?.1));
        theirs.push(us(timed(|| peer.put(std::slice::from_ref(&original)))?.1));
    }
    check_recorded(&vault, &receipts, count)?;
    check(peer.count()? == count, || "SQLite has not what was put".to_owned())?;
    vault.close()?;
    report.figure("single, p50", median(&ours), "us");
    report.figure("single, p99", percentile(&ours, 99), "us");
    report.figure("single, append and fdatasync, p50", median(&bare), "us");
    report.figure("single, SQLite, p50", median(&theirs), "us");
    let over_bare = median(&ours) / median(&bare);
    report.judged("single, times append and fdatasync", over_bare, "x", Target::AtMost(1.15));
    report.figure("single, times SQLite", median(&ours) / median(&theirs), "x");
    Ok(())
}

/// One span before the next, as durable as each level says, by turns.
fn levels(place: &Place, count: usize, report: &mut Report) -> Outcome {
    let levels = [
        ("sync", Durability::Sync),
        ("group, 10 ms", Durability::Group(Duration::from_millis(10))),
        ("buffered", Durability::Buffered),
    ];
    let vault = Vault::open(place.join("levels.vault"))?;
    let mut noise = Noise::new(4);
    let (mut receipts, mut times) = (Vec::new(), [const { Vec::new() }; 3]);
    for turn in 0..count {
        for ((name, level), times) in levels.iter().zip(&mut times) {
            let session = vault.session(name)?.with_durability(*level);
            let draft = spans::draft(&mut noise, SPAN_BYTES);
            let (receipt, time) = timed(|| session.record(draft))?;
            check(receipt.is_durable() == (*level == Durability::Sync), || format!("{name} at {turn}"))?;
            receipts.push(receipt);
            times.push(us(time));
        }
    }
    vault.sync()?;
    check_recorded(&vault, &receipts, count * levels.len())?;
    vault.close()?;
    for ((name, _level), times) in levels.iter().zip(&times) {
        report.figure(format!("single, {name}, p50"), median(times), "us");
    }
    Ok(())
}

/// One thread that records durably, and eight, by turns; and the same of a plain file, with nothing but appending.
fn threads(place: &Place, each: usize, rounds: usize, report: &mut Report) -> Outcome {
    report.about("spans of each thread", each);
    report.about("rounds", rounds);
    let vault = Vault::open(place.join("threads.vault"))?;
    let mut noise = Noise::new(2);
    let (mut one, mut many) = (Vec::new(), Vec::new());
    let bare = SharedFile::create(&place.join("threads.raw"), SPAN_BYTES * each * (1 + THREADS) * rounds)?;
    let (mut bare_one, mut bare_many) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        for (threads, rates) in [(1, &mut one), (THREADS, &mut many)] {
            let mut drafts = |_thread| (0..each).map(|_n| spans::draft(&mut noise, SPAN_BYTES)).collect();
            let drafts: Vec<Vec<SpanDraft>> = (0..threads).map(&mut drafts).collect();
            let sessions = (0..threads)
                .map(|thread| vault.session(&format!("{round} of {threads}, {thread}")))
                .collect::<Result<Vec<_>, _>>()?;
            let (receipts, time) = record_at_once(&sessions, drafts)?;
            check_recorded(&vault, &receipts, threads * each)?;
            rates.push(per_s(threads * each, time));
        }
        for (threads, rates) in [(1, &mut bare_one), (THREADS, &mut bare_many)] {
            rates.push(per_s(threads * each, append_at_once(&bare, threads, each)?));
        }
    }
    vault.close()?;
    report.figure("1 thread", median(&one), "/s");
    report.figure("8 threads", median(&many), "/s");
    report.judged("8 threads, times 1 thread", ratio(&many, &one), "x", Target::AtLeast(5.0));
    report.figure("1 thread, append and fdatasync", median(&bare_one), "/s");
    report.figure("8 threads, append and a shared fdatasync", median(&bare_many), "/s");
    report.figure(
        "8 threads, append and a shared fdatasync, times 1 thread",
        ratio(&bare_many, &bare_one),
        "x",
    );
    Ok(())
}

/// Appends from so many threads at once, each waiting for its sync before it goes on.
fn append_at_once(file: &SharedFile, threads: usize, each: usize) -> Outcome<Duration> {
    let body = [7; SPAN_BYTES];
    let append = || (0..each).try_for_each(|_n| file.append(&body));
    let ((), time) = timed(|| {
        std::thread::scope(|scope| {
            let running: Vec<_> = (0..threads).map(|_n| scope.spawn(append)).collect();
            running.into_iter().try_for_each(|thread| thread.join().map_err(|_panic| "a thread panicked")?)
        })
    })?;
    Ok(time)
}

/// Records in every session at once, each from a thread of its own.
fn record_at_once(
    sessions: &[Session<'_>],
    drafts: Vec<Vec<SpanDraft>>,
) -> Outcome<(Vec<Receipt>, Duration)> {
    let record = |session: &Session<'_>, drafts: Vec<SpanDraft>| {
        drafts.into_iter().map(|draft| session.record(draft)).collect::<Result<Vec<_>, _>>()
    };
    timed(|| {
        std::thread::scope(|scope| {
            let running: Vec<_> = sessions
                .iter()
                .zip(drafts)
                .map(|(session, drafts)| scope.spawn(move || record(session, drafts)))
                .collect();
            let mut receipts = Vec::new();
            for thread in running {
                receipts.extend(thread.join().map_err(|_panic| "a thread panicked")??);
            }
            Ok(receipts)
        })
    })
}

/// Many spans, with one sync for all of them and with one for each thousand.
fn in_bulk(place: &Place, count: usize, rounds: usize, report: &mut Report) -> Outcome {
    report.about("bulk", count);
    report.about("bulk rounds", rounds);
    let originals = spans::originals(3, count, SPAN_BYTES);
    let bytes: u64 = originals.iter().map(|original| original.len() as u64).sum();
    for (name, batch, targets) in [
        ("one sync", count, [Target::AtLeast(0.6), Target::AtLeast(8.0)]),
        ("sync per 1,000", 1_000, [Target::AtLeast(0.6), Target::AtLeast(2.5)]),
    ] {
        let (mut store, mut vault, mut bare, mut theirs) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for round in 0..rounds {
            let at = |kind: &str| place.join(&format!("bulk {batch} {round}.{kind}"));
            bare.push(mb_per_s(bytes, bulk::raw(&at("raw"), &originals, batch)?));
            store.push(mb_per_s(bytes, bulk::store(&at("store"), &originals, batch)?));
            theirs.push(mb_per_s(bytes, bulk::peer(&at("db"), &originals, batch)?));
            if batch < count {
                vault.push(mb_per_s(bytes, bulk::vault(&at("vault"), &originals, batch)?));
            }
        }
        let [over_bare, over_peer] = targets;
        report.figure(format!("bulk, {name}, store"), median(&store), "MB/s");
        report.figure(format!("bulk, {name}, append and fdatasync"), median(&bare), "MB/s");
        report.figure(format!("bulk, {name}, SQLite"), median(&theirs), "MB/s");
        report.judged(format!("bulk, {name}, store, times append"), ratio(&store, &bare), "x", over_bare);
        report.judged(format!("bulk, {name}, store, times SQLite"), ratio(&store, &theirs), "x", over_peer);
        if !vault.is_empty() {
            report.figure(format!("bulk, {name}, vault"), median(&vault), "MB/s");
            report.figure(format!("bulk, {name}, vault, times SQLite"), ratio(&vault, &theirs), "x");
        }
    }
    Ok(())
}

/// Every span gives its bytes again.
fn check_recorded(vault: &Vault, receipts: &[Receipt], count: usize) -> Outcome {
    check(receipts.len() == count, || format!("{} of {count} spans were recorded", receipts.len()))?;
    for receipt in receipts {
        check(vault.recover(receipt.span)? == receipt.bytes, || format!("{} differs", receipt.span))?;
    }
    Ok(())
}
