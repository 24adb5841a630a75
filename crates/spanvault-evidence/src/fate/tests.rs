use serde_json::json;
use spanvault_types::{Call, Outcome};

use super::*;

fn read_fate(call: &Call, outcome: Option<&Outcome>) -> FateReading {
    fate_of(call, outcome, Registry::built_in())
}

fn call(tool: &str) -> Call {
    Call { id: None, tool: tool.into(), args: json!({}) }
}

fn outcome(text: &str) -> Outcome {
    Outcome { call_id: None, tool: None, text: text.into(), is_error: None, exit_code: None, executed: None }
}

fn fate(tool: &str, text: &str) -> (Fate, bool) {
    let reading = read_fate(&call(tool), Some(&outcome(text)));
    (reading.fate, reading.executed)
}

#[test]
fn a_call_without_result_is_unknown_and_never_succeeded() {
    assert_eq!(read_fate(&call("Bash"), None), FateReading { fate: Fate::Unknown, executed: true });
}

#[test]
fn a_rejected_or_cancelled_call_failed_and_did_not_run() {
    for text in [
        "The user doesn't want to proceed with this tool use. The tool use was rejected",
        "<tool_use_error>Sibling tool call errored</tool_use_error>",
        "[Request interrupted by user for tool use]",
    ] {
        assert_eq!(fate("Edit", text), (Fate::Failed, false), "{text}");
    }
    let said_by_record = Outcome { executed: Some(false), ..outcome("") };
    assert_eq!(
        read_fate(&call("x"), Some(&said_by_record)),
        FateReading { fate: Fate::Failed, executed: false }
    );
}

#[test]
fn failure_is_read_from_flags_statuses_and_the_words_of_runtimes() {
    let flagged = Outcome { is_error: Some(true), ..outcome("ok") };
    assert_eq!(read_fate(&call("Edit"), Some(&flagged)).fate, Fate::Failed);
    let status = Outcome { exit_code: Some(2), ..outcome("") };
    assert_eq!(read_fate(&call("bash"), Some(&status)).fate, Fate::Failed);
    for (tool, text) in [
        ("Read", "<tool_use_error>File does not exist.</tool_use_error>"),
        ("bash", "<returncode>1</returncode>\n<output>\n</output>"),
        ("Bash", "Exit code 1\nFAIL"),
        ("cancel_pending_order", "Error: user not found"),
        ("send_money", "ValueError: no such account"),
        ("book", "Failed to book"),
        ("book", "{\"error\": \"no seats\"}"),
        ("book", "{\"success\": false}"),
        ("str_replace_editor", "ERROR:\nNo replacement was performed"),
        ("run_ipython", "[No exact match found in /w/a.tsx for\n```\nconst\n```]"),
        ("action", "Your proposed edit has introduced new syntax error(s). Please read"),
        ("shell", "{\"output\":\"x\",\"metadata\":{\"exit_code\":1,\"duration_seconds\":0.1}}"),
    ] {
        assert_eq!(fate(tool, text), (Fate::Failed, true), "{tool}: {text}");
    }
}

#[test]
fn content_that_begins_like_a_failure_is_unknown_where_no_flag_and_no_status_says() {
    for (tool, text) in [
        ("Read", "Error: ENOENT: no such file or directory, open '/x'"),
        ("Bash", "Error: unknown flag"),
        ("Grep", "java.io.IOException: closed"),
    ] {
        assert_eq!(fate(tool, text), (Fate::Unknown, true), "{tool}: {text}");
        let cleared = Outcome { is_error: Some(false), ..outcome(text) };
        assert_eq!(read_fate(&call(tool), Some(&cleared)).fate, Fate::Succeeded, "{tool}: {text}");
        let status = Outcome { exit_code: Some(0), ..outcome(text) };
        assert_eq!(read_fate(&call(tool), Some(&status)).fate, Fate::Succeeded, "{tool}: {text}");
    }
}

#[test]
fn words_of_failure_inside_of_content_are_no_verdict() {
    for (tool, text) in [
        ("Bash", "Errors: 0, says the log"),
        ("Read", "Error handling: see below"),
        ("Read", "     1→The user doesn't want to proceed with this tool use"),
        ("read_file", "Error handling\n=============="),
        ("bash", "<returncode>0</returncode>\n<output>\nError: x\n</output>"),
        ("get_order_details", "{\"order_id\": \"#W1\", \"error\": null}"),
        ("get_order_details", "{\"note\": \"Error\"}"),
        ("cancel", "Errors were avoided"),
    ] {
        assert_eq!(fate(tool, text), (Fate::Succeeded, true), "{tool}: {text}");
    }
    let cleared = Outcome { is_error: Some(false), ..outcome("Error: not one") };
    assert_eq!(read_fate(&call("x"), Some(&cleared)).fate, Fate::Succeeded);
}

#[test]
fn the_exit_status_is_read_from_every_known_wrapper() {
    for (text, code) in [
        ("<returncode>127</returncode>\n<output>\n</output>", Some(127)),
        ("Exit code 2\ngrep: x", Some(2)),
        ("Exit code: -1\nOutput:\n", Some(-1)),
        ("exitcode: 0 (execution succeeded)", Some(0)),
        ("{\"output\":\"\",\"metadata\":{\"exit_code\":3}}", Some(3)),
        ("Command: ls\nOutput: (empty)\nError: (none)\nExit Code: 0\nSignal: 0", Some(0)),
        ("out\n\nCommand exited with code 1", Some(1)),
        ("[The command completed with exit code 5.]", Some(5)),
        ("Exit codes are numbers", None),
        ("it printed: Command exited with code 1, then went on", None),
        ("", None),
    ] {
        assert_eq!(exit_code_of(&outcome(text)), code, "{text}");
    }
    assert_eq!(exit_code_of(&Outcome { exit_code: Some(9), ..outcome("Exit code 2") }), Some(9));
}

#[test]
fn nothing_is_told_from_something() {
    for text in [
        "",
        " \n",
        "[]",
        "{}",
        "None",
        "null",
        "No matches found",
        "No matches found\n\n[Showing results with pagination = limit: 10]",
        "No files found",
        "<returncode>1</returncode>\n<output>\n</output>",
        "Exit code 1",
        "(no output)",
        "No matches found for \"x\" in /src",
        "Your command ran successfully and did not produce any output.",
        "{\"output\":\"\",\"metadata\":{\"exit_code\":0}}",
        "Command: true\nDirectory: .\nOutput: (empty)\nError: (none)\nExit Code: 0",
    ] {
        assert!(is_empty_result(&call("Grep"), &outcome(text)), "{text:?}");
    }
    for text in [
        "0",
        "false",
        "[lint] ok\n0 issues.",
        "Error: not found",
        "No matches found\nbut a.rs has one",
        "<returncode>127</returncode>\n<output>\nbash: x: command not found\n</output>",
        "Exit code 2\ngrep: x: No such file",
        "[[]]",
        "nothing to commit, working tree clean",
    ] {
        assert!(!is_empty_result(&call("Grep"), &outcome(text)), "{text:?}");
    }
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_reader_of_results_panic(text in "(?s).{0,300}", start in 0_usize..8) {
        let heads = ["", "<returncode>", "Exit code ", "Command: ", "{\"output\":\"", "Output: ", "{\"metadata\"", "exitcode: "];
        let text = format!("{}{text}", heads[start]);
        let read = (read_fate(&call("x"), Some(&outcome(&text))), is_empty_result(&call("x"), &outcome(&text)));
        proptest::prop_assert_eq!(read.0, read_fate(&call("x"), Some(&outcome(&text))));
        if let Some((_, digits)) = exit_code_in(&text) {
            proptest::prop_assert!(text.get(digits).is_some());
        }
        if let Some(words) = null_words(&text) {
            proptest::prop_assert!(text.get(words).is_some());
        }
    }
}
