use spanvault_types::SetSum;

use super::*;

fn story() -> Library {
    let mut library = Library::new();
    library.user("one").says("two").progress("three").calls("1", "f", json!({})).returns("1", "four");
    library
}

#[test]
fn coverage_counts_the_original_of_each_span_and_the_bytes_of_those_that_were_searched() {
    let mut library = story();
    let repeated = library.transcripts[0].spans[0].clone();
    library.transcripts[0].spans.push(AskSpan { index: 5, ..repeated });
    let answer = library.ask(json!({"calls":{},"get":"count"}));
    let bytes: u64 =
        library.transcripts[0].spans.iter().filter(|s| s.kind != SpanKind::Meta).map(|s| s.bytes).sum();
    let coverage = &answer.coverage;
    assert_eq!((coverage.sessions, coverage.originals, coverage.searched, coverage.bytes), (1, 6, 5, bytes));
    assert!(coverage.complete);
}

#[test]
fn the_root_is_that_of_the_sum_of_the_searched_hashes_and_changes_with_them() {
    let mut library = story();
    let roots = |library: &Library| {
        let answer = library.ask(json!({"calls":{}}));
        let spans = &library.transcripts[0].spans;
        let hashes = spans
            .iter()
            .rev()
            .filter(|span| span.kind != SpanKind::Meta && library.kept[&span.span].unseen.is_none())
            .map(|span| span.hash);
        let root = ContentHash::from_bytes(SetSum::of(hashes).root());
        assert_eq!(answer.coverage.root, root.to_string());
        answer.coverage.root
    };
    let before = roots(&library);
    assert_eq!(roots(&library), before);
    library.user("five");
    let grown = roots(&library);
    assert_ne!(grown, before);
    library.reclaimed();
    assert_eq!(roots(&library), before);
    assert_ne!(library.ask(json!({"in":{"role":"user"},"calls":{}})).coverage.root, before);
}

#[test]
fn coverage_says_where_was_asked_to_look() {
    let answer = story().ask(json!({"in":{"source":"run.jsonl","before_index":3},"calls":{}}));
    let said = serde_json::to_value(&answer.coverage).unwrap();
    assert_eq!(said["in"], json!({"source":"run.jsonl","before_index":3}));
    assert_eq!(said["originals"], 3);
}

#[test]
fn long_lists_are_cut_and_say_by_how_much() {
    let mut library = Library::new();
    for n in 0..1100 {
        library.calls(&format!("{n}"), "f", json!({}));
    }
    for n in 0..1100 {
        library.calls(&format!("x{n}"), "g", json!({})).reclaimed();
    }
    let count = library.ask(json!({"calls":{"tool":"f"},"get":"count"}));
    insufficient(&count, 1100, &[MissingReason::Reclaimed; 1000]);
    assert_eq!(
        (count.evidence.len(), count.evidence_left_off, count.coverage.missing_left_off),
        (1000, 100, 100)
    );
    let exists = library.ask(json!({"calls":{"tool":"f"}}));
    assert_eq!((exists.evidence.len(), exists.evidence_left_off), (20, 1080));
}

#[test]
fn many_queries_over_one_source_read_it_once_and_answer_as_each_would_alone() {
    let mut library = story();
    library.source("/other.json", "/0").in_session("run-2").user("six").calls("1", "g", json!({"n":1}));
    library.source("/other.json", "/1").user("seven").calls("1", "g", json!({"n":2}));
    let queries: Vec<Query> = [
        json!({"in":{"source":"run.jsonl"},"calls":{"tool":"f"}}),
        json!({"in":{"source":"other.json","record":"/0"},"calls":{},"get":"arg:n"}),
        json!({"in":{"source":"other.json","record":"/1"},"calls":{},"get":"arg:n"}),
        json!({"in":{"source":"other.json"},"text":{"contains":"s"},"get":"count"}),
        json!({"in":{"source":"nowhere"},"calls":{}}),
        json!({"in":{"session":"run-2"},"calls":{},"get":"count"}),
        json!({"in":{"source":"run.jsonl"},"text":{"contains":"t"},"get":"count"}),
    ]
    .into_iter()
    .map(|query| Query::from_json(&query.to_string()).unwrap())
    .collect();
    library.reads.store(0, Ordering::Relaxed);
    let together = evaluate_all(&queries, &library).unwrap();
    let reads = library.reads.load(Ordering::Relaxed);
    assert_eq!(reads, 4 + 4 + 4, "each source once, and the session once");
    for (query, answer) in queries.iter().zip(together) {
        let alone = evaluate(query, &library);
        assert_eq!(answer.map_err(|e| e.to_string()), alone.map_err(|e| e.to_string()));
    }
}

#[test]
fn words_are_searched_in_stretches_and_places_stay_in_order_across_them() {
    let mut library = Library::new();
    for n in 0..40 {
        library.says(&format!("word {n} {}", "x".repeat(300_000)));
    }
    let nth = |nth: i64| library.ask(json!({"text":{"regex":"word (\\d+)"},"nth":nth,"get":"value"}));
    present(&nth(1), "0");
    present(&nth(33), "32");
    present(&nth(-1), "39");
    let side = |word: &str| json!({"text":{"contains":word},"nth":1});
    present(&library.ask(json!({"order":[side("word 5 "), side("word 30 ")]})), true);
}

#[test]
fn a_failure_of_the_originals_is_an_error_and_not_an_answer() {
    struct Broken;
    impl Originals for Broken {
        type Error = &'static str;
        fn session(&self, _name: &str) -> Result<Arc<str>, Self::Error> {
            Err("no names")
        }
        fn transcripts(&self, _within: &Within) -> Result<Transcripts<'_, Self::Error>, Self::Error> {
            Ok(Box::new(std::iter::once(Err("no list"))))
        }
        fn read(&self, _span: &AskSpan) -> Result<Sight, Self::Error> {
            Err("no read")
        }
        fn bytes(&self, _span: &AskSpan) -> Result<Option<Vec<u8>>, Self::Error> {
            Err("no bytes")
        }
    }
    let failed = |query: Query| evaluate(&query, &Broken).expect_err("no answer").to_string();
    assert_eq!(failed(Query::any_call()), "no list");
    assert_eq!(failed(Query::any_call().session("s")), "no names");
    assert_eq!(evaluate_all(&[Query::any_call()], &Broken).expect_err("no answers"), "no list");
}
