//! The store beside the embedded stores that people choose from, all asked for the same, by turns.

use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use spanvault_benches::child::Twin;
use spanvault_benches::engine::{Engine, Hash, Kind, Record, disk_bytes};
use spanvault_benches::memory::resident;
use spanvault_benches::noise::Noise;
use spanvault_benches::place::{self, Place};
use spanvault_benches::raw::RawFile;
use spanvault_benches::report::{Report, Target};
use spanvault_benches::settings::Settings;
use spanvault_benches::stats::{mb_per_s, mebibytes, median, ms, per_s, ratio, us, us_each};
use spanvault_benches::table::{Row, write_page};
use spanvault_benches::watch::timed;
use spanvault_benches::{Outcome, check, spans};

/// The length of a body in bytes.
const BODY_BYTES: usize = 4_096;
/// The length of a large one.
const LARGE_BYTES: usize = 16 << 20;
/// How many threads write, or read, at once.
const THREADS: usize = 4;

/// How many bodies a process that fills a store makes at a time.
const FILL_AT_ONCE: usize = 1_000;
/// How many threads read beside those that write.
const READERS: usize = 2;

fn main() -> Outcome {
    let settings = Settings::from_command_line();
    if let Some(name) = settings.text("fill") {
        return fill(name, settings.text("dir").ok_or("no directory")?, settings.count("bodies", 0)?);
    }
    let mut run = Run {
        place: Place::below(env!("CARGO_TARGET_TMPDIR"))?,
        report: Report::new("peers"),
        rows: Vec::new(),
        rounds: settings.count("rounds", 5)?,
        records: records(1, settings.count("bodies", 16_000)?),
    };
    run.report.about("body bytes", BODY_BYTES);
    run.report.about("bodies", run.records.len());
    run.report.about("rounds", run.rounds);
    run.in_bulk("bulk, one sync", usize::MAX, 4.0, 8.0, 8.0)?;
    run.in_bulk("bulk, a sync per 1,000", 1_000, 1.4, 2.5, 0.0)?;
    run.singles(settings.count("singles", 150)?)?;
    run.writers(settings.count("each", 25)?)?;
    run.memory(settings.count("memory-bodies", 50_000)?)?;
    run.reading(settings.count("gets", 4_000)?)?;
    run.large(settings.count("large-rounds", 5)?)?;
    if settings.has("record") {
        write_page(&run.rows)?;
    }
    run.report.finish(&settings)
}

/// Fills a store of this kind, gets a few bodies back, and says how many bytes of memory that has taken.
fn fill(name: &str, dir: &str, count: usize) -> Outcome {
    let kind = Kind::ALL.iter().find(|kind| kind.name() == name).ok_or("no such store")?;
    drop(records(7, FILL_AT_ONCE));
    let before = resident()?;
    let engine = kind.create(Path::new(dir))?;
    let mut some = Vec::new();
    for first in (0..count).step_by(FILL_AT_ONCE) {
        let records = records(7 + first as u64, FILL_AT_ONCE.min(count - first));
        engine.put(&records)?;
        some.extend(records.into_iter().step_by(97));
    }
    check_some(&*engine, &some)?;
    drop(some);
    writeln!(std::io::stdout(), "{}", resident()?.saturating_sub(before))?;
    Ok(())
}

/// Bodies that are alike and none the same.
fn records(seed: u64, count: usize) -> Vec<Record> {
    spans::originals(seed, count, BODY_BYTES).into_iter().map(Record::of).collect()
}

struct Run {
    place: Place,
    report: Report,
    rows: Vec<Row>,
    rounds: usize,
    records: Vec<Record>,
}

/// The figures of one kind of store, round by round.
type Figures = Vec<(Kind, Vec<f64>)>;

fn nothing_yet() -> Figures {
    Kind::ALL.iter().map(|kind| (*kind, Vec::new())).collect()
}

fn of(figures: &Figures, kind: Kind) -> &[f64] {
    figures.iter().find(|(found, _)| *found == kind).map_or(&[], |(_, values)| values)
}

impl Run {
    /// Many bodies, with one sync after each `batch`.
    fn in_bulk(&mut self, name: &str, batch: usize, best: f64, sqlite: f64, sled: f64) -> Outcome {
        let bytes: u64 = self.records.iter().map(|record| record.body.len() as u64).sum();
        let mut rates = nothing_yet();
        let mut bare = Vec::new();
        for round in 0..self.rounds {
            let path = self.place.join(&format!("bulk {round}.raw"));
            let mut raw = RawFile::create(&path)?;
            let ((), time) = timed(|| {
                for synced in self.records.chunks(batch.min(self.records.len())) {
                    for written in synced.chunks(1_000) {
                        let bodies: Vec<&[u8]> =
                            written.iter().map(|record| record.body.as_slice()).collect();
                        raw.append(&bodies.concat())?;
                    }
                    raw.sync()?;
                }
                Outcome::Ok(())
            })?;
            place::clear(&path)?;
            bare.push(mb_per_s(bytes, time));
            for (kind, rates) in &mut rates {
                let dir = self.place.join(&format!("bulk {round} {}", kind.name()));
                let engine = kind.create(&dir)?;
                let put = || {
                    self.records.chunks(batch.min(self.records.len())).try_for_each(|some| engine.put(some))
                };
                rates.push(mb_per_s(bytes, timed(put)?.1));
                check_some(&*engine, &self.records)?;
                drop(engine);
                place::clear(&dir)?;
            }
        }
        self.faster(name, "MB/s", &rates, Some(("append and fdatasync", &bare)));
        let ours = of(&rates, Kind::Spanvault).to_vec();
        self.report.judged(format!("{name}, times append"), ratio(&ours, &bare), "x", Target::AtLeast(0.6));
        let others = [Kind::Redb, Kind::Fjall, Kind::Lmdb];
        let least = others.iter().map(|kind| ratio(&ours, of(&rates, *kind))).fold(f64::INFINITY, f64::min);
        self.report.judged(
            format!("{name}, times the best of redb, fjall, LMDB"),
            least,
            "x",
            Target::AtLeast(best),
        );
        let over_sqlite = ratio(&ours, of(&rates, Kind::Sqlite));
        self.report.judged(format!("{name}, times SQLite"), over_sqlite, "x", Target::AtLeast(sqlite));
        if sled > 0.0 {
            let over_sled = ratio(&ours, of(&rates, Kind::Sled));
            self.report.judged(format!("{name}, times sled"), over_sled, "x", Target::AtLeast(sled));
        }
        Ok(())
    }

    /// One body, durable, before the next: all take turns.
    fn singles(&mut self, count: usize) -> Outcome {
        let records = records(2, count);
        let engines = self.engines("single")?;
        let mut raw = RawFile::create(&self.place.join("single.raw"))?;
        let mut times = nothing_yet();
        let mut bare = Vec::new();
        for record in &records {
            bare.push(us(timed(|| raw.append(&record.body).and_then(|()| raw.sync()))?.1));
            for ((_, engine), (_, times)) in engines.iter().zip(&mut times) {
                times.push(us(timed(|| engine.put(std::slice::from_ref(record)))?.1));
            }
        }
        engines.iter().try_for_each(|(_, engine)| check_some(&**engine, &records))?;
        self.slower("one durable body, p50", "us", &times, Some(("append and fdatasync", &bare)));
        let over_bare = median(of(&times, Kind::Spanvault)) / median(&bare);
        self.report.judged("one durable body, times append", over_bare, "x", Target::AtMost(1.15));
        Ok(())
    }

    /// Four threads that write durably, one body at a time.
    fn writers(&mut self, each: usize) -> Outcome {
        let engines = self.engines("writers")?;
        let (mut rates, mut beside) = (nothing_yet(), nothing_yet());
        // Bursts of the same work take turns.
        for round in 0..self.rounds.max(9) {
            for ((_, engine), (_, rates)) in engines.iter().zip(&mut rates) {
                let records = records(100 + round as u64, THREADS * each);
                let put = |records: &[Record]| {
                    records.iter().try_for_each(|record| engine.put(std::slice::from_ref(record)))
                };
                let ((), time) = timed(|| at_once(records.chunks(each), &put))?;
                rates.push(per_s(THREADS * each, time));
                check_some(&**engine, &records)?;
            }
            for ((_, engine), (_, rates)) in engines.iter().zip(&mut beside) {
                let there = records(100 + round as u64, THREADS * each);
                let records = records(10_000 + round as u64, THREADS * each);
                let put = |records: &[Record]| {
                    records.iter().try_for_each(|record| engine.put(std::slice::from_ref(record)))
                };
                let write = || timed(|| at_once(records.chunks(each), &put));
                rates.push(per_s(THREADS * each, while_others_read(&**engine, &there, write)?.1));
                check_some(&**engine, &records)?;
            }
        }
        self.faster("4 threads, durable bodies", "/s", &rates, None);
        self.faster("the same, 2 threads reading beside", "/s", &beside, None);
        let ours = of(&rates, Kind::Spanvault).to_vec();
        for (kind, least) in [(Kind::Fjall, 2.0), (Kind::Redb, 2.5), (Kind::Sqlite, 6.0)] {
            let name = format!("4 threads, durable bodies, times {}", kind.name());
            self.report.judged(name, ratio(&ours, of(&rates, kind)), "x", Target::AtLeast(least));
        }
        Ok(())
    }

    /// What a process has in memory once it has filled a store, over what it had before.
    fn memory(&mut self, count: usize) -> Outcome {
        self.report.about("bodies in memory", count);
        let mut sizes = nothing_yet();
        for (kind, sizes) in &mut sizes {
            let dir = self.place.join(&format!("memory {}", kind.name()));
            let words =
                ["--fill", kind.name(), "--dir", &dir.to_string_lossy(), "--bodies", &count.to_string()];
            let mut twin = Twin::start(&words)?;
            sizes.push(mebibytes(twin.line()?.parse()?));
            twin.end()?;
            place::clear(&dir)?;
        }
        self.slower("memory after filling", "MiB", &sizes, None);
        let ours = median(of(&sizes, Kind::Spanvault));
        self.report.judged("memory after filling", ours, "MiB", Target::AtMost(64.0));
        let others = Kind::ALL.iter().filter(|kind| **kind != Kind::Spanvault);
        let best = others.map(|kind| median(of(&sizes, *kind))).fold(f64::INFINITY, f64::min);
        self.report.judged("memory, times the best other", ours / best, "x", Target::AtMost(0.35));
        Ok(())
    }

    /// Warm bodies at random, from one thread and from four; then what the disk holds, before and after half is removed.
    fn reading(&mut self, gets: usize) -> Outcome {
        let engines = self.engines("reading")?;
        let bytes: u64 = self.records.iter().map(|record| record.body.len() as u64).sum();
        for (_, engine) in &engines {
            self.records.chunks(4_000).try_for_each(|records| engine.put(records))?;
        }
        let mut raw = RawFile::create(&self.place.join("reading.raw"))?;
        let mut places = Vec::with_capacity(self.records.len());
        let mut offset = 0;
        for record in &self.records {
            raw.append(&record.body)?;
            places.push((offset, record));
            offset += record.body.len() as u64;
        }
        let mut noise = Noise::new(3);
        let (mut unchecked, mut checked, mut four) = (nothing_yet(), nothing_yet(), nothing_yet());
        let (mut bare, mut bare_four) = (Vec::new(), Vec::new());
        let read_bare = |wanted: &[&(u64, &Record)]| get_all_bare(&raw, wanted);
        for round in 0..=self.rounds {
            let chosen: Vec<&(u64, &Record)> =
                (0..gets).filter_map(|_n| places.get(noise.below(places.len()))).collect();
            let wanted: Vec<&Record> = chosen.iter().map(|(_offset, record)| *record).collect();
            let alone = timed(|| read_bare(&chosen))?.1;
            let parallel = timed(|| at_once(chosen.chunks(gets.div_ceil(THREADS)), &read_bare))?.1;
            if round > 0 {
                bare.push(us_each(alone, gets));
                bare_four.push(1e3 / us_each(parallel, gets));
            }
            for (n, (kind, engine)) in engines.iter().enumerate() {
                let plain = timed(|| get_all(&**engine, &wanted, false))?.1;
                // The store under test verifies every body in any case.
                let verify = *kind != Kind::Spanvault;
                let verified = timed(|| get_all(&**engine, &wanted, verify))?.1;
                let read = |wanted: &[&Record]| get_all(&**engine, wanted, false);
                let parallel = timed(|| at_once(wanted.chunks(gets.div_ceil(THREADS)), &read))?.1;
                // The first round warms everything up.
                if round > 0 {
                    for (figures, time) in
                        [(&mut unchecked, plain), (&mut checked, verified), (&mut four, parallel)]
                    {
                        if let Some((_, values)) = figures.get_mut(n) {
                            values.push(us_each(time, gets));
                        }
                    }
                }
            }
        }
        self.slower("get, warm, as each does it", "us", &unchecked, None);
        self.slower("get, warm, verified", "us", &checked, Some(("pread and BLAKE3", &bare)));
        let four =
            four.into_iter().map(|(kind, times)| (kind, times.iter().map(|us| 1e3 / us).collect())).collect();
        let name = "get, 4 threads, as each does it";
        self.faster(name, "thousand/s", &four, Some(("pread and BLAKE3", &bare_four)));
        let ours = of(&checked, Kind::Spanvault).to_vec();
        let over = |figures: &Figures, kind| ratio(of(figures, Kind::Spanvault), of(figures, kind));
        let over_sqlite = ratio(&ours, of(&checked, Kind::Sqlite));
        self.report.judged("get, verified, times SQLite", over_sqlite, "x", Target::AtMost(1.1));
        self.report.figure("get, verified, times LMDB", over(&checked, Kind::Lmdb), "x");
        self.report.judged("get, 4 threads, times redb", over(&four, Kind::Redb), "x", Target::AtLeast(1.0));
        self.report.judged(
            "get, 4 threads, times SQLite",
            over(&four, Kind::Sqlite),
            "x",
            Target::AtLeast(1.5),
        );
        self.space(&engines, bytes)
    }

    fn space(&mut self, engines: &[(Kind, Box<dyn Engine>)], bytes: u64) -> Outcome {
        let (mut full, mut half, mut took) = (nothing_yet(), nothing_yet(), nothing_yet());
        let (gone, kept): (Vec<_>, Vec<_>) =
            self.records.iter().enumerate().partition(|(number, _record)| number % 2 == 0);
        let gone: Vec<Hash> = gone.into_iter().map(|(_, record)| record.hash).collect();
        let kept: Vec<Record> = kept.into_iter().map(|(_, record)| record.clone()).collect();
        for (n, (kind, engine)) in engines.iter().enumerate() {
            let dir = self.place.join(&format!("reading {}", kind.name()));
            let before = share(disk_bytes(&dir)?, bytes);
            let ((), time) = timed(|| engine.remove(&gone))?;
            check_some(&**engine, &kept)?;
            let after = share(disk_bytes(&dir)?, bytes);
            for (figures, value) in [(&mut full, before), (&mut half, after), (&mut took, ms(time))] {
                if let Some((_, values)) = figures.get_mut(n) {
                    values.push(value);
                }
            }
        }
        self.slower("disk, times the bodies", "x", &full, None);
        self.slower("disk after half was removed", "x", &half, None);
        self.slower("removing half, and giving it back", "ms", &took, None);
        let ours = |figures: &Figures| median(of(figures, Kind::Spanvault));
        self.report.judged("disk, times the bodies", ours(&full), "x", Target::AtMost(1.03));
        self.report.judged("disk after half was removed", ours(&half), "x", Target::AtMost(0.52));
        Ok(())
    }

    /// One body of 16 MB, durable, and back.
    fn large(&mut self, rounds: usize) -> Outcome {
        let engines = self.engines("large")?;
        let mut raw = RawFile::create(&self.place.join("large.raw"))?;
        let (mut puts, mut gets, mut bare) = (nothing_yet(), nothing_yet(), Vec::new());
        let mut bare_gets = Vec::new();
        for round in 0..rounds {
            let mut body = vec![0; LARGE_BYTES];
            blake3::Hasher::new().update(&round.to_le_bytes()).finalize_xof().fill(&mut body);
            let record = Record::of(body);
            bare.push(ms(timed(|| raw.append(&record.body).and_then(|()| raw.sync()))?.1));
            let (found, time) = timed(|| raw.read_hashed((round * LARGE_BYTES) as u64, LARGE_BYTES))?;
            check(found == record.body, || "the file has other bytes".to_owned())?;
            bare_gets.push(ms(time));
            drop(found);
            for ((_, engine), ((_, puts), (_, gets))) in engines.iter().zip(puts.iter_mut().zip(&mut gets)) {
                puts.push(ms(timed(|| engine.put(std::slice::from_ref(&record)))?.1));
                let (found, time) = timed(|| engine.get(&record.hash))?;
                check(found == record.body, || "a large body differs".to_owned())?;
                gets.push(ms(time));
            }
        }
        self.slower("16 MB, durable", "ms", &puts, Some(("append and fdatasync", &bare)));
        let by_all_cores = "pread and BLAKE3 on all cores";
        self.slower("16 MB, back", "ms", &gets, Some((by_all_cores, &bare_gets)));
        let ours = of(&puts, Kind::Spanvault).to_vec();
        self.report.judged("16 MB, times append", ratio(&ours, &bare), "x", Target::AtMost(1.1));
        let over_lmdb = ratio(of(&gets, Kind::Spanvault), of(&gets, Kind::Lmdb));
        self.report.judged("16 MB, back, verified, times LMDB", over_lmdb, "x", Target::AtMost(1.2));
        Ok(())
    }

    fn engines(&self, name: &str) -> Outcome<Vec<(Kind, Box<dyn Engine>)>> {
        let create =
            |kind: &Kind| Ok((*kind, kind.create(&self.place.join(&format!("{name} {}", kind.name())))?));
        Kind::ALL.iter().map(create).collect()
    }

    /// A row of which the highest figure is the best.
    fn faster(&mut self, name: &str, unit: &'static str, figures: &Figures, bare: Option<(&str, &[f64])>) {
        self.row(name, unit, figures, bare, true);
    }

    /// A row of which the lowest figure is the best.
    fn slower(&mut self, name: &str, unit: &'static str, figures: &Figures, bare: Option<(&str, &[f64])>) {
        self.row(name, unit, figures, bare, false);
    }

    fn row(
        &mut self,
        name: &str,
        unit: &'static str,
        figures: &Figures,
        bare: Option<(&str, &[f64])>,
        higher_is_better: bool,
    ) {
        let mut row = Row { name: name.to_owned(), unit, higher_is_better, values: Vec::new(), bare: None };
        for (kind, values) in figures {
            self.report.figure(format!("{name}, {}", kind.name()), median(values), unit);
            row.values.push((kind.name(), median(values)));
        }
        if let Some((what, values)) = bare {
            self.report.figure(format!("{name}, {what}"), median(values), unit);
            row.bare = Some(median(values));
        }
        self.rows.push(row);
    }
}

/// Runs `work` while two threads read what is there, over and over.
fn while_others_read<T>(
    engine: &dyn Engine,
    there: &[Record],
    work: impl FnOnce() -> Outcome<T>,
) -> Outcome<T> {
    let done = AtomicBool::new(false);
    let read = || {
        while !done.load(Ordering::Relaxed) {
            for record in there.iter().take_while(|_record| !done.load(Ordering::Relaxed)) {
                let body = engine.get(&record.hash)?;
                check(body == record.body, || "a body differs".to_owned())?;
            }
        }
        Outcome::Ok(())
    };
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS).map(|_n| scope.spawn(read)).collect();
        let worked = work();
        done.store(true, Ordering::Relaxed);
        for reader in readers {
            reader.join().map_err(|_panic| "a reader panicked")??;
        }
        worked
    })
}

/// Runs `work` on every part at once, each on a thread of its own.
fn at_once<'a, T: Sync + 'a>(
    parts: impl Iterator<Item = &'a [T]>,
    work: &(impl Fn(&[T]) -> Outcome + Sync),
) -> Outcome {
    std::thread::scope(|scope| {
        let running: Vec<_> = parts.map(|part| scope.spawn(move || work(part))).collect();
        running.into_iter().try_for_each(|thread| thread.join().map_err(|_panic| "a thread panicked")?)
    })
}

fn get_all(engine: &dyn Engine, wanted: &[&Record], verify: bool) -> Outcome {
    for record in wanted {
        let body = engine.get(&record.hash)?;
        let is_right =
            body.len() == record.body.len() && (!verify || *blake3::hash(&body).as_bytes() == record.hash);
        check(is_right, || "a body differs".to_owned())?;
    }
    Ok(())
}

/// The bare limit of what verifies: the same bodies out of a plain file, by their offsets.
fn get_all_bare(raw: &RawFile, wanted: &[&(u64, &Record)]) -> Outcome {
    for (offset, record) in wanted {
        let body = raw.read(*offset, record.body.len())?;
        check(*blake3::hash(&body).as_bytes() == record.hash, || "a body differs".to_owned())?;
    }
    Ok(())
}

/// Some of the bodies are what was put.
fn check_some(engine: &dyn Engine, records: &[Record]) -> Outcome {
    for record in records.iter().step_by(records.len().div_ceil(50)) {
        check(engine.get(&record.hash)? == record.body, || "a body differs".to_owned())?;
    }
    Ok(())
}

fn share(bytes: u64, of: u64) -> f64 {
    mb_per_s(bytes, Duration::from_secs(1)) / mb_per_s(of, Duration::from_secs(1))
}
