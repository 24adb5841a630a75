//! Compactions that a transcript's own runtime had made: a fact that is imported, with what it lost.

use std::path::PathBuf;

use spanvault::types::SpanKind;
use spanvault::{
    BuiltIn, CompactionOptions, ContextItem, IngestOptions, IngestReport, Keep, ScopeName, SpanFilter,
    SpanInfo, Vault,
};

/// A transcript that is written line by line and ingested into a vault beside it.
struct Desk {
    _root: tempfile::TempDir,
    path: PathBuf,
    vault: Vault,
}

impl Desk {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let vault = Vault::open(root.path().join("vault")).unwrap();
        Self { path: root.path().join("session.jsonl"), vault, _root: root }
    }

    fn ingest(&self, lines: &[String]) -> IngestReport {
        std::fs::write(&self.path, lines.join("\n") + "\n").unwrap();
        self.vault.ingest(&self.path, &IngestOptions::default(), &mut |_done, _of| {}).unwrap()
    }

    fn spans(&self) -> Vec<SpanInfo> {
        let mut spans = Vec::new();
        self.vault
            .spans(&SpanFilter::default(), &mut |span| {
                spans.push(span);
                Ok(())
            })
            .unwrap();
        spans
    }
}

fn said(n: usize, text: &str) -> String {
    format!(
        r#"{{"type":"user","uuid":"u{n}","sessionId":"s","message":{{"role":"user","content":"{text}"}}}}"#
    )
}

fn progress(n: usize) -> String {
    format!(r#"{{"type":"progress","uuid":"p{n}","sessionId":"s","data":{{"type":"hook_progress"}}}}"#)
}

fn compacted(n: usize, text: &str) -> [String; 2] {
    [
        format!(r#"{{"type":"system","subtype":"compact_boundary","uuid":"b{n}","sessionId":"s"}}"#),
        format!(
            r#"{{"type":"user","uuid":"c{n}","sessionId":"s","isCompactSummary":true,"message":{{"role":"user","content":"{text}"}}}}"#
        ),
    ]
}

/// Two compactions: the second replaces the text of the first, and what came after it.
fn story() -> Vec<String> {
    let mut lines = vec![
        said(1, "Please deploy build 4711 to https://alpha.example/api"),
        progress(1),
        said(2, "and write /etc/app/conf.yaml"),
    ];
    lines.extend(compacted(1, "The user asked to deploy build 4711."));
    lines.push(said(3, "Now remove /srv/old/cache"));
    lines.extend(compacted(2, "Deployed a build; the cache is to go."));
    lines.push(said(4, "go on"));
    lines
}

#[test]
fn an_old_compaction_says_what_it_replaced_and_what_it_lost() {
    let desk = Desk::new();
    let report = desk.ingest(&story());
    let [first, second] = report.imported.as_slice() else { panic!("{:?}", report.imported) };
    assert_eq!((first.covers, first.generation), (2, 1), "progress lines are no conversation");
    assert_eq!((second.covers, second.generation), (2, 2), "the first summary and the span after it");

    let expansion = desk.vault.expand(first.summary).unwrap();
    assert!(expansion.imported);
    assert_eq!(expansion.mode, None, "no permit of this vault");
    assert_eq!(expansion.summarizer, "claude_code");
    assert_eq!(expansion.text, "The user asked to deploy build 4711.");
    let dropped: Vec<&str> = expansion.omitted.iter().map(|omission| omission.text.as_str()).collect();
    assert!(dropped.contains(&"/etc/app/conf.yaml"), "{dropped:?}");
    assert!(dropped.contains(&"https://alpha.example/api"), "{dropped:?}");
    assert!(!dropped.contains(&"4711"), "{dropped:?}");
    for cited in &expansion.originals {
        let bytes = desk.vault.recover(cited.span.unwrap()).unwrap();
        assert_eq!(cited.bytes, bytes.len() as u64, "each citation leads to its original");
    }

    let deeper = desk.vault.expand(second.summary).unwrap();
    assert_eq!(deeper.summaries, [first.summary]);
    let dropped: Vec<&str> = deeper.omitted.iter().map(|omission| omission.text.as_str()).collect();
    assert!(dropped.contains(&"4711") && dropped.contains(&"/srv/old/cache"), "{dropped:?}");

    let spans = desk.spans();
    let texts: Vec<_> = spans.iter().filter(|span| span.imported.is_some()).collect();
    assert!(texts.iter().all(|span| span.kind == SpanKind::CompactSummary));
    assert_eq!(texts.len(), 2);
    let why = desk.vault.why(spans[0].span).unwrap();
    assert_eq!(why.cited_by, [first.summary]);
    assert!(why.leases.is_empty(), "nothing was promised for it");
}

#[test]
fn an_imported_summary_stands_for_nothing_in_the_context_of_the_vault() {
    let desk = Desk::new();
    desk.ingest(&story());
    let session = desk.vault.find("s").unwrap();
    let context = session.context().unwrap();
    assert_eq!(context.len(), 6, "every span of the conversation stands");
    let marked = |item: &ContextItem| matches!(item, ContextItem::Span { imported: Some(_), .. });
    assert_eq!(context.iter().filter(|item| marked(item)).count(), 2);
    assert!(desk.spans().iter().all(|span| span.summary.is_none()));
    // The gate decides about the spans as about any others.
    let plan = session.plan_compaction(Keep::last(1)).unwrap();
    assert_eq!(plan.candidates(), 5);
    let options = CompactionOptions { keep: Keep::last(1), ..CompactionOptions::default() };
    session.compact_with(&options, &mut BuiltIn).unwrap();
    let [first, ..] = desk.vault.why(desk.spans()[0].span).unwrap().cited_by[..] else { panic!() };
    assert!(desk.vault.expand(first).unwrap().imported);
}

#[test]
fn a_compaction_is_imported_once_also_when_the_file_grows_or_the_run_was_cut_short() {
    let desk = Desk::new();
    let lines = story();
    // The first part ends right before the second compaction.
    let first = desk.ingest(&lines[..6]);
    assert_eq!(first.imported.len(), 1);
    let grown = desk.ingest(&lines);
    let [second] = grown.imported.as_slice() else { panic!("{:?}", grown.imported) };
    assert_eq!((second.covers, second.generation), (2, 2));
    let revision = desk.vault.revision();
    assert_eq!(desk.ingest(&lines).imported, []);
    assert_eq!(desk.vault.revision(), revision, "nothing was written");
}

#[test]
fn a_compaction_whose_originals_are_in_another_file_replaced_nothing_here() {
    let desk = Desk::new();
    let mut lines = compacted(1, "The user asked to deploy build 4711.").to_vec();
    lines.push(said(1, "go on"));
    assert_eq!(desk.ingest(&lines).imported, []);
    assert_eq!(desk.spans().iter().filter(|span| span.kind == SpanKind::CompactSummary).count(), 1);
}

#[test]
fn a_demand_for_an_imported_summary_keeps_its_originals() {
    let desk = Desk::new();
    let report = desk.ingest(&story());
    let summary = report.imported[0].summary;
    let actor = spanvault::types::Actor { name: "test".into(), reason: String::new() };
    desk.vault.hold(&ScopeName::Named(summary.into()), actor).unwrap();
    let spans = desk.spans();
    assert_eq!(desk.vault.why(spans[0].span).unwrap().holds.len(), 1);
    assert_eq!(desk.vault.why(spans.last().unwrap().span).unwrap().holds.len(), 0);
}
