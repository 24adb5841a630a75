//! The transcripts in `docs/examples/`: they are what the guides say, and what is left when they are cut off.

#![expect(clippy::disallowed_methods, reason = "a test reads its samples")]

use std::ops::ControlFlow;
use std::path::Path;

use spanvault_import::{
    CHAT_JSON, ImportError, Importer, Limits, Piece, Record, Unparsed, by_name, detect, formats, importers,
    parse,
};
use spanvault_types::{Call, Outcome, PartBody, SpanKind};

const EXAMPLES: [(&str, &str); 3] = [
    ("agent-session.jsonl", "claude_code"),
    ("mini-swe.traj.json", "mini_swe"),
    ("tau-bench-runs.json", "tau_bench"),
];

fn example(name: &str) -> Result<Vec<u8>, std::io::Error> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples").join(name))
}

fn cut(importer: &dyn Importer, bytes: &[u8]) -> Result<Vec<Piece>, ImportError> {
    let mut pieces = Vec::new();
    importer.cut(&mut &*bytes, &Limits::default(), &mut |piece| {
        pieces.push(piece);
        ControlFlow::Continue(())
    })?;
    Ok(pieces)
}

fn spans(pieces: &[Piece]) -> Vec<&Record> {
    pieces
        .iter()
        .filter_map(|piece| if let Piece::Span(record) = piece { Some(record) } else { None })
        .collect()
}

fn joined(pieces: &[Piece]) -> Vec<u8> {
    pieces.iter().map(Piece::bytes).collect::<Vec<_>>().concat()
}

fn calls<'a>(spans: &[&'a Record]) -> Vec<(u64, &'a Call)> {
    let parts =
        spans.iter().flat_map(|record| record.content.parts.iter().map(|part| (record.index, &part.body)));
    parts
        .filter_map(|(index, body)| if let PartBody::Call(call) = body { Some((index, call)) } else { None })
        .collect()
}

fn results<'a>(spans: &[&'a Record]) -> Vec<(u64, &'a Outcome)> {
    let parts =
        spans.iter().flat_map(|record| record.content.parts.iter().map(|part| (record.index, &part.body)));
    parts
        .filter_map(|(index, body)| if let PartBody::Result(it) = body { Some((index, it)) } else { None })
        .collect()
}

#[test]
fn every_example_is_known_read_whole_and_comes_back() {
    for (name, format) in EXAMPLES {
        let bytes = example(name).unwrap();
        let importer = detect(&bytes).unwrap();
        assert_eq!(importer.format(), format, "{name}");
        let pieces = cut(importer, &bytes).unwrap();
        assert!(joined(&pieces) == bytes, "{name}");
        for record in spans(&pieces) {
            assert_eq!(record.quarantine, None, "{name} {}", record.index);
            assert_eq!(parse(format, &record.bytes).as_ref(), Ok(&record.content), "{name} {}", record.index);
        }
    }
}

#[test]
fn the_agent_session_tells_the_story_of_a_system_file() {
    let pieces = cut(by_name("claude_code").unwrap(), &example("agent-session.jsonl").unwrap()).unwrap();
    let spans = spans(&pieces);
    let talk: Vec<_> = spans.iter().filter(|record| record.content.kind.is_conversation()).collect();
    let kept_from = talk[talk.len() - 20].index;
    assert!(talk.len() >= 50, "more than the last 20 can be compacted");
    let calls = calls(&spans);
    let under_etc: Vec<_> =
        calls.iter().filter(|(_, call)| call.args.to_string().contains("/etc/")).collect();
    let [(index, write)] = under_etc.as_slice() else { panic!("{under_etc:?}") };
    assert_eq!((write.tool.as_str(), &write.args["file_path"]), ("Write", &"/etc/app/conf.yaml".into()));
    assert!(*index < kept_from, "long before the end");
    let results = results(&spans);
    assert_eq!(calls.len(), results.len());
    assert!(
        calls.iter().all(|(_, call)| results.iter().any(|(_, it)| it.call_id == call.id)),
        "all calls are answered"
    );
    let says =
        |text: &str| results.iter().filter(|(at, it)| *at < kept_from && it.text.contains(text)).count();
    assert_eq!(says("No matches found"), 1);
    assert_eq!(says("1 failed, 11 passed in 3.42s"), 1);
    assert_eq!(says("12 passed"), 1);
    assert_eq!(says("TIDE-2207"), 1);
    assert_eq!(results.iter().filter(|(_, it)| it.is_error == Some(true)).count(), 1);
    assert!(spans.iter().any(|record| record.content.kind == SpanKind::Meta));
}

#[test]
fn i76_an_example_that_ends_early_loses_no_record_before_its_end() {
    for (name, format) in EXAMPLES {
        let bytes = example(name).unwrap();
        let importer = by_name(format).unwrap();
        let whole = cut(importer, &bytes).unwrap();
        let whole = spans(&whole);
        for end in (1..bytes.len()).step_by(bytes.len() / 120 + 1) {
            let pieces = cut(importer, &bytes[..end]).unwrap();
            assert!(joined(&pieces) == bytes[..end], "{name} cut off at {end}");
            let spans = spans(&pieces);
            let Some((last, before)) = spans.split_last() else { continue };
            for (left, record) in before.iter().zip(&whole) {
                assert_eq!(
                    (&left.bytes, left.index, &left.content),
                    (&record.bytes, record.index, &record.content)
                );
            }
            let torn = last.quarantine.as_ref().map(|quarantine| &quarantine.reason);
            assert!(matches!(torn, None | Some(Unparsed::Truncated)), "{torn:?}");
        }
    }
}

#[test]
fn i75_no_importer_panics_on_the_files_of_another() {
    for (name, _format) in EXAMPLES {
        let bytes = example(name).unwrap();
        for importer in importers() {
            assert!(joined(&cut(*importer, &bytes).unwrap()) == bytes, "{name} as {}", importer.format());
        }
    }
}

#[test]
fn an_unknown_format_and_an_empty_file_are_errors_of_their_own() {
    for empty in [&b""[..], b" \r\n\t"] {
        assert!(matches!(detect(empty), Err(ImportError::EmptySource)));
    }
    for binary in [&b"\x89PNG\r\n\x1a\n\0\0"[..], b"\xff\xfe{\0"] {
        assert!(matches!(detect(binary), Err(ImportError::UnknownFormat)));
    }
    assert!(matches!(by_name("diary"), Err(ImportError::UnknownFormatName { name }) if name == "diary"));
    assert!(matches!(parse("diary", b"{}"), Err(Unparsed::UnknownFormat { .. })));
}

#[test]
fn names_of_formats_are_unique() {
    let mut names = formats();
    assert!(names.contains(&CHAT_JSON));
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), importers().len());
}
