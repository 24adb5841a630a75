use serde_json::json;

use spanvault_types::EvidentialClass;

use super::*;
use crate::NegativeKind;
use crate::ObligationKind::{self, Change, Look, Run, Speak};
use crate::testing::Session;

/// What a span opens: the words, the kind, and what became of it.
fn opens(session: &Session, span: usize) -> Vec<(String, ObligationKind, Option<usize>)> {
    let reading = session.read();
    let opens = reading.spans[span].opens.iter();
    opens.map(|open| (open.words.clone(), open.kind, open.discharged_by)).collect()
}

fn open_spans(session: &Session) -> Vec<usize> {
    let reading = session.read();
    let open = |span: &SpanReading| span.opens.iter().any(Obligation::is_open);
    (0..reading.spans.len()).filter(|span| open(&reading.spans[*span])).collect()
}

#[test]
fn a_promise_is_discharged_by_the_first_later_call_of_its_kind() {
    let session = Session::new().says("Let me run the tests:").reads("/a.go").runs("go test ./...", "ok");
    assert_eq!(opens(&session, 0), [("Let me run the tests:".to_owned(), Run, Some(3))]);
    assert_eq!(session.read().spans[3].discharges, [0]);
}

#[test]
fn the_range_of_a_promise_points_at_its_words() {
    let session = Session::new().says("Fine \"so far\".\nI'll fix é the rest.");
    let open = &session.read().spans[0].opens[0];
    assert_eq!(session.bytes(0, open.range), "I'll fix é the rest.");
}

#[test]
fn users_and_tools_open_nothing() {
    let session = Session::new()
        .user("Let me run it, I'll fix the rest.")
        .runs("cat notes", "I will delete everything.");
    assert!(open_spans(&session).is_empty());
}

#[test]
fn what_is_done_inside_the_same_span_is_not_owed() {
    let session = Session::new()
        .says("Let me run the tests:")
        .calls("Bash", json!({"command": "go test"}))
        .joined()
        .gets("ok");
    assert!(session.read().spans[0].opens.is_empty());
    let session =
        Session::new().says("Let me fix it:").calls("Read", json!({"file_path": "/a"})).joined().gets("x");
    assert_eq!(opens(&session, 0), [("Let me fix it:".to_owned(), Change, None)]);
}

#[test]
fn a_plan_of_several_steps_is_not_done_by_one_call_of_the_same_span() {
    let plan = "Let me do the refactoring:\n1. Add a helper\n2. Merge the loops\n";
    let edit = json!({"file_path": "/a", "old_string": "a", "new_string": "b"});
    let session = Session::new().says(plan).calls("Edit", edit).joined().gets("ok");
    assert_eq!(open_spans(&session), [0]);
    assert!(open_spans(&session.edits("/a")).is_empty());
}

#[test]
fn thought_and_then_said_with_no_call_between_is_one_promise() {
    let session = Session::new().thinks("Let me run the tests.").says("Let me run the tests:").user("stop");
    let reading = session.read();
    assert_eq!(reading.spans[0].opens[0].restated_by, Some(1));
    assert_eq!(open_spans(&session), [1]);
}

#[test]
fn a_failed_rejected_or_unanswered_attempt_discharges_nothing() {
    let promise = || Session::new().says("Let me edit the config.");
    let args = json!({"file_path": "/etc/app.conf", "old_string": "a", "new_string": "b"});
    let failed = promise().calls("Edit", args.clone()).fails("<tool_use_error>String to replace not found");
    assert_eq!(open_spans(&failed), [0]);
    assert_eq!(open_spans(&promise().calls("Edit", args.clone()).rejects()), [0]);
    assert_eq!(open_spans(&promise().calls("Edit", args)), [0, 1], "and the call waits for its result");
}

#[test]
fn a_check_that_ran_was_carried_out_though_it_reports_a_failure() {
    let session = Session::new()
        .says("Let me run the tests.")
        .run_fails("go test ./...", "Exit code 1\n--- FAIL: TestA");
    assert!(open_spans(&session).is_empty());
}

#[test]
fn done_alone_discharges_nothing_but_naming_what_was_promised_does() {
    let promise = || Session::new().says("I'll update `conf.yaml` later.").user("ok");
    assert_eq!(open_spans(&promise().says("Done.")), [0]);
    assert!(open_spans(&promise().says("I updated conf.yaml.")).is_empty());
    assert_eq!(open_spans(&promise().says("conf.yaml is not updated yet.")), [0]);
}

#[test]
fn a_message_of_the_user_cancels_nothing_and_a_call_within_six_spans_still_counts() {
    let promise = || Session::new().says("I'll fix the parser.").user("wait").says("Yes?");
    assert_eq!(open_spans(&promise()), [0]);
    assert!(open_spans(&promise().user("go on").edits("/p.rs")).is_empty());
}

#[test]
fn far_away_only_a_call_that_shares_a_name_counts_and_progress_is_no_distance() {
    let far = |path: &str| {
        let mut session = Session::new().says("I'll fix `parser.rs` tomorrow.");
        for _ in 0..4 {
            session = session.user("and now?").says("Hello.").progress();
        }
        session.edits(path)
    };
    assert_eq!(open_spans(&far("/src/other.rs")), [0]);
    assert!(open_spans(&far("/src/parser.rs")).is_empty());
    let mut near = Session::new().says("I'll fix it.").user("thanks");
    for _ in 0..20 {
        near = near.progress();
    }
    assert!(open_spans(&near.edits("/a.rs")).is_empty());
}

#[test]
fn a_spoken_promise_is_kept_by_the_next_statement() {
    let session = Session::new().thinks("Now I should explain the change to the user.");
    assert_eq!(opens(&session, 0)[0].1, Speak);
    assert_eq!(open_spans(&session), [0]);
    assert!(open_spans(&session.says("It renames the flag.")).is_empty());
}

#[test]
fn a_promise_to_ask_is_kept_by_asking() {
    let session = Session::new().thinks("I need to ask the user which port.").says("Some words.");
    assert_eq!(open_spans(&session), [0]);
    assert!(open_spans(&session.says("Which port should it be?")).is_empty());
}

#[test]
fn looking_does_not_keep_a_promise_to_change() {
    let session = Session::new().says("I'll fix the handler.").reads("/h.go").runs("ls", "h.go");
    assert_eq!(open_spans(&session), [0]);
}

#[test]
fn the_pending_items_of_a_summary_are_owed_one_by_one() {
    let text = "Summary\n1. Pending Tasks:\n   - Fix TestResume\n   - Push the branch\n";
    let session = Session::new().summary(text).edits("/resume_test.go");
    assert_eq!(
        opens(&session, 0),
        [
            ("Fix TestResume".to_owned(), Change, Some(1)),
            ("Push the branch".to_owned(), ObligationKind::Commit, None)
        ]
    );
}

#[test]
fn the_newest_task_list_owes_what_is_pending_in_it() {
    let list = |first: &str, second: &str| json!({"todos": [{"content": "Write the docs", "status": first}, {"content": "Run lint", "status": second}]});
    let session = Session::new()
        .calls("TodoWrite", list("pending", "pending"))
        .gets("ok")
        .calls("TodoWrite", list("completed", "in_progress"))
        .gets("ok");
    let reading = session.read();
    assert_eq!(reading.spans[0].opens[0].discharged_by, Some(2));
    assert_eq!(reading.spans[0].opens[1].restated_by, Some(2));
    assert_eq!(opens(&session, 2), [("Run lint".to_owned(), Run, None)]);
}

#[test]
fn a_task_that_has_a_number_ends_by_it() {
    let session = Session::new()
        .calls("TaskCreate", json!({"subject": "Book the hotel"}))
        .gets("Task #1 created successfully: Book the hotel")
        .calls("TaskUpdate", json!({"taskId": "1", "status": "completed"}))
        .gets("Updated task #1 status");
    assert_eq!(opens(&session, 0), [("Book the hotel".to_owned(), Change, Some(2))]);
}

#[test]
fn a_call_without_result_is_open_until_its_result_or_an_abort() {
    let session = Session::new().calls("Bash", json!({"command": "make"}));
    assert_eq!(opens(&session, 0), [("Bash".to_owned(), ObligationKind::Result, None)]);
    let session = session.user("hello?");
    assert_eq!(open_spans(&session), [0], "a message ends nothing");
    let session = session.user("[Request interrupted by user for tool use]");
    assert!(open_spans(&session).is_empty());
    assert_eq!(session.read().spans[2].discharges, [0]);
    let session = Session::new().calls("finish", json!({"message": "all is done"}));
    assert!(open_spans(&session).is_empty(), "nothing answers the end of a run");
}

#[test]
fn a_look_that_is_told_after_its_colon_is_not_owed() {
    let session =
        Session::new().thinks("Let me look at what it does:\n\n1. It opens the file.\n2. It reads it.");
    assert!(opens(&session, 0).is_empty());
    let session = Session::new().says("Let me look at the file:");
    assert_eq!(opens(&session, 0)[0].1, Look);
}

fn negatives(session: &Session) -> Vec<(usize, NegativeKind, Option<usize>, Option<usize>)> {
    let reading = session.read();
    let of = |(at, span): (usize, &SpanReading)| {
        span.negatives.iter().map(move |n| (at, n.kind, n.succeeded_in, n.denied_in)).collect::<Vec<_>>()
    };
    reading.spans.iter().enumerate().flat_map(of).collect()
}

#[test]
fn a_failure_and_a_search_that_found_nothing_are_negative_results() {
    use NegativeKind::{Failed, FoundNothing, NotExecuted};
    let session = Session::new()
        .calls("Grep", json!({"pattern": "foo_bar", "path": "/src"}))
        .gets("No matches found")
        .run_fails("cargo build", "Exit code 101\nerror[E0425]: cannot find value `x`")
        .calls("Write", json!({"file_path": "/a", "content": "x"}))
        .rejects();
    assert_eq!(
        negatives(&session),
        [(1, FoundNothing, None, None), (3, Failed, None, None), (5, NotExecuted, None, None)]
    );
    let failed = &session.read().spans[3].negatives[0];
    assert_eq!(session.bytes(3, failed.range), "error[E0425]: cannot find value `x`");
}

#[test]
fn a_void_success_and_zero_issues_are_facts() {
    let session =
        Session::new().runs("mkdir -p /tmp/x", "").runs("golangci-lint run", "0 issues.").edits("/a.rs");
    assert!(negatives(&session).is_empty());
}

#[test]
fn a_later_success_at_the_same_thing_absorbs_a_failure() {
    let session = Session::new().run_fails("go test ./a -run TestX", "--- FAIL: TestX").edits("/a.go");
    assert_eq!(negatives(&session)[0].2, None);
    assert_eq!(negatives(&session.runs("go test ./... | tail -3", "ok"))[0].2, Some(4));
    let other = Session::new().run_fails("go test ./a", "--- FAIL: TestX").runs("go test ./b", "ok");
    assert_eq!(negatives(&other)[0].2, None, "another package says nothing of this one");
}

#[test]
fn a_script_is_absorbed_only_when_each_of_its_commands_succeeded() {
    let session =
        Session::new().run_fails("mise run lint && mise run test", "Exit code 1").runs("mise run lint", "ok");
    assert_eq!(negatives(&session)[0].2, None);
    assert_eq!(negatives(&session.runs("mise run test", "ok"))[0].2, Some(4));
}

#[test]
fn saying_that_it_failed_absorbs_it_only_by_name_and_in_the_same_turn() {
    let search = || Session::new().calls("Grep", json!({"pattern": "TestResume"})).gets("No matches found");
    assert_eq!(negatives(&search().says("There is no `TestResume` anywhere."))[0].3, Some(2));
    assert_eq!(negatives(&search().says("That found nothing."))[0].3, None);
    assert_eq!(negatives(&search().says("TestResume is what I look for."))[0].3, None);
    assert_eq!(negatives(&search().user("so?").says("There is no TestResume."))[0].3, None);
}

#[test]
fn the_flag_is_wider_than_negative_results() {
    let session = Session::new()
        .says("It doesn't work.")
        .says("It works.")
        .runs("golangci-lint run", "0 issues.")
        .runs("cat main.go", "if err != nil {\n\treturn nil // not found\n}\n\n\n// four\n// five");
    let reading = session.read();
    let flags: Vec<_> = reading.spans.iter().map(|span| span.negative).collect();
    assert_eq!(flags, [true, false, false, true, false, false]);
}

#[test]
fn a_promise_makes_the_gate_read_words_as_evidence() {
    let session = Session::new().says("I will come back to it and fix it.").says("Hello there.");
    let reading = session.read();
    assert_eq!(reading.spans[0].class, EvidentialClass::Narrative);
    assert_eq!(reading.spans[0].read_as, EvidentialClass::Structured);
    assert_eq!(reading.spans[1].read_as, EvidentialClass::Narrative);
}

#[test]
fn no_session_takes_more_than_one_pass() {
    // Each of these would take minutes if every promise met every call.
    let many = "I should fix parser_x. ".repeat(400);
    let mut session = Session::new();
    for _ in 0..50 {
        session = session.thinks(&many);
    }
    for _ in 0..500 {
        let search = json!({"pattern": "parser_x"});
        session = session.calls("Grep", search).gets("No matches found").says("There is no parser_x.");
    }
    let reading = session.read();
    assert_eq!(reading.spans.len(), session.len());
}

#[test]
fn no_text_makes_the_reader_panic() {
    for text in [
        "let me",
        "I'll",
        "`",
        "\"let me run",
        "```\nlet me run",
        "now :",
        "I need to \u{0}\u{301}",
        "1. Pending:",
        "Pending:\n-\n- \n",
        "# \n## Next steps\n\n",
        "让我检查一下。I'll 修复 it。",
        "…………",
    ] {
        let session =
            Session::new().says(text).thinks(text).summary(text).runs(text, text).run_fails(text, text);
        assert_eq!(session.read().spans.len(), session.len());
    }
}

/// Texts that are slow for a reader that looks back or ahead without bound.
fn hostile() -> Vec<String> {
    const BYTES: usize = 8_000;
    [
        "let me ",
        "i'll run ",
        "and fix ",
        "let me run. ",
        "`",
        "\"",
        "- \n",
        "! ! ",
        "1. pending:\n",
        "…",
        "\n",
        "[",
        "it's not ",
    ]
    .into_iter()
    .map(|piece| piece.repeat(BYTES / piece.len()))
    .collect()
}

#[test]
fn no_text_makes_the_reader_slow_or_panic() {
    for text in hostile() {
        let list = json!({"todos": [{"content": text, "status": "pending"}]});
        let session = Session::new()
            .says(&text)
            .thinks(&text)
            .summary(&text)
            .run_fails(&text, &text)
            .calls("TodoWrite", list)
            .gets(&text);
        let reading = session.read();
        assert!(reading.spans.iter().flat_map(|span| &span.opens).all(|open| open.words.len() <= 1024));
    }
}

#[test]
fn too_many_promises_are_one_for_the_rest() {
    let text = "I will run it. ".repeat(10_000);
    let session = Session::new().says(&text);
    let opens = &session.read().spans[0].opens;
    assert_eq!(opens.len(), 4096);
    assert_eq!(opens[4095].range.end, text.len() as u64 + 1, "the last one reaches to the end of the string");
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(64))]

    #[test]
    fn every_range_points_at_its_words(pieces in proptest::collection::vec(
        proptest::sample::select(vec!["Let me run it. ", "é ", "\"q\" ", "I'll fix `x`.\n", "\\ ", "😀", "\u{1}", "No such file or directory\n", "- item\n", "Pending:\n"]), 0..20,
    )) {
        let text = pieces.concat();
        let session = Session::new().says(&text).summary(&text).run_fails("make", &text);
        for (at, span) in session.read().spans.iter().enumerate() {
            let opens = span.opens.iter().map(|open| (open.range, &open.words));
            for (range, words) in opens.chain(span.negatives.iter().map(|negative| (negative.range, &negative.words))) {
                let raw = session.bytes(at, range);
                let raw = if raw.starts_with('"') && raw.ends_with('"') { raw.to_owned() } else { format!("\"{raw}\"") };
                if range.end - range.start != session.texts()[at].original.len() as u64 {
                    let decoded: String = serde_json::from_str(&raw).unwrap();
                    proptest::prop_assert_eq!(decoded.trim(), words.trim());
                }
            }
        }
    }
}

#[test]
fn a_change_that_is_put_off_waits_for_one_that_speaks_of_its_object() {
    let session = Session::new()
        .says("Done. I still have to rotate the signing key.")
        .user("First the readme, please.")
        .calls("Write", json!({"file_path": "/srv/README.md", "content": "hello"}))
        .gets("written")
        .runs("vault write -f transit/signing/rotate", "Success!");
    let read = session.read();
    assert_eq!(read.spans[0].opens.len(), 1);
    let by = read.spans[0].opens[0].discharged_by.expect("it is done");
    assert!(by >= 4, "the readme is not the key: {by}");
    let without = Session::new()
        .says("Done. I still have to rotate the signing key.")
        .user("First the readme, please.")
        .calls("Write", json!({"file_path": "/srv/README.md", "content": "hello"}))
        .gets("written");
    assert!(without.read().spans[0].opens[0].is_open());
}

#[test]
fn an_agent_without_tools_has_looked_when_it_speaks_again_and_has_changed_nothing() {
    let session = Session::new()
        .says("I will check the invoice. I will refund the order.")
        .user("Thanks.")
        .says("Your invoice says 12.50.");
    let open: Vec<bool> = session.read().spans[0].opens.iter().map(Obligation::is_open).collect();
    assert_eq!(open, [false, true]);
    let later =
        Session::new().says("I will check the invoice later.").user("Thanks.").says("You are welcome.");
    assert!(later.read().spans[0].opens[0].is_open(), "other words are not what it wanted to look at later");
}

#[test]
fn an_agent_whose_call_is_gone_has_tools_all_the_same() {
    let session = Session::new()
        .says("I will check the invoice.")
        .user("Thanks.")
        .says("Your invoice says 12.50.")
        .gone(spanvault_types::SpanKind::ToolCall);
    assert!(session.read().spans[0].opens[0].is_open());
}

/// A step of a session, by number.
fn step(session: Session, kind: usize) -> Session {
    let list = |status: &str| json!({"todos": [{"content": "Run the linter", "status": status}]});
    match kind {
        0 => session.says("I'll fix the parser. I'll push it."),
        1 => session.thinks("Let me look at run-7.log."),
        2 => session.says("There is no TestResume. The parser is fixed."),
        3 => session.user("and?"),
        4 => session.user("[Request interrupted by user]"),
        5 => session.calls("Grep", json!({"pattern": "TestResume"})),
        6 => session.gets("No matches found"),
        7 => session.gets("a.go:1:TestResume"),
        8 => session.run_fails("cargo test", "error: could not compile `parser`"),
        9 => session.runs("cargo test", "ok"),
        10 => session.edits("/p.rs"),
        11 => session.calls("TodoWrite", list("pending")).gets("done"),
        12 => session.calls("TodoWrite", list("completed")).gets("done"),
        13 => session.calls("TaskCreate", json!({"subject": "Rotate the key"})).gets("Task #3 created"),
        14 => session.calls("TaskUpdate", json!({"taskId": "3", "status": "completed"})).gets("ok"),
        15 => session.says("I still have to rotate the key."),
        16 => session.calls("Task", json!({"prompt": "rotate the key"})).rejects(),
        17 => session.progress(),
        _ => session.summary("Pending:\n- rotate the key\n"),
    }
}

proptest::proptest! {
    #[test]
    fn what_comes_before_a_span_changes_nothing_of_what_it_owes(
        steps in proptest::collection::vec(0_usize..19, 1..24),
    ) {
        let session = steps.into_iter().fold(Session::new(), step);
        let whole = session.read();
        for from in 0..=session.len() {
            let debts = debts_since(&session.texts(), Registry::built_in(), from);
            proptest::prop_assert_eq!(debts.len(), session.len());
            for (at, (debts, span)) in debts.into_iter().zip(&whole.spans).enumerate() {
                let SpanDebts { opens, negatives } = debts;
                if at < from {
                    proptest::prop_assert!(opens.is_empty() && negatives.is_empty());
                } else {
                    proptest::prop_assert_eq!(&opens, &span.opens, "span {} from {}", at, from);
                    proptest::prop_assert_eq!(&negatives, &span.negatives, "span {} from {}", at, from);
                }
            }
        }
    }
}
