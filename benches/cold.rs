//! The cold tier: how much smaller originals are in packs, with all that packs have around them, and how soon one is back.
//!
//! They are packed both ways: each by itself, and together in blocks.
//!
//! The originals are those of real transcripts where `SPANVAULT_TRANSCRIPTS` says where they are: Claude Code alone, and all
//! formats. Beside them stand generated lines, which hold so much that is made by chance that nothing could pack them well.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use spanvault::types::ContentHash;
use spanvault::{
    Cooling, FileToIngest, IngestNews, IngestOptions, Options, Packing, Run, SpanDraft, SpanFilter, SpanId,
    Vault, Whereabouts,
};
use spanvault_benches::noise::Noise;
use spanvault_benches::peer::Peer;
use spanvault_benches::place::{self, Place};
use spanvault_benches::processor::spent;
use spanvault_benches::report::{Report, Target};
use spanvault_benches::settings::Settings;
use spanvault_benches::stats::{mebibytes, median, us_each};
use spanvault_benches::{Outcome, check, spans};

/// The length of a generated original in bytes.
const SPAN_BYTES: usize = 4_096;
/// How many originals are put at once.
const BATCH: usize = 1_000;
/// What the generated originals are called.
const GENERATED: &str = "generated lines";

fn main() -> Outcome {
    let settings = Settings::from_command_line();
    let place = Place::below(env!("CARGO_TARGET_TMPDIR"))?;
    let (rounds, gets) = (settings.count("rounds", 5)?, settings.count("gets", 5_000)?);
    let mut report = Report::new("cold");
    report.about("rounds", rounds);
    report.about("gets a round", gets);
    for packing in [Packing::Single, Packing::Solid] {
        let of = Originals { what: GENERATED, packing };
        let vault = generate(&of.vault(&place), packing, settings.count("spans", 10_000)?)?;
        let cold = Cold::make(&place, &of, vault)?;
        cold.say(rounds, gets, &mut report)?;
        report.figure(format!("{of}, times smaller"), cold.smaller(), "x");
    }
    if let Some(transcripts) = std::env::var_os("SPANVAULT_TRANSCRIPTS") {
        let files = place::files_below(&PathBuf::from(transcripts))?;
        for (what, format) in [("Claude Code", Some("claude_code")), ("all formats", None)] {
            for packing in [Packing::Single, Packing::Solid] {
                let of = Originals { what, packing };
                let vault = ingest(&of.vault(&place), packing, &files, format)?;
                let cold = Cold::make(&place, &of, vault)?;
                cold.say(rounds, gets, &mut report)?;
                let smaller = Target::AtLeast(of.smaller_min());
                report.judged(format!("{of}, times smaller"), cold.smaller(), "x", smaller);
                let over = cold.sqlite_bytes / cold.pack_bytes;
                report.judged(format!("{of}, times smaller than SQLite"), over, "x", Target::AtLeast(5.0));
            }
        }
    }
    report.finish(&settings)
}

/// Which originals, and how they are packed.
#[derive(Debug, Clone, Copy)]
struct Originals {
    what: &'static str,
    packing: Packing,
}

impl std::fmt::Display for Originals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let how = if self.packing == Packing::Solid { ", in blocks" } else { "" };
        write!(f, "{}{how}", self.what)
    }
}

impl Originals {
    fn vault(&self, place: &Place) -> PathBuf {
        place.join(&format!("{self}.vault"))
    }

    fn smaller_min(&self) -> f64 {
        if self.packing == Packing::Solid { 5.5 } else { 4.0 }
    }

    fn back_us_max(&self) -> f64 {
        if self.packing == Packing::Solid { 150.0 } else { 10.0 }
    }
}

/// A vault whose originals are all in the cold tier.
struct Cold {
    of: Originals,
    vault: Vault,
    spans: Vec<(SpanId, ContentHash)>,
    /// Distinct originals and their sizes, each of these in mebibytes.
    originals: usize,
    original_bytes: f64,
    pack_bytes: f64,
    vault_bytes: f64,
    sqlite_bytes: f64,
}

impl Cold {
    /// Puts all originals into `SQLite` as well, and demotes them.
    fn make(place: &Place, name: &Originals, vault: Vault) -> Outcome<Self> {
        let (mut spans, mut seen, mut original_bytes) = (Vec::new(), BTreeSet::new(), 0);
        vault.spans(&SpanFilter::default(), &mut |span| {
            if let Some(hash) = span.hash {
                spans.push((span.span, hash));
                original_bytes += if seen.insert(*hash.as_bytes()) { span.bytes } else { 0 };
            }
            Ok(())
        })?;
        let beside = place.join(&format!("{name}.sqlite"));
        std::fs::create_dir(&beside)?;
        let mut peer = Peer::create(&beside.join("db"))?;
        for spans in spans.chunks(BATCH) {
            let bodies = spans.iter().map(|(span, _hash)| Ok(vault.recover(*span)?));
            peer.put(&bodies.collect::<Outcome<Vec<_>>>()?)?;
        }
        check(peer.count()? == seen.len(), || format!("SQLite has not all of {name}"))?;
        drop(peer);
        let demoted = vault.demote(Cooling::After(0), Run::Real, &mut |_progress| {})?;
        check(demoted.bytes_before == original_bytes, || format!("not all of {name} was demoted"))?;
        let mut hot = 0;
        vault.spans(&SpanFilter::default(), &mut |span| {
            hot += usize::from(!matches!(span.tier, Whereabouts::Cold { .. }));
            Ok(())
        })?;
        check(hot == 0, || format!("{hot} spans of {name} are not in the cold tier"))?;
        let dir = name.vault(place);
        Ok(Self {
            of: *name,
            vault,
            spans,
            originals: seen.len(),
            original_bytes: mebibytes(original_bytes),
            pack_bytes: mebibytes(len(&dir.join("cold"))?),
            vault_bytes: mebibytes(len(&dir)?),
            sqlite_bytes: mebibytes(len(&beside)?),
        })
    }

    fn smaller(&self) -> f64 {
        self.original_bytes / self.pack_bytes
    }

    /// Gets originals back at random, and says everything that has no target of its own.
    fn say(&self, rounds: usize, gets: usize, report: &mut Report) -> Outcome {
        let name = self.of;
        let mut noise = Noise::new(6);
        let (mut times, mut bytes) = (Vec::new(), 0);
        for round in 0..=rounds {
            let wanted: Vec<_> =
                (0..gets).filter_map(|_n| self.spans.get(noise.below(self.spans.len()))).collect();
            let mut back = Vec::new();
            let ((), took) = spent(|| {
                for (span, _hash) in &wanted {
                    back.push(self.vault.recover(*span)?);
                }
                Ok(())
            })?;
            for (body, (span, hash)) in back.iter().zip(&wanted) {
                check(ContentHash::of(body) == *hash, || format!("{span} differs"))?;
            }
            // The first round warms everything up.
            if round > 0 {
                times.push(us_each(took.processor, gets));
                bytes = back.iter().map(Vec::len).sum::<usize>() / gets;
            }
        }
        report.about(&format!("{name}, originals"), self.originals);
        report.about(&format!("{name}, bytes of one that comes back"), bytes);
        report.figure(format!("{name}, originals"), self.original_bytes, "MiB");
        report.figure(format!("{name}, in packs"), self.pack_bytes, "MiB");
        report.figure(format!("{name}, the whole vault"), self.vault_bytes, "MiB");
        report.figure(format!("{name}, in SQLite"), self.sqlite_bytes, "MiB");
        report.judged(
            format!("{name}, back, by span, processor"),
            median(&times),
            "us",
            Target::AtMost(name.back_us_max()),
        );
        Ok(())
    }
}

fn packed(packing: Packing) -> Options {
    let mut options = Options::default();
    options.packing = packing;
    options
}

/// A new vault with generated originals.
fn generate(dir: &Path, packing: Packing, count: usize) -> Outcome<Vault> {
    let vault = Vault::open_with(dir, packed(packing))?;
    let session = vault.session("bench")?;
    for originals in spans::originals(4, count, SPAN_BYTES).chunks(BATCH) {
        session.record_all(originals.iter().cloned().map(SpanDraft::message_json).collect())?;
    }
    Ok(vault)
}

/// A new vault with the originals of those files whose format is known, or is this one.
fn ingest(dir: &Path, packing: Packing, files: &[PathBuf], format: Option<&str>) -> Outcome<Vault> {
    let vault = Vault::open_with(dir, packed(packing))?;
    let is_wanted = |path: &&PathBuf| match vault.format_of(path) {
        Ok(Some(found)) => format.is_none_or(|format| format == found),
        _ => false,
    };
    let files: Vec<FileToIngest> = files
        .iter()
        .filter(is_wanted)
        .map(|path| FileToIngest { path: path.clone(), is_named: true })
        .collect();
    let mut failed = None;
    vault.ingest_all(&files, &IngestOptions::default(), &mut |news| {
        if let IngestNews::Failed { error, .. } = news {
            failed = Some(error);
        }
        ControlFlow::Continue(())
    })?;
    failed.map_or(Ok(()), Err)?;
    Ok(vault)
}

/// The bytes of all files below a directory.
fn len(dir: &Path) -> Outcome<u64> {
    place::files_below(dir)?.iter().map(|path| Ok(path.metadata()?.len())).sum()
}
