//! Asking a large vault: look-ups of calls, ids and paths, and words searched for in every original.
//!
//! The vault is grown from real Claude Code transcripts where `SPANVAULT_TRANSCRIPTS` says where they are, and from a
//! generated one otherwise: copy after copy, each with sessions of its own, and in the middle one session that differs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use spanvault::ask::{Answer, Query, Verdict};
use spanvault::{IngestOptions, SpanDraft, Vault};
use spanvault_benches::place::{self, Place};
use spanvault_benches::processor;
use spanvault_benches::raw::RawFile;
use spanvault_benches::report::{Report, Target};
use spanvault_benches::settings::Settings;
use spanvault_benches::stats::{mb_per_s, median, ms};
use spanvault_benches::watch::timed;
use spanvault_benches::{Outcome, check, transcript};

/// Bytes of the generated transcript.
const GENERATED_BYTES: u64 = 4_000_000;

fn main() -> Outcome {
    let settings = Settings::from_command_line();
    let place = Place::below(env!("CARGO_TARGET_TMPDIR"))?;
    let spans = settings.count("spans", 20_000)?;
    let rounds = settings.count("rounds", 5)?;
    let mut report = Report::new("ask");
    let dir = place.join("grown.vault");
    let grown = grow(&place, &dir, spans as u64)?;
    report.about("spans", grown.spans);
    report.about("bytes", grown.bytes);
    report.about("sessions", grown.sessions);
    report.about("rounds", rounds);
    report.figure("growing it, closing included", mb_per_s(grown.bytes, grown.time), "MB/s");
    let postings = place::files_below(&dir.join("postings"))?;
    let postings: u64 =
        postings.iter().filter_map(|file| file.metadata().ok()).map(|found| found.len()).sum();
    report.about("bytes of postings", postings);
    let open = Vault::open_read_only(&dir)?;
    for (name, query, expected) in looked_up() {
        let (answer, time) = ask(&query, rounds, || Ok(Vault::open_read_only(&dir)?))?;
        let (again, warm) = ask(&query, rounds, || Ok(&open))?;
        check(answer.coverage == again.coverage, || format!("{name}: another coverage"))?;
        check(answer.answer == expected.0 && answer.value == expected.1, || {
            format!("{name}: {:?} {}", answer.answer, answer.value)
        })?;
        check(answer.coverage.originals + 20 > grown.spans || query.contains("\"in\""), || {
            format!("{name}: only {} originals are covered", answer.coverage.originals)
        })?;
        report.judged(name, ms(time), "ms", Target::AtMost(50.0));
        report.figure(format!("{name}, in a vault that is open"), ms(warm), "ms");
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cores = u32::try_from(cores).unwrap_or(1);
    report.about("cores", cores);
    for (name, query, expected) in searched() {
        let rounds = rounds.min(3);
        let ((answer, time), worked) =
            processor::worked(|| ask(&query, rounds, || Ok(Vault::open_read_only(&dir)?)))?;
        check(answer.value == expected, || format!("{name}: {:?} {}", answer.answer, answer.value))?;
        let time = time.mul_f64(f64::from(cores));
        let rate = mb_per_s(answer.coverage.bytes, time);
        report.judged(name, rate, "MB/s a core", Target::AtLeast(500.0));
        let rate = mb_per_s(answer.coverage.bytes * rounds as u64, worked);
        report.figure(format!("{name}, by the time that processors worked"), rate, "MB/s a core");
    }
    report.finish(&settings)
}

type Expected = (Verdict, Value);

/// Questions about calls, paths and ids, each with its answer.
fn looked_up() -> Vec<(&'static str, String, Expected)> {
    let q = |query: Value| query.to_string();
    vec![
        (
            "was this file ever written by the tool",
            q(json!({"calls": {"tool": "Write", "path": {"glob": "/needle/app/**"}}, "get": "count"})),
            (Verdict::Present, json!(1)),
        ),
        (
            "the result of the call with this id among its arguments",
            q(json!({"calls": {"any_arg": "INV-2026-08-44719"}, "get": "result"})),
            (Verdict::Present, json!("total 417.25 EUR")),
        ),
        (
            "was this exact call made, and what came of it",
            q(
                json!({"calls": {"tool": "get_invoice", "args_exactly": {"id": "INV-2026-08-44719"}}, "get": "result.number"}),
            ),
            (Verdict::Present, json!(417.25)),
        ),
        (
            "was a tool ever called that never was",
            q(json!({"calls": {"tool": "drop_database"}, "get": "count"})),
            (Verdict::Absent, json!(0)),
        ),
        (
            "was anything under this directory ever changed, by whatever",
            q(json!({"calls": {"effect": "mutates", "path": {"glob": "/needle/**"}}})),
            (Verdict::Present, json!(true)),
        ),
        (
            "which came first, of two calls",
            q(json!({"order": [{"calls": {"any_arg": "INV-2026-08-44719"}, "nth": 1},
                {"calls": {"tool": "Write", "path": {"glob": "/needle/app/**"}}, "nth": 1}]})),
            (Verdict::Present, json!(true)),
        ),
        (
            "calls of a tool in one session",
            q(json!({"in": {"session": "the one that differs"}, "calls": {"tool": "Write"}, "get": "count"})),
            (Verdict::Present, json!(1)),
        ),
    ]
}

/// Words searched for in everything.
fn searched() -> Vec<(&'static str, String, Value)> {
    vec![
        (
            "a regular expression over every original",
            json!({"text": {"regex": "needle-[0-9]+ ([a-z]+) (?:is|was) found"}, "get": "value"}).to_string(),
            json!("thing"),
        ),
        (
            "words over every original",
            json!({"text": {"contains": "needle-77 thing was found"}, "get": "count"}).to_string(),
            json!(1),
        ),
    ]
}

/// Asks in what `open` gives each time; gives the last answer and the median of the times, `open` included.
fn ask<V: std::borrow::Borrow<Vault>>(
    query: &str,
    rounds: usize,
    open: impl Fn() -> Outcome<V>,
) -> Outcome<(Answer, Duration)> {
    let query = Query::from_json(query)?;
    let mut times = Vec::new();
    let mut last = None;
    for _round in 0..rounds {
        let (answer, time) = timed(|| -> Outcome<Answer> { Ok(open()?.borrow().ask(&query)?) })?;
        times.push(time.as_secs_f64());
        last = Some(answer);
    }
    Ok((last.ok_or("no round")?, Duration::from_secs_f64(median(&times))))
}

struct Grown {
    spans: u64,
    bytes: u64,
    sessions: usize,
    time: Duration,
}

/// Ingests copies of transcripts until there are `wanted` spans.
fn grow(place: &Place, dir: &Path, wanted: u64) -> Outcome<Grown> {
    let vault = Vault::open(dir)?;
    let originals = transcripts(place, &vault)?;
    let copy = place.join("copy.jsonl");
    let mut grown = Grown { spans: 0, bytes: 0, sessions: 0, time: Duration::ZERO };
    let mut is_needle_there = false;
    let mut number = 0;
    while grown.spans < wanted {
        for (n, original) in originals.iter().enumerate() {
            let text = with_other_sessions(original, number);
            let copy = copy.with_extension(format!("{number}.{n}.jsonl"));
            RawFile::create(&copy)?.append(&text)?;
            let (report, time) =
                timed(|| vault.ingest(&copy, &IngestOptions::default(), &mut |_read, _length| {}))?;
            place::clear(&copy)?;
            grown.spans += report.spans_new;
            grown.bytes += report.bytes_new;
            grown.time += time;
        }
        if !is_needle_there && grown.spans >= wanted / 2 {
            grown.spans += needle(&vault)?;
            is_needle_there = true;
        }
        number += 1;
    }
    grown.sessions = vault.sessions()?.len();
    grown.time += timed(|| vault.close())?.1;
    Ok(grown)
}

/// The one session that differs from all others; gives the number of its spans.
fn needle(vault: &Vault) -> Outcome<u64> {
    let session = vault.session("the one that differs")?;
    let receipts = session.record_all(vec![
        SpanDraft::user("Please see to INV-2026-08-44719: needle-77 thing was found."),
        SpanDraft::tool_call_with_id("n1", "get_invoice", json!({"id": "INV-2026-08-44719"})),
        SpanDraft::tool_result("n1", "total 417.25 EUR"),
        SpanDraft::tool_call_with_id(
            "n2",
            "Write",
            json!({"file_path": "/needle/app/conf.yaml", "content": "a: 1"}),
        ),
        SpanDraft::tool_result("n2", "File created successfully at: /needle/app/conf.yaml"),
    ])?;
    Ok(receipts.len() as u64)
}

/// The Claude Code transcripts that the vault grows from.
fn transcripts(place: &Place, vault: &Vault) -> Outcome<Vec<Vec<u8>>> {
    let files = if let Some(dir) = std::env::var_os("SPANVAULT_TRANSCRIPTS") {
        let mut files = place::files_below(&PathBuf::from(dir))?;
        files.retain(|file| matches!(vault.format_of(file), Ok(Some("claude_code"))));
        files
    } else {
        let file = place.join("generated.jsonl");
        transcript::write(&file, 8, GENERATED_BYTES)?;
        vec![file]
    };
    let read = |file: &PathBuf| {
        let mut bytes = Vec::new();
        RawFile::open(file)?.each_piece(1 << 20, |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })?;
        Ok(bytes)
    };
    files.iter().map(read).collect()
}

/// A transcript whose sessions have other ids: every id that its lines name begins with the number of the copy.
fn with_other_sessions(original: &[u8], number: u32) -> Vec<u8> {
    const FIELD: &[u8] = b"\"sessionId\":\"";
    let mut copy = original.to_vec();
    let prefix = format!("{number:08x}");
    let mut from = 0;
    while let Some(at) = copy.get(from..).and_then(|rest| rest.windows(FIELD.len()).position(|w| w == FIELD))
    {
        let start = from + at + FIELD.len();
        let rest = copy.get(start..).unwrap_or_default();
        let len = rest.iter().position(|byte| *byte == b'"').unwrap_or(0).min(prefix.len());
        if let (Some(id), Some(digits)) =
            (copy.get_mut(start..start + len), prefix.as_bytes().get(prefix.len() - len..))
        {
            id.copy_from_slice(digits);
        }
        from = start;
    }
    copy
}
