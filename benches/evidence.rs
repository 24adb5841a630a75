//! Reading evidence: atoms, classes, fates, promises and negatives of whole sessions, on one core, from memory.
//!
//! The sessions are the real ones below `SPANVAULT_TRANSCRIPTS` that are no archives, and a generated one otherwise. They are
//! cut and parsed before; what that takes stands beside it.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::PathBuf;

use spanvault_benches::place::{self, Place};
use spanvault_benches::raw::RawFile;
use spanvault_benches::report::{Report, Target};
use spanvault_benches::settings::Settings;
use spanvault_benches::stats::{mb_per_s, median};
use spanvault_benches::watch::timed;
use spanvault_benches::{Outcome, check, transcript};
use spanvault_evidence::{Registry, SpanText, atoms, read_session};
use spanvault_import::{Limits, Piece, Record, detect, is_generic};

/// Bytes of the generated transcript.
const GENERATED_BYTES: u64 = 20_000_000;
/// How much of a file is read at once.
const PIECE: usize = 1 << 20;

fn main() -> Outcome {
    let settings = Settings::from_command_line();
    let place = Place::below(env!("CARGO_TARGET_TMPDIR"))?;
    let rounds = settings.count("rounds", 5)?;
    let mut report = Report::new("evidence");
    report.about("rounds", rounds);
    let paths = if let Some(dir) = std::env::var_os("SPANVAULT_TRANSCRIPTS") {
        place::files_below(&PathBuf::from(dir))?
    } else {
        let path = place.join("generated.jsonl");
        transcript::write(&path, 8, GENERATED_BYTES)?;
        vec![path]
    };
    let mut files = Vec::new();
    for path in paths {
        let mut file = Vec::new();
        RawFile::open(&path)?.each_piece(PIECE, |piece| {
            file.extend_from_slice(piece);
            Ok(())
        })?;
        if detect(&file).is_ok_and(|importer| !is_generic(importer.format())) {
            files.push(file);
        }
    }
    let (mut parsing, mut reading) = (Vec::new(), Vec::new());
    let mut found = None;
    for _round in 0..rounds {
        let (sessions, time) = timed(|| sessions_of(&files))?;
        let spans = sessions.iter().map(Vec::len).sum::<usize>();
        let bytes: u64 = sessions.iter().flatten().map(|record| record.bytes.len() as u64).sum();
        parsing.push(mb_per_s(bytes, time));
        let (atoms, time) =
            timed(|| Outcome::Ok(sessions.iter().map(|session| read(session)).sum::<usize>()))?;
        reading.push(mb_per_s(bytes, time));
        let now = (sessions.len(), spans, bytes, atoms);
        let before = *found.get_or_insert(now);
        check(before == now && atoms > spans, || format!("{before:?} was found first, and then {now:?}"))?;
    }
    if let Some((sessions, spans, bytes, atoms)) = found {
        report.about("files", files.len());
        report.about("sessions", sessions);
        report.about("spans", spans);
        report.about("bytes", bytes);
        report.about("atoms", atoms);
    }
    report.figure("cutting and parsing", median(&parsing), "MB/s");
    report.judged("reading evidence", median(&reading), "MB/s", Target::AtLeast(60.0));
    report.finish(&settings)
}

/// The records of every file by session, in the order of the file.
fn sessions_of(files: &[Vec<u8>]) -> Outcome<Vec<Vec<Record>>> {
    let mut found = Vec::new();
    for file in files {
        let mut sessions: BTreeMap<String, Vec<Record>> = BTreeMap::new();
        detect(file)?.cut(&mut file.as_slice(), &Limits::default(), &mut |piece| {
            if let Piece::Span(record) = piece {
                sessions.entry(record.session.clone()).or_default().push(record);
            }
            ControlFlow::Continue(())
        })?;
        found.extend(sessions.into_values());
    }
    Ok(found)
}

/// Reads a session; gives how many atoms its spans have.
fn read(session: &[Record]) -> usize {
    let spans: Vec<SpanText<'_>> =
        session.iter().map(|record| SpanText { content: &record.content, original: &record.bytes }).collect();
    black_box(read_session(&spans, Registry::built_in()));
    spans.iter().map(|span| black_box(atoms(span.content, span.original)).len()).sum()
}
