//! What is sifted and what is read as a whole give the same answers.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};
use spanvault_evidence::Registry;
use spanvault_types::PartBody;
use tempfile::TempDir;

use crate::ask::{AskSpan, Originals, Query, Sight, Transcripts, Within, evaluate, evaluate_all};
use crate::asking::VaultOriginals;
use crate::error::{Error, Result};
use crate::{Cooling, IngestOptions, Run, SpanDraft, Vault};

/// The originals of a vault, of which every one is read and parsed.
struct Unsifted<'v>(VaultOriginals<'v>);

impl Originals for Unsifted<'_> {
    type Error = Error;

    fn registry(&self) -> Arc<Registry> {
        self.0.registry()
    }

    fn session(&self, name: &str) -> Result<Arc<str>> {
        self.0.session(name)
    }

    fn source_path(&self, path: &str) -> Result<String> {
        self.0.source_path(path)
    }

    fn transcripts(&self, within: &Within) -> Result<Transcripts<'_, Error>> {
        self.0.transcripts(within)
    }

    fn read(&self, span: &AskSpan) -> Result<Sight> {
        self.0.read(span)
    }

    fn bytes(&self, span: &AskSpan) -> Result<Option<Vec<u8>>> {
        self.0.bytes(span)
    }
}

/// A vault of every format, half of it cold, and the texts that its originals say.
struct Library {
    dir: TempDir,
    texts: Vec<String>,
}

static LIBRARY: LazyLock<Library> = LazyLock::new(|| {
    let dir = tempfile::tempdir().expect("a directory");
    let vault = Vault::open(dir.path().join("vault")).expect("it opens");
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spanvault-import/tests/seeds");
    let mut files: Vec<_> =
        std::fs::read_dir(seeds).expect("seeds").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    let half = files.len() / 2;
    for (n, file) in files.into_iter().enumerate() {
        if n == half {
            // What is there by now is in the cold tier alone.
            let demoted =
                vault.demote(Cooling::After(0), Run::Real, &mut |_progress| {}).expect("it is demoted");
            assert!(demoted.demoted > 100 && demoted.bytes_freed > 0, "{demoted:?}");
        }
        let options = IngestOptions::default();
        vault.ingest(&file, &options, &mut |_read, _len| {}).expect("it is ingested");
    }
    for n in 0..3 {
        let session = vault.session(&format!("recorded-{n}")).expect("a session");
        let inner = json!({"note": "line one\nneedle\ttwo \"quoted\" \u{e9}\u{212a}", "deep": json!({"x": "a\\b\nneedle"}).to_string()});
        for draft in [
            SpanDraft::user(format!("Find `needle-{n}` in C:\\needle\\temp, said “loudly”.\nThen stop.")),
            SpanDraft::tool_call("search_files", inner),
            SpanDraft::tool_result("", "needle-77 thing was found at 1.5e3 \u{1b}[0m"),
            // The same bytes in each session.
            SpanDraft::assistant("All of it is done."),
        ] {
            session.record(draft).expect("it is recorded");
        }
    }
    vault.close().expect("it closes");
    let vault = Vault::open_read_only(dir.path().join("vault")).expect("it opens");
    let texts = texts(&vault);
    Library { dir, texts }
});

impl Library {
    fn vault(&self) -> Vault {
        Vault::open_read_only(self.dir.path().join("vault")).expect("it opens")
    }
}

fn texts(vault: &Vault) -> Vec<String> {
    let originals = VaultOriginals::new(vault);
    let mut texts = Vec::new();
    for transcript in originals.transcripts(&Within::default()).expect("transcripts") {
        for span in transcript.expect("a transcript").spans {
            let Sight::Seen(content) = originals.read(&span).expect("a sight") else { continue };
            for part in content.parts {
                texts.push(match part.body {
                    PartBody::Text(text) | PartBody::Thinking(text) | PartBody::Summary(text) => text,
                    PartBody::Result(outcome) => outcome.text,
                    PartBody::Call(call) => format!("{} {}", call.tool, call.args),
                });
            }
        }
    }
    texts.retain(|text| !text.is_empty());
    assert!(texts.len() > 100, "{} texts", texts.len());
    texts
}

/// A stretch of what some original says, or nearly.
fn words() -> impl Strategy<Value = String> {
    let drawn = (any::<Index>(), any::<Index>(), 1_usize..24).prop_map(|(text, from, len)| {
        let text = text.get(&LIBRARY.texts);
        let characters: Vec<char> = text.chars().collect();
        let from = from.index(characters.len());
        characters.iter().skip(from).take(len).collect::<String>()
    });
    prop_oneof![
        6 => drawn.clone(),
        1 => drawn.clone().prop_map(|words| format!("{words}zq")),
        1 => drawn.prop_map(|words| words.replace('\n', "\\n").replace('"', "\\\"")),
        1 => prop::sample::select(vec![
            "needle", "needle\ntwo", "nneedle", "\\n", "u00e9", "é", "[image]", "image", "redacted_thinking",
            "compaction", "bash", "mcp__", "1500", "1.5e3", "absent from all", "true", "KISS", "quot",
        ]).prop_map(str::to_owned),
    ]
}

fn query() -> impl Strategy<Value = Value> {
    let kinds = prop_oneof![
        6 => Just(None),
        1 => prop::sample::select(vec![json!(["call"]), json!(["text", "result"]), json!(["original"]), json!(["path"])])
            .prop_map(Some),
    ];
    let get = prop::sample::select(vec!["count", "spans", "exists"]);
    (words(), words(), 0..7, kinds, get).prop_map(|(words, more, form, kinds, get)| {
        let escaped = regex::escape(&words);
        let mut text = match form {
            0 | 1 => json!({"contains": words}),
            2 => json!({"icontains": words}),
            3 => json!({"regex": format!("(?i){escaped}[a-z]?")}),
            4 => json!({"regex": format!("{escaped}|{}", regex::escape(&more))}),
            5 => json!({"regex": format!(r"\b\w*{escaped}")}),
            _ => json!({"after": words, "quote": "`"}),
        };
        if let Some(kinds) = kinds.filter(|kinds| form != 6 || *kinds != json!(["path"])) {
            text["kinds"] = kinds;
        }
        json!({"text": text, "get": get})
    })
}

fn told(answer: Result<crate::ask::Answer, impl std::fmt::Debug>) -> Value {
    match answer {
        Ok(answer) => serde_json::to_value(answer).expect("it is JSON"),
        Err(error) => format!("{error:?}").into(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn what_is_sifted_is_answered_as_if_all_of_it_were_read(queries in prop::collection::vec(query(), 1..4)) {
        let vault = LIBRARY.vault();
        let queries: Vec<Query> =
            queries.iter().map(|query| Query::from_json(&query.to_string()).expect("a query")).collect();
        let (sifted, unsifted) = (VaultOriginals::new(&vault), Unsifted(VaultOriginals::new(&vault)));
        let mut each = Vec::new();
        for query in &queries {
            let expected = told(evaluate(query, &unsifted));
            prop_assert_eq!(told(evaluate(query, &sifted)), expected.clone(), "{:?}", query);
            each.push(expected);
        }
        let together: Vec<Value> =
            evaluate_all(&queries, &sifted).expect("answers").into_iter().map(told).collect();
        prop_assert_eq!(together, each);
    }
}

#[test]
fn words_that_nothing_says_are_sifted_out_of_all_formats_that_keep_words() {
    let vault = LIBRARY.vault();
    let originals = VaultOriginals::new(&vault);
    let text =
        crate::ask::Text { words: crate::ask::Words::Contains("zebra9crossing".to_owned()), kinds: None };
    let sieve = crate::ask::Sieve::of_text(&text).expect("a sieve");
    let sifted = originals.sifted(&sieve).expect("it is sifted").expect("the runs tell all");
    let handed_over: u64 =
        sifted.transcripts.map(|transcript| transcript.expect("a transcript").spans.len() as u64).sum();
    assert!(handed_over * 3 < sifted.ruled_out.spans, "{handed_over} beside {}", sifted.ruled_out.spans);
}
