//! Cuts a collection of real transcripts, where there is one: `SPANVAULT_TRANSCRIPTS` names its folder, which
//! holds a `manifest.jsonl` with one object `{"file", "format", …}` a line.

#![expect(clippy::disallowed_methods, reason = "a test reads its samples and says when it skips")]

mod words;

use std::io::Cursor;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde_json::Value;
use spanvault_import::{Container, ImportError, Importer, Limits, Piece, by_name, detect, parse};
use spanvault_types::{PartBody, SpanKind};

use words::check_words;

fn collection() -> Option<PathBuf> {
    let root = std::env::var_os("SPANVAULT_TRANSCRIPTS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/transcripts"),
        PathBuf::from,
    );
    root.join("manifest.jsonl").exists().then_some(root)
}

fn pieces(importer: &dyn Importer, bytes: &[u8]) -> Result<Vec<Piece>, ImportError> {
    let mut pieces = Vec::new();
    importer.cut(&mut &*bytes, &Limits::default(), &mut |piece| {
        pieces.push(piece);
        ControlFlow::Continue(())
    })?;
    Ok(pieces)
}

#[test]
fn i76_every_sample_is_known_for_what_it_is_and_its_pieces_are_the_file() {
    let Some(root) = collection() else {
        eprintln!("skipped: no transcripts; set SPANVAULT_TRANSCRIPTS to a folder that holds manifest.jsonl");
        return;
    };
    let manifest = std::fs::read_to_string(root.join("manifest.jsonl")).unwrap();
    let mut seen = 0;
    for line in manifest.lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        let name = entry["file"].as_str().unwrap();
        let format = entry["format"].as_str().unwrap();
        let bytes = std::fs::read(root.join(name)).unwrap();
        if by_name(format).is_err() {
            let read_as = detect(&bytes).map(Importer::format);
            eprintln!("{name}: {format} is not read; the file is taken for {read_as:?}");
            continue;
        }
        seen += 1;
        let mut spans = 0;
        match Container::of(&bytes) {
            None => spans += check(name, format, &bytes),
            Some(container) => {
                let unpacked = container.unpack(Cursor::new(&bytes), 1 << 30, &mut |member| {
                    let mut bytes = Vec::new();
                    member.bytes.read_to_end(&mut bytes).unwrap();
                    spans += check(&format!("{name}/{}", member.name), format, &bytes);
                    ControlFlow::Continue(())
                });
                assert!(unpacked.is_ok(), "{name}: {unpacked:?}");
            }
        }
        assert!(spans > 0, "{name} holds records");
    }
    assert!(seen > 0, "the manifest names files of the formats that are read");
}

/// Cassettes whose calls are to another API than the folder says that they come from: the file, the format of the folder,
/// and that of the calls.
const MISPLACED: [(&str, &str, &str); 2] = [
    (
        "test_openai--test_document_url_input_force_download_response_api.yaml",
        "vcr_openai_chat",
        "vcr_openai_responses",
    ),
    (
        "test_openai--test_openai_instructions_with_responses_logprobs.yaml",
        "vcr_openai_chat",
        "vcr_openai_responses",
    ),
];

/// Checks one file; how many spans it holds.
fn check(name: &str, format: &str, bytes: &[u8]) -> usize {
    let detected = detect(bytes);
    assert!(detected.is_ok(), "{name}: {:?}", detected.err());
    let Ok(importer) = detected else { return 0 };
    // A cassette is named by the API that it calls; the manifest goes by the folder that these come from.
    let misplaced =
        MISPLACED.iter().find(|(file, of_folder, _read)| name.ends_with(file) && format == *of_folder);
    let wanted = misplaced.map_or(format, |(_file, _of_folder, read)| *read);
    assert_eq!(importer.format(), wanted, "{name} is {format}");
    let pieces = pieces(importer, bytes);
    assert!(pieces.is_ok(), "{name}: {:?}", pieces.err());
    let pieces = pieces.unwrap_or_default();
    let mut spans = 0;
    for piece in &pieces {
        let Piece::Span(record) = piece else { continue };
        spans += 1;
        assert_eq!(record.quarantine, None, "{name} {} {}", record.record, record.index);
        // One in eight is enough: the property tests look at all kinds of records.
        if spans % 8 == 0 {
            let read = parse(importer.format(), &record.bytes);
            assert_eq!(read.as_ref(), Ok(&record.content), "{name} {}", record.index);
        }
        assert_ne!(record.content.kind, SpanKind::TooLarge);
        check_words(importer, record);
    }
    let back = pieces.iter().map(Piece::bytes).collect::<Vec<_>>().concat();
    assert!(back == bytes, "{name} comes back byte for byte");
    spans
}

/// Prints a line for every sample of a format that is read: its name, and how many calls, results, results that report
/// an error, and compactions it holds. A second count over the raw files can be compared with them.
#[test]
#[ignore = "prints counts to compare with others: cargo test -p spanvault-import --test transcripts -- --ignored --nocapture"]
fn every_part_of_a_sample_stands_inside_its_record() {
    let Some(root) = collection() else {
        eprintln!("skipped: no transcripts; set SPANVAULT_TRANSCRIPTS to a folder that holds manifest.jsonl");
        return;
    };
    let manifest = std::fs::read_to_string(root.join("manifest.jsonl")).unwrap();
    for line in manifest.lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        let name = entry["file"].as_str().unwrap();
        let bytes = std::fs::read(root.join(name)).unwrap();
        let Ok(importer) = detect(&bytes) else { continue };
        let (mut calls, mut results, mut errors, mut compactions) = (0, 0, 0, 0);
        for piece in pieces(importer, &bytes).unwrap() {
            let Piece::Span(record) = piece else { continue };
            let ranges: Vec<_> = record.content.parts.iter().map(|part| part.range).collect();
            for part in &record.content.parts {
                match &part.body {
                    PartBody::Call(_) => calls += 1,
                    PartBody::Result(outcome) => {
                        results += 1;
                        let failed =
                            outcome.is_error == Some(true) || outcome.exit_code.is_some_and(|code| code != 0);
                        errors += usize::from(failed);
                    }
                    PartBody::Summary(_) | PartBody::Text(_) | PartBody::Thinking(_) => {}
                }
            }
            compactions += usize::from(record.content.kind == SpanKind::CompactSummary);
            assert!(
                ranges.iter().all(|range| range.end <= record.bytes.len() as u64),
                "{name} {}",
                record.index
            );
        }
        println!("{name} {calls} {results} {errors} {compactions}");
    }
}
