//! The whole way of a transcript into a vault: cut, parse, read the evidence, store, index.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use spanvault::{FileToIngest, IngestNews, IngestOptions, Vault};
use spanvault_benches::place::{self, Place};
use spanvault_benches::processor::worked;
use spanvault_benches::raw::RawFile;
use spanvault_benches::report::{Report, Target};
use spanvault_benches::settings::Settings;
use spanvault_benches::stats::{mb_per_s, mebibytes, median, ratio};
use spanvault_benches::watch::timed;
use spanvault_benches::{Outcome, check, memory, transcript};

/// How much of a file is read and copied at once by the bare limit.
const PIECE: usize = 1 << 20;

fn main() -> Outcome {
    let settings = Settings::from_command_line();
    let place = Place::below(env!("CARGO_TARGET_TMPDIR"))?;
    let megabytes = settings.count("megabytes", 100)?;
    let rounds = settings.count("rounds", 3)?;
    let mut report = Report::new("pipeline");
    report.about("megabytes", megabytes);
    report.about("rounds", rounds);
    let file = place.join("generated.jsonl");
    let (bytes, lines) = transcript::write(&file, 8, megabytes as u64 * 1_000_000)?;
    report.about("lines", lines);
    let (mut rates, mut worked, mut bare, mut peaks) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        bare.push(mb_per_s(bytes, copy(&place, &file)?));
        let vault = place.join(&format!("pipeline {round}.vault"));
        let (Ingest { spans, time, processor }, peak) =
            memory::peak_over_idle(|| ingest(&vault, std::slice::from_ref(&file)))?;
        check(spans == lines, || format!("{spans} spans were recorded of {lines} lines"))?;
        check_restored(&vault, &file)?;
        place::clear(&vault)?;
        rates.push(mb_per_s(bytes, time));
        worked.push(mb_per_s(bytes, processor));
        peaks.push(peak);
    }
    report.judged("generated session, by processor time", median(&worked), "MB/s", Target::AtLeast(40.0));
    report.figure("generated session", median(&rates), "MB/s");
    report.figure("read, BLAKE3, write, fdatasync", median(&bare), "MB/s");
    report.figure("generated session, times the bare copy", ratio(&rates, &bare), "x");
    let peak = peaks.first().copied().unwrap_or_default();
    report.judged("peak memory over idle", mebibytes(peak), "MiB", Target::AtMost(128.0));
    if let Some(dir) = std::env::var_os("SPANVAULT_TRANSCRIPTS") {
        real(&place, &PathBuf::from(dir), rounds, &mut report)?;
    }
    report.finish(&settings)
}

/// The transcripts below a directory, as far as their format is known.
fn real(place: &Place, dir: &Path, rounds: usize, report: &mut Report) -> Outcome {
    let probe = Vault::open(place.join("probe.vault"))?;
    let mut files = place::files_below(dir)?;
    files.retain(|file| matches!(probe.format_of(file), Ok(Some(_))));
    drop(probe);
    let bytes: u64 = files.iter().filter_map(|file| file.metadata().ok()).map(|found| found.len()).sum();
    report.about("real files", files.len());
    report.about("real bytes", bytes);
    let (mut rates, mut worked) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let vault = place.join(&format!("real {round}.vault"));
        let Ingest { time, processor, .. } = ingest(&vault, &files)?;
        rates.push(mb_per_s(bytes, time));
        worked.push(mb_per_s(bytes, processor));
        place::clear(&vault)?;
    }
    report.judged("real transcripts, by processor time", median(&worked), "MB/s", Target::AtLeast(40.0));
    report.figure("real transcripts", median(&rates), "MB/s");
    Ok(())
}

/// What an ingest recorded, and what all of it took: on the clock, and of all processors together.
struct Ingest {
    spans: u64,
    time: Duration,
    processor: Duration,
}

/// Ingests files into a new vault and closes it.
fn ingest(dir: &Path, files: &[PathBuf]) -> Outcome<Ingest> {
    let ((spans, time), processor) = worked(|| timed(|| record(dir, files)))?;
    Ok(Ingest { spans, time, processor })
}

/// Ingests files into a new vault and closes it; gives the spans.
fn record(dir: &Path, files: &[PathBuf]) -> Outcome<u64> {
    let vault = Vault::open(dir)?;
    let files: Vec<FileToIngest> =
        files.iter().map(|path| FileToIngest { path: path.clone(), is_named: true }).collect();
    let (mut spans, mut failed) = (0, None);
    vault.ingest_all(&files, &IngestOptions::default(), &mut |news| {
        match news {
            IngestNews::Recorded { report, .. } => spans += report.spans_new,
            IngestNews::Failed { error, .. } => failed = Some(error),
            IngestNews::Read { .. } | IngestNews::Skipped { .. } => {}
        }
        ControlFlow::Continue(())
    })?;
    failed.map_or(Ok(()), Err)?;
    vault.close()?;
    Ok(spans)
}

/// The file comes out of the vault byte for byte.
fn check_restored(dir: &Path, file: &Path) -> Outcome {
    let vault = Vault::open_read_only(dir)?;
    let mut restored = blake3::Hasher::new();
    vault.restore(&file.canonicalize()?.to_string_lossy(), &mut |piece| {
        restored.update(piece);
        Ok(())
    })?;
    let source = RawFile::open(file)?;
    let mut hashed = blake3::Hasher::new();
    source.each_piece(PIECE, |piece| {
        hashed.update(piece);
        Ok(())
    })?;
    check(restored.finalize() == hashed.finalize(), || "the file comes out otherwise".to_owned())
}

/// The bare limit: the bytes read, hashed, written once and made durable.
fn copy(place: &Place, file: &Path) -> Outcome<Duration> {
    let path = place.join("copy");
    let ((), time) = timed(|| {
        let mut copy = RawFile::create(&path)?;
        let mut hasher = blake3::Hasher::new();
        RawFile::open(file)?.each_piece(PIECE, |piece| {
            hasher.update(piece);
            copy.append(piece)
        })?;
        std::hint::black_box(hasher.finalize());
        copy.sync()
    })?;
    place::clear(&path)?;
    Ok(time)
}
