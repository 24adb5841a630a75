//! Files into a vault, again and again, and out of it byte for byte.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use spanvault::{
    ErrorKind, FileToIngest, IngestNews, IngestOptions, IngestReport, Options, SpanFilter, SpanInfo, Vault,
};

/// A vault on the real disk and a folder for transcripts beside it.
struct Desk {
    _root: tempfile::TempDir,
    files: PathBuf,
    vault: Vault,
}

impl Desk {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a directory");
        let files = root.path().join("files");
        std::fs::create_dir_all(&files).expect("a folder");
        let vault = Vault::open_with(root.path().join("vault"), Options::default()).expect("a vault");
        Self { _root: root, files, vault }
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.files.join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(&path, text).expect("written");
        path
    }

    fn ingest(&self, path: &Path) -> spanvault::Result<IngestReport> {
        self.vault.ingest(path, &IngestOptions::default(), &mut |_done, _of| {})
    }

    fn restored(&self, path: &Path) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.vault
            .restore(&path.to_string_lossy(), &mut |piece| {
                bytes.extend_from_slice(piece);
                Ok(())
            })
            .expect("restored");
        bytes
    }

    fn spans(&self) -> Vec<SpanInfo> {
        let mut spans = Vec::new();
        self.vault
            .spans(&SpanFilter::default(), &mut |span| {
                spans.push(span);
                Ok(())
            })
            .expect("listed");
        spans
    }
}

fn line(n: u32, text: &str) -> String {
    format!(
        r#"{{"type":"user","uuid":"u{n}","sessionId":"one","timestamp":"2026-01-01T00:00:0{}Z","message":{{"role":"user","content":"{text}"}}}}"#,
        n % 10
    )
}

#[test]
fn i77_ingesting_again_is_a_no_op_and_a_grown_file_adds_its_tail() {
    let desk = Desk::new();
    let (first, second) =
        (line(1, "one") + "\n" + &line(2, "two"), "\n".to_owned() + &line(3, "three") + "\n");
    let path = desk.write("a.jsonl", &first);
    assert_eq!(desk.ingest(&path).unwrap().spans_new, 2);
    let revision = desk.vault.revision();
    let again = desk.ingest(&path).unwrap();
    assert_eq!((again.spans_new, again.spans_known, again.bytes_new), (0, 2, 0));
    assert_eq!(desk.vault.revision(), revision, "nothing was written");
    desk.write("a.jsonl", &(first.clone() + &second));
    let grown = desk.ingest(&path).unwrap();
    assert_eq!((grown.spans_new, grown.spans_known), (1, 2));
    assert_eq!(desk.restored(&path), (first + &second).into_bytes());
}

#[test]
fn a_line_that_was_cut_off_is_kept_and_gives_way_to_the_whole_line() {
    let desk = Desk::new();
    let (whole, next) = (line(1, "one"), line(2, "two"));
    let path = desk.write("a.jsonl", &format!("{whole}\n{}", &next[..40]));
    let torn = desk.ingest(&path).unwrap();
    assert_eq!((torn.spans_new, torn.quarantined.len()), (2, 1));
    assert_eq!(torn.quarantined[0].offset, whole.len() as u64 + 1);
    let text = format!("{whole}\n{next}\n");
    desk.write("a.jsonl", &text);
    let healed = desk.ingest(&path).unwrap();
    assert_eq!((healed.spans_new, healed.quarantined.len()), (1, 0));
    assert_eq!(desk.spans().len(), 2, "the fragment is contained in the whole line");
    assert_eq!(desk.restored(&path), text.into_bytes());
}

#[test]
fn i80_one_identity_with_other_bytes_is_a_conflict_and_both_are_kept() {
    let desk = Desk::new();
    let path = desk.write("a.jsonl", &(line(1, "the sum is 4") + "\n"));
    desk.ingest(&path).unwrap();
    let other = desk.write("b.jsonl", &(line(1, "the sum is 5") + "\n"));
    let report = desk.ingest(&other).unwrap();
    assert_eq!((report.spans_new, report.conflicts.len()), (1, 1));
    assert_eq!(desk.spans().len(), 2);
}

#[test]
fn a_rewritten_file_is_a_new_state_that_shares_its_originals() {
    let desk = Desk::new();
    let before: Vec<String> = (1..=4).map(|n| line(n, "same")).collect();
    let path = desk.write("a.jsonl", &(before.join("\n") + "\n"));
    desk.ingest(&path).unwrap();
    let after = [line(9, "put in front"), before[0].clone(), before[2].clone()].join("\n") + "\n";
    desk.write("a.jsonl", &after);
    let report = desk.ingest(&path).unwrap();
    assert_eq!((report.spans_new, report.spans_known), (1, 2));
    assert_eq!(desk.restored(&path), after.into_bytes());
    assert_eq!(desk.spans().len(), 5, "what the file no longer has is still evidence");
}

#[test]
fn a_line_that_stands_twice_in_a_file_is_two_spans_with_one_original() {
    let desk = Desk::new();
    let twice = line(1, "again");
    let path = desk.write("a.jsonl", &format!("{twice}\n{twice}\n"));
    let report = desk.ingest(&path).unwrap();
    assert_eq!(report.spans_new, 2);
    let spans = desk.spans();
    assert_eq!(spans[0].hash, spans[1].hash);
    assert_eq!((spans[0].index, spans[1].index), (0, 1));
}

#[test]
fn two_files_of_one_name_do_not_share_a_session() {
    let desk = Desk::new();
    let chat = |word: &str| {
        format!(r#"[{{"role":"user","content":"{word}"}},{{"role":"assistant","content":"yes"}}]"#)
    };
    let one = desk.write("one/run.json", &chat("first"));
    let two = desk.write("two/run.json", &chat("second"));
    let (first, second) = (desk.ingest(&one).unwrap(), desk.ingest(&two).unwrap());
    assert_eq!(first.sessions, ["run"]);
    assert_ne!(first.sessions, second.sessions);
    assert_eq!(desk.ingest(&one).unwrap().spans_new, 0);
    assert_eq!(desk.ingest(&two).unwrap().spans_new, 0);
    assert_eq!(desk.vault.sessions().unwrap().len(), 2);
}

#[test]
fn files_that_hold_an_event_each_are_one_session_if_they_stand_in_one_conversation() {
    let desk = Desk::new();
    let event = |id: u64| {
        format!(r#"{{"id":{id},"source":"user","action":"message","args":{{"content":"word {id}"}}}}"#)
    };
    let sessions = |conversation: &str, id: u64| {
        let path = desk.write(&format!("{conversation}/events/{id}.json"), &event(id));
        desk.ingest(&path).unwrap().sessions
    };
    let first = sessions("one/ab", 0);
    assert_eq!(first.len(), 1);
    assert!(first[0].starts_with("ab-"), "{first:?}");
    assert_eq!(sessions("one/ab", 1), first);
    assert_ne!(sessions("two/ab", 0), first, "another conversation in a folder of the same name");
}

#[test]
fn a_file_that_cannot_be_read_as_a_transcript_is_a_clear_error_and_nothing_is_recorded() {
    let desk = Desk::new();
    let empty = desk.write("empty.jsonl", "");
    let unknown = desk.write("notes.bin", "\0\0\0\x01\0\0\0\x02");
    for path in [&empty, &unknown] {
        let error = desk.ingest(path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error:?}");
        assert!(error.hint().is_some());
    }
    let missing = desk.ingest(&desk.files.join("nowhere.jsonl")).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    assert!(desk.vault.sessions().unwrap().is_empty());
}

/// Ten sessions of a few lines, in files of their own.
fn many(desk: &Desk) -> Vec<PathBuf> {
    (0..30_u32)
        .map(|n| {
            let session = format!("{:02}", n % 10);
            let lines: Vec<String> = (0..5 + n % 3)
                .map(|at| line(100 * n + at, "word").replace("\"one\"", &format!("\"s{session}\"")))
                .collect();
            desk.write(&format!("many/{n:02}.jsonl"), &lines.join("\n"))
        })
        .collect()
}

fn to_ingest(paths: &[PathBuf]) -> Vec<FileToIngest> {
    paths.iter().map(|path| FileToIngest { path: path.clone(), is_named: true }).collect()
}

/// What the vault holds, in order.
fn holdings(desk: &Desk) -> Vec<(String, String, u64, String)> {
    let mut spans = desk.spans();
    spans.sort_by_key(|span| span.span);
    spans
        .into_iter()
        .map(|span| {
            let name = PathBuf::from(span.source).file_name().expect("a name").to_string_lossy().into_owned();
            (span.session, name, span.index, span.hash.expect("a hash").to_string())
        })
        .collect()
}

#[test]
fn files_that_are_read_at_once_are_recorded_in_order() {
    let one_by_one = Desk::new();
    for path in many(&one_by_one) {
        one_by_one.ingest(&path).unwrap();
    }
    let at_once = Desk::new();
    let files = to_ingest(&many(&at_once));
    let mut told = Vec::new();
    at_once
        .vault
        .ingest_all(&files, &IngestOptions::default(), &mut |news| {
            match news {
                IngestNews::Recorded { file, report } => told.push((file, report.spans_new)),
                IngestNews::Read { .. } => {}
                other @ (IngestNews::Skipped { .. } | IngestNews::Failed { .. }) => panic!("{other:?}"),
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(told.iter().map(|(file, _new)| *file).collect::<Vec<_>>(), (0..30).collect::<Vec<_>>());
    assert_eq!(holdings(&at_once), holdings(&one_by_one));
}

#[test]
fn a_bad_file_among_many_is_told_in_its_place_and_a_stop_keeps_what_was_told() {
    let desk = Desk::new();
    let mut paths = many(&desk);
    paths.insert(3, desk.files.join("nowhere.jsonl"));
    let mut files = to_ingest(&paths);
    files.insert(5, FileToIngest { path: desk.write("many/readme.md", "# words\n"), is_named: false });
    let mut told = Vec::new();
    let mut recorded = 0;
    desk.vault
        .ingest_all(&files, &IngestOptions::default(), &mut |news| {
            match news {
                IngestNews::Recorded { file, report } => {
                    told.push(format!("{file}"));
                    recorded += report.spans_new;
                }
                IngestNews::Failed { file, error } => {
                    assert_eq!(error.kind(), ErrorKind::NotFound);
                    told.push(format!("{file} failed"));
                }
                IngestNews::Skipped { file } => told.push(format!("{file} skipped")),
                IngestNews::Read { .. } => {}
            }
            if told.len() == 7 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
    assert_eq!(told, ["0", "1", "2", "3 failed", "4", "5 skipped", "6"]);
    assert!(desk.spans().len() as u64 >= recorded, "what was told is there");
    // The rest comes when it is asked for again, and nothing comes twice.
    desk.vault
        .ingest_all(&to_ingest(&many(&desk)), &IngestOptions::default(), &mut |_news| {
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(desk.spans().len(), (0..30).map(|n| 5 + n % 3).sum::<usize>());
}

#[test]
fn i77_two_snapshots_of_a_session_come_to_the_same_in_either_order() {
    let early: Vec<String> = (1..6).map(|n| line(n, "word")).collect();
    // The later one went back to the third line and on from there.
    let mut late = early[..3].to_vec();
    late.extend((7..12).map(|n| line(n, "other")));
    let (early, late) = (early.join("\n") + "\n", late.join("\n") + "\n");
    let found = |first: (&str, &str), second: (&str, &str)| {
        let desk = Desk::new();
        for (name, text) in [first, second] {
            let path = desk.write(name, text);
            desk.ingest(&path).unwrap();
            assert_eq!(desk.restored(&path), text.as_bytes());
        }
        for (name, text) in [first, second] {
            let again = desk.ingest(&desk.files.join(name)).unwrap();
            assert_eq!((again.spans_new, again.bytes_new), (0, 0), "again is a no-op");
            assert_eq!(desk.restored(&desk.files.join(name)), text.as_bytes());
        }
        let mut spans: Vec<_> =
            desk.spans().into_iter().map(|span| (span.session, span.index, span.hash)).collect();
        spans.sort();
        spans
    };
    let (early, late) = (("early.jsonl", early.as_str()), ("late.jsonl", late.as_str()));
    assert_eq!(found(early, late), found(late, early));
}

#[test]
fn i77_a_file_that_was_written_anew_is_a_new_state_that_shares_its_originals() {
    let desk = Desk::new();
    let lines: Vec<String> = (1..9).map(|n| line(n, "word")).collect();
    let path = desk.write("a.jsonl", &(lines.join("\n") + "\n"));
    desk.ingest(&path).unwrap();
    // A line was taken out, one was masked, and two came in.
    let mut rewritten = lines.clone();
    rewritten.remove(1);
    rewritten[3] = line(5, "MASKED");
    rewritten.insert(2, line(20, "new"));
    rewritten.push(line(21, "new"));
    let text = rewritten.join("\n") + "\n";
    desk.write("a.jsonl", &text);
    let report = desk.ingest(&path).unwrap();
    assert_eq!(
        (report.spans_new, report.conflicts.len()),
        (3, 1),
        "the masked line is a conflict, both are kept"
    );
    assert_eq!(desk.restored(&path), text.as_bytes());
    assert_eq!(desk.ingest(&path).unwrap().spans_new, 0);
    // And back again: the older state is known, line by line.
    let old = lines.join("\n") + "\n";
    desk.write("a.jsonl", &old);
    let report = desk.ingest(&path).unwrap();
    assert_eq!((report.spans_new, report.bytes_new), (0, 0));
    assert_eq!(desk.restored(&path), old.as_bytes());
}

#[test]
fn a_question_may_name_a_source_by_a_path_with_dots_also_when_the_file_is_gone() {
    use spanvault::ask::{Query, Verdict, Words};
    let desk = Desk::new();
    let file = desk.write("runs/a.jsonl", &format!("{}\n", line(1, "the invoice is paid")));
    desk.ingest(&file).expect("ingested");
    let dotted = desk.files.join("other/../runs/./a.jsonl");
    std::fs::create_dir_all(desk.files.join("other")).expect("a folder");
    let query = Query::text(Words::Contains("invoice".to_owned())).source(dotted.to_string_lossy());
    assert_eq!(desk.vault.ask(&query).expect("an answer").answer, Verdict::Present);
    std::fs::remove_file(&file).expect("removed");
    assert_eq!(desk.vault.ask(&query).expect("an answer").answer, Verdict::Present);
    let missing = Query::text(Words::Contains("invoice".to_owned())).source("../runs/b.jsonl");
    assert_eq!(desk.vault.ask(&missing).expect_err("no such source").kind(), ErrorKind::NotFound);
}

#[test]
fn a_message_that_its_program_writes_again_as_more_comes_of_it_is_said_once() {
    let desk = Desk::new();
    let head = r#"{"sessionId":"s-1","projectHash":"p","kind":"main"}"#;
    let message = |calls: &str| {
        format!(
            r#"{{"id":"m1","timestamp":"2026-02-03T09:00:01Z","type":"gemini","content":"I delete it."{calls}}}"#
        )
    };
    let begun = message(r#","toolCalls":[{"id":"c1","name":"rm","args":{"path":"a"},"status":"executing"}]"#);
    let done = message(
        r#","toolCalls":[{"id":"c1","name":"rm","args":{"path":"a"},"status":"success","result":[{"functionResponse":{"id":"c1","name":"rm","response":{"output":"gone"}}}]}]"#,
    );
    let told = |desk: &Desk| -> Vec<u64> {
        let answer = desk.vault.ask(&spanvault::ask::Query::calls("rm")).expect("asked");
        let mut indices: Vec<u64> = answer.evidence.iter().map(|it| it.index).collect();
        indices.dedup();
        indices
    };
    // It grows while it is followed, and is read as a whole.
    let path = desk.write("a.jsonl", &format!("{head}\n{}\n{begun}\n", message("")));
    desk.ingest(&path).unwrap();
    assert_eq!(told(&desk), [2]);
    let whole = format!("{head}\n{}\n{begun}\n{done}\n", message(""));
    desk.write("a.jsonl", &whole);
    let report = desk.ingest(&path).unwrap();
    assert_eq!((report.spans_new, report.conflicts.len()), (1, 0));
    assert_eq!(told(&desk), [3], "one call, with what came of it");
    assert_eq!(desk.restored(&path), whole.as_bytes());
    assert_eq!(desk.ingest(&path).unwrap().spans_new, 0);
    let at_once = Desk::new();
    at_once.ingest(&at_once.write("a.jsonl", &whole)).unwrap();
    assert_eq!(told(&at_once), [3]);
}

#[test]
fn files_of_one_name_that_come_together_are_sessions_of_their_own() {
    let desk = Desk::new();
    let chat = |word: &str| format!(r#"[{{"role":"user","content":"{word}"}}]"#);
    let paths =
        ["one", "two", "three"].map(|folder| desk.write(&format!("{folder}/run.json"), &chat("same")));
    desk.vault
        .ingest_all(&to_ingest(&paths), &IngestOptions::default(), &mut |_news| ControlFlow::Continue(()))
        .unwrap();
    let sessions: std::collections::BTreeSet<String> =
        desk.spans().into_iter().map(|span| span.session).collect();
    assert_eq!(sessions.len(), 3);
    assert!(sessions.contains("run"));
}

#[test]
fn i77_a_result_has_the_class_of_its_call_also_where_the_file_grew_between_them() {
    let spoken = |n: u32, kind: &str, block: &str| {
        format!(
            r#"{{"type":"{kind}","uuid":"u{n}","sessionId":"one","message":{{"role":"{kind}","content":[{block}]}}}}"#
        ) + "\n"
    };
    let call =
        spoken(1, "assistant", r#"{"type":"tool_use","id":"c1","name":"Read","input":{"file_path":"a.rs"}}"#);
    let result = spoken(2, "user", r#"{"type":"tool_result","tool_use_id":"c1","content":"fn main() {}"}"#);
    let classes = |states: &[String]| -> Vec<_> {
        let desk = Desk::new();
        for text in states {
            desk.ingest(&desk.write("a.jsonl", text)).unwrap();
        }
        desk.spans().into_iter().map(|span| span.class).collect()
    };
    let whole = call.clone() + &result;
    assert_eq!(classes(&[call, whole.clone()]), classes(&[whole]));
}
