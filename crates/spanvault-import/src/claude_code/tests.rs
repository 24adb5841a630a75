use serde_json::json;
use spanvault_types::{Encoding, Outcome, Part, PartBody, Role, SpanContent, SpanKind};

use super::*;
use crate::Importer;
use crate::detect;
use crate::testing::{pieces, slice, spans};

fn read(line: &str) -> SpanContent {
    ClaudeCode.parse(line.as_bytes()).unwrap()
}

fn user(content: &str, more: &str) -> String {
    format!(r#"{{"type":"user","sessionId":"s","message":{{"role":"user","content":{content}}}{more}}}"#)
}

fn result(line: &str) -> Outcome {
    let content = read(line);
    assert_eq!((content.role, content.kind), (Role::Tool, SpanKind::ToolResult));
    match content.parts.as_slice() {
        [Part { body: PartBody::Result(outcome), .. }] => outcome.clone(),
        other => panic!("{other:?}"),
    }
}

fn bytes_of<'a>(line: &'a str, part: &Part) -> &'a str {
    slice(line, part.range)
}

#[test]
fn a_call_keeps_its_arguments_and_its_place() {
    let line = r#"{"parentUuid":null,"type":"assistant","uuid":"u-1","timestamp":"2026-02-03T09:00:01.250Z","sessionId":"s","message":{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Write","input":{"file_path":"/etc/app/conf.yaml","content":"a: 1\n"}}]}}"#;
    let content = read(line);
    assert_eq!((content.role, content.kind), (Role::Assistant, SpanKind::ToolCall));
    assert_eq!(content.timestamp_ms, Some(1_770_109_201_250));
    assert_eq!(content.event_key.as_deref(), Some("u-1"));
    let part = &content.parts[0];
    let PartBody::Call(call) = &part.body else { panic!("{part:?}") };
    assert_eq!((call.id.as_deref(), call.tool.as_str()), (Some("toolu_1"), "Write"));
    assert_eq!(call.args, json!({"file_path": "/etc/app/conf.yaml", "content": "a: 1\n"}));
    assert_eq!(part.encoding, Encoding::JsonValue);
    assert!(
        bytes_of(line, part).starts_with(r#"{"type":"tool_use""#)
            && bytes_of(line, part).ends_with(r#"\n"}}"#)
    );
}

#[test]
fn several_blocks_are_several_parts_and_the_strongest_is_the_kind() {
    let line = r#"{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"hm","signature":"x"},{"type":"text","text":"Let me \u0072un it"},{"type":"tool_use","id":"t","name":"Bash","input":{"command":"make"}}]}}"#;
    let content = read(line);
    assert_eq!(content.kind, SpanKind::ToolCall);
    assert_eq!(content.parts[0].body, PartBody::Thinking("hm".into()));
    assert_eq!(content.parts[1].body, PartBody::Text("Let me run it".into()));
    assert_eq!(
        (content.parts[1].encoding, bytes_of(line, &content.parts[1])),
        (Encoding::JsonString, r#""Let me \u0072un it""#)
    );
    assert_eq!(content.parts.len(), 3);
}

#[test]
fn an_absent_error_flag_means_no_error() {
    let block = |more: &str| {
        user(&format!(r#"[{{"type":"tool_result","tool_use_id":"t","content":"done"{more}}}]"#), "")
    };
    assert_eq!(result(&block("")).is_error, Some(false));
    assert_eq!(result(&block(r#","is_error":false"#)).is_error, Some(false));
    assert_eq!(result(&block(r#","is_error":true"#)).is_error, Some(true));
    assert_eq!(result(&block("")).call_id.as_deref(), Some("t"));
}

#[test]
fn the_exit_code_of_a_failed_command_is_read() {
    let failed = user(
        r#"[{"type":"tool_result","tool_use_id":"t","content":"Exit code 128\nfatal: no","is_error":true}]"#,
        "",
    );
    assert_eq!(result(&failed).exit_code, Some(128));
    let printed = user(r#"[{"type":"tool_result","tool_use_id":"t","content":"Exit code 3"}]"#, "");
    assert_eq!(result(&printed).exit_code, None, "the output of a command that succeeded is only text");
    let detailed = user(
        r#"[{"type":"tool_result","tool_use_id":"t","content":"x"}]"#,
        r#","toolUseResult":{"stdout":"x","exitCode":0}"#,
    );
    assert_eq!(result(&detailed).exit_code, Some(0));
}

#[test]
fn rejected_and_cancelled_calls_were_not_executed() {
    for text in [
        "The user doesn't want to proceed with this tool use. The tool use was rejected",
        "<tool_use_error>Sibling tool call errored</tool_use_error>",
        "Permission to use Bash with command rm has been denied.",
    ] {
        let line = user(
            &json!([{"type": "tool_result", "tool_use_id": "t", "content": text, "is_error": true}])
                .to_string(),
            "",
        );
        let outcome = result(&line);
        assert_eq!((outcome.is_error, outcome.executed), (Some(true), Some(false)), "{text}");
        let quoted =
            user(&json!([{"type": "tool_result", "tool_use_id": "t", "content": text}]).to_string(), "");
        assert_eq!(result(&quoted).executed, None, "without the flag it is what a tool printed");
    }
    let told = user(
        r#"[{"type":"tool_result","tool_use_id":"t","content":"No.","is_error":true}]"#,
        r#","toolUseResult":"User rejected tool use""#,
    );
    assert_eq!(result(&told).executed, Some(false));
    let ran = user(
        r#"[{"type":"tool_result","tool_use_id":"t","content":"<tool_use_error>String to replace not found","is_error":true}]"#,
        "",
    );
    assert_eq!(result(&ran).executed, None);
}

#[test]
fn an_interrupted_command_did_not_succeed() {
    let line = user(
        r#"[{"type":"tool_result","tool_use_id":"t","content":"half"}]"#,
        r#","toolUseResult":{"stdout":"half","stderr":"","interrupted":true,"isImage":false}"#,
    );
    assert_eq!(result(&line).is_error, Some(true));
}

#[test]
fn details_beside_two_results_are_not_given_to_both() {
    let line = user(
        r#"[{"type":"tool_result","tool_use_id":"a","content":"1"},{"type":"tool_result","tool_use_id":"b","content":"2"}]"#,
        r#","toolUseResult":{"interrupted":true}"#,
    );
    let content = read(&line);
    assert_eq!(content.parts.len(), 2);
    for part in &content.parts {
        assert!(matches!(&part.body, PartBody::Result(outcome) if outcome.is_error == Some(false)));
    }
}

#[test]
fn the_text_of_a_result_is_its_blocks_joined() {
    let line = user(
        r#"[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"one"},{"type":"image","source":{"type":"base64","data":"AAAA"}},{"type":"text","text":"two"}]}]"#,
        "",
    );
    assert_eq!(result(&line).text, "one\n[image]\ntwo");
    let content = read(&line);
    assert_eq!(content.parts[0].encoding, Encoding::JsonValue);
    assert!(bytes_of(&line, &content.parts[0]).starts_with('['));
    let single =
        user(r#"[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"one"}]}]"#, "");
    let part = &read(&single).parts[0];
    assert_eq!((part.encoding, bytes_of(&single, part)), (Encoding::JsonString, "\"one\""));
    let picture = user(
        r#"[{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":{"data":"AAAA"}}]}]"#,
        "",
    );
    assert_eq!(result(&picture).text, "[image]", "a picture is not an empty result");
    let nothing = user(r#"[{"type":"tool_result","tool_use_id":"t"}]"#, "");
    assert_eq!(result(&nothing).text, "");
}

#[test]
fn only_what_the_user_typed_is_the_users() {
    assert_eq!(read(&user(r#""Do it""#, "")).role, Role::User);
    assert_eq!(read(&user(r#""<caveat>""#, r#","isMeta":true"#)).role, Role::System);
    assert_eq!(
        read(&user(r#"[{"type":"text","text":"Do it"},{"type":"image","source":{}}]"#, r#","isMeta":false"#))
            .role,
        Role::User
    );
    let failure = r#"{"type":"assistant","isApiErrorMessage":true,"message":{"content":[{"type":"text","text":"API Error"}]}}"#;
    assert_eq!(read(failure).role, Role::System);
}

#[test]
fn the_runtimes_own_summary_is_one() {
    let content = read(&user(
        r#""This session is being continued""#,
        r#","isCompactSummary":true,"isVisibleInTranscriptOnly":true"#,
    ));
    assert_eq!((content.role, content.kind), (Role::System, SpanKind::CompactSummary));
    assert_eq!(content.parts[0].body, PartBody::Summary("This session is being continued".into()));
}

#[test]
fn lines_that_are_no_talk_are_kept_without_parts() {
    for line in [
        r#"{"type":"progress","uuid":"u","data":{"type":"agent_progress","message":{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}}}"#,
        r#"{"type":"system","subtype":"compact_boundary","content":"Conversation compacted","uuid":"u"}"#,
        r#"{"type":"queue-operation","operation":"enqueue","content":"later"}"#,
        r#"{"type":"summary","summary":"A title","leafUuid":"l"}"#,
        r#"{"type":"of-next-year","message":{"content":"?"}}"#,
        r#"{"type":"user","message":"a string"}"#,
        r#"{"type":7}"#,
        "{}",
    ] {
        let content = read(line);
        assert_eq!((content.kind, content.parts.len()), (SpanKind::Meta, 0), "{line}");
    }
}

#[test]
fn a_block_of_an_unknown_type_is_shown_and_never_taken_for_silence() {
    let line = r#"{"type":"assistant","message":{"content":[{"type":"fallback","from":"a","to":"b"}]}}"#;
    assert_eq!(read(line).parts[0].body, PartBody::Text(r#"{"type":"fallback","from":"a","to":"b"}"#.into()));
    let call = r#"{"type":"assistant","message":{"content":[{"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"x"}}]}}"#;
    assert_eq!(read(call).kind, SpanKind::ToolCall);
}

#[test]
fn calls_and_results_that_are_lines_of_their_own_are_read() {
    let call =
        read(r#"{"type":"tool_use","sessionId":"s","name":"bash","input":{"command":"ls"},"uuid":"t1"}"#);
    assert_eq!((call.role, call.kind), (Role::Assistant, SpanKind::ToolCall));
    let outcome =
        result(r##"{"type":"tool_result","sessionId":"s","name":"bash","output":"# Title\n","uuid":"r1"}"##);
    assert_eq!(
        (outcome.tool.as_deref(), outcome.text.as_str(), outcome.is_error),
        (Some("bash"), "# Title\n", Some(false))
    );
}

#[test]
fn a_lone_surrogate_hides_nothing() {
    let line = user(r#"[{"type":"tool_result","tool_use_id":"t","content":"\ud83d path /etc/hosts"}]"#, "");
    assert_eq!(result(&line).text, "\u{fffd} path /etc/hosts");
    let call = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"echo \udfff"}}]}}"#;
    let PartBody::Call(call) = &read(call).parts[0].body else { panic!("no call") };
    assert_eq!(call.args, json!({"command": "echo \u{fffd}"}));
}

#[test]
fn a_sub_agent_has_a_session_of_its_own() {
    let line = |agent: &str, sidechain: bool| {
        format!(
            r#"{{"type":"user","sessionId":"s-1","agentId":"{agent}","isSidechain":{sidechain},"message":{{"role":"user","content":"x"}}}}"#
        )
    };
    let file = [line("a1", true), line("a1", false), line("", true)].join("\n");
    let pieces = pieces(&ClaudeCode, file.as_bytes());
    let sessions: Vec<_> = spans(&pieces).iter().map(|record| record.session.as_str()).collect();
    assert_eq!(sessions, ["s-1/a1", "s-1", "s-1"]);
}

#[test]
fn the_web_export_is_read_like_a_session_file() {
    let line = user(r#""hello""#, "");
    let export = format!(
        "{{\n  \"loglines\": [\n    {line},\n    {{\"type\":\"user\",\"message\":{{\"content\":\"x\"}}}}\n  ]\n}}\n"
    );
    assert_eq!(detect(export.as_bytes()).unwrap().format(), "claude_web_json");
    let pieces = pieces(&ClaudeWebJson, export.as_bytes());
    let spans = spans(&pieces);
    assert_eq!(spans[0].content, read(&line));
    assert_eq!((spans[1].index, spans[1].session.as_str()), (1, "s"));
    assert_eq!(ClaudeWebJson.parse(line.as_bytes()), ClaudeCode.parse(line.as_bytes()));
}

#[test]
fn a_session_file_is_known_by_any_of_its_lines() {
    let known = |text: &str| detect(text.as_bytes()).map(Importer::format).ok();
    let line = r#"{"parentUuid":null,"isSidechain":false,"sessionId":"s","type":"user","message":{"role":"user","content":"x"},"uuid":"u"}"#;
    assert_eq!(known(line), Some("claude_code"));
    assert_eq!(known(&format!("\u{feff}broken {{\n\n{line}\n")), Some("claude_code"));
    for end in 100..line.len() {
        assert_eq!(known(&line[..end]), Some("claude_code"), "cut off at {end}");
    }
    assert_eq!(known(r#"{"type":"summary","summary":"t","leafUuid":"l"}"#), Some("claude_code"));
    assert_eq!(known(r#"{"agentType":"general-purpose","spawnDepth":1}"#), Some("claude_code"));
    let other = line.replace(r#""content":"x""#, r#""parts":[{"text":"x"}]"#);
    assert_ne!(
        known(&other),
        Some("claude_code"),
        "the same envelope around the messages of another runtime"
    );
    assert_ne!(known(r#"{"type":"session","id":"x","cwd":"/"}"#), Some("claude_code"));
}
