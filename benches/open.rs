//! Opening a vault: to read and to write, after a clean close and after a kill, small and ten times larger.

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use spanvault::{SpanDraft, Vault};
use spanvault_benches::child::Twin;
use spanvault_benches::noise::Noise;
use spanvault_benches::place::Place;
use spanvault_benches::raw::RawFile;
use spanvault_benches::report::{Report, Target};
use spanvault_benches::settings::Settings;
use spanvault_benches::stats::{mb_per_s, median, ms};
use spanvault_benches::watch::timed;
use spanvault_benches::{Outcome, check, spans};

/// The length of an original in bytes: short ones, so that there are many.
const SPAN_BYTES: usize = 400;
/// The length of an original that is rebuilt from, and how much of the log is read at once.
const REBUILT_BYTES: usize = 4_096;
const PIECE_BYTES: usize = 1 << 20;
/// How many spans are recorded at once, and how many a process has recorded when it is killed.
const BATCH: usize = 1_000;
/// How many spans a session has.
const SESSION_SPANS: usize = 10_000;

fn main() -> Outcome {
    let settings = Settings::from_command_line();
    if let Some(dir) = settings.text("until-killed") {
        return record_until_killed(Path::new(dir));
    }
    let place = Place::below(env!("CARGO_TARGET_TMPDIR"))?;
    let count = settings.count("spans", 200_000)?;
    let rounds = settings.count("rounds", 5)?;
    let mut report = Report::new("open");
    report.about("span bytes", SPAN_BYTES);
    report.about("rounds", rounds);
    for count in [count / 10, count] {
        let dir = place.join(&format!("{count}.vault"));
        fill(&dir, count, SPAN_BYTES)?;
        measure(&dir, count, rounds, &mut report)?;
    }
    rebuild(&place, settings.count("rebuilt", 50_000)?, settings.count("rebuild-rounds", 5)?, &mut report)?;
    report.finish(&settings)
}

/// Everything derived, made anew from the log: by the bytes of the log. Beside it, reading these bytes and hashing them.
fn rebuild(place: &Place, count: usize, rounds: usize, report: &mut Report) -> Outcome {
    report.about("spans rebuilt", count);
    report.about("their bytes", REBUILT_BYTES);
    let dir = place.join("rebuilt.vault");
    fill(&dir, count, REBUILT_BYTES)?;
    let log = dir.join("log");
    let (mut rates, mut bare) = (Vec::new(), Vec::new());
    for _round in 0..rounds {
        let mut bytes = 0;
        let ((), time) = timed(|| {
            for file in log.read_dir()? {
                RawFile::open(&file?.path())?.each_piece(PIECE_BYTES, |piece| {
                    bytes += piece.len() as u64;
                    black_box(blake3::hash(piece));
                    Ok(())
                })?;
            }
            Outcome::Ok(())
        })?;
        bare.push(mb_per_s(bytes, time));
        let vault = Vault::open(&dir)?;
        let (rebuilt, time) = timed(|| vault.rebuild(&mut |_progress| {}))?;
        check(rebuilt.frames > count as u64, || format!("{} frames of {count} spans", rebuilt.frames))?;
        rates.push(mb_per_s(bytes, time));
        vault.close()?;
    }
    report.judged("rebuild", median(&rates), "MB/s", Target::AtLeast(250.0));
    report.figure("rebuild, reading and hashing alone, one core", median(&bare), "MB/s");
    Ok(())
}

fn measure(dir: &Path, count: usize, rounds: usize, report: &mut Report) -> Outcome {
    let (mut reading, mut closed, mut closing) = (Vec::new(), Vec::new(), Vec::new());
    let (mut killed, mut found, mut reading_killed) = (Vec::new(), Vec::new(), Vec::new());
    for _round in 0..rounds {
        let (reader, time) = timed(|| Vault::open_read_only(dir))?;
        reading.push(ms(time));
        drop(reader);
        let (vault, time) = timed(|| Vault::open(dir))?;
        closed.push(ms(time));
        closing.push(ms(timed(|| vault.close())?.1));
    }
    for _round in 0..rounds {
        let mut twin = Twin::start(&["--until-killed", &dir.to_string_lossy()])?;
        let acknowledged = twin.line()?;
        twin.kill()?;
        let (reader, time) = timed(|| Vault::open_read_only(dir))?;
        reading_killed.push(ms(time));
        drop(reader);
        let (vault, time) = timed(|| Vault::open(dir))?;
        killed.push(ms(time));
        let (bytes, time) = timed(|| vault.recover(acknowledged.parse::<spanvault::Name>()?))?;
        found.push(ms(time));
        check(bytes.len() > SPAN_BYTES / 2, || "what was acknowledged is not there".to_owned())?;
        drop(vault);
    }
    let target = Target::AtMost(200.0);
    report.judged(format!("{count} spans, to read"), median(&reading), "ms", target);
    report.judged(format!("{count} spans, to read, after a kill"), median(&reading_killed), "ms", target);
    report.judged(format!("{count} spans, to write"), median(&closed), "ms", target);
    report.judged(format!("{count} spans, to write, after a kill"), median(&killed), "ms", target);
    report.figure(format!("{count} spans, first recover after a kill"), median(&found), "ms");
    report.figure(format!("{count} spans, clean close"), median(&closing), "ms");
    Ok(())
}

fn fill(dir: &Path, count: usize, span_bytes: usize) -> Outcome<Duration> {
    let mut noise = Noise::new(9);
    let vault = Vault::open(dir)?;
    let ((), time) = timed(|| {
        for first in (0..count).step_by(BATCH) {
            let session = vault.session(&format!("bench {}", first / SESSION_SPANS))?;
            let drafts: Vec<SpanDraft> =
                (first..count.min(first + BATCH)).map(|_n| spans::draft(&mut noise, span_bytes)).collect();
            session.record_all(drafts)?;
        }
        Outcome::Ok(())
    })?;
    vault.close()?;
    Ok(time)
}

/// Records a batch, says the last hash of it, and goes on until somebody ends this process.
fn record_until_killed(dir: &Path) -> Outcome {
    use std::io::Write;
    let vault = Vault::open(dir)?;
    let session = vault.session("killed")?;
    let mut noise = Noise::new(vault.revision().get());
    let mut record = || -> Outcome<_> {
        let drafts = (0..BATCH).map(|_n| spans::draft(&mut noise, SPAN_BYTES)).collect();
        Ok(session.record_all(drafts)?.pop().ok_or("nothing was recorded")?)
    };
    let receipt = record()?;
    writeln!(std::io::stdout(), "{}", receipt.hash)?;
    loop {
        record()?;
    }
}
