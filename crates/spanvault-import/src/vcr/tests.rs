use serde_json::json;
use spanvault_types::{PartBody, Role, SpanKind};

use super::*;
use crate::testing::{calls, joined, only_claimed_by, pieces, results, spans};

const ANTHROPIC: &str = r#"interactions:
- request:
    headers:
      host:
      - api.anthropic.com
    method: POST
    parsed_body:
      messages:
      - content:
        - text: How old are Ann and Bo? It's
            for a form.
          type: text
        role: user
      model: model-1
      system: Be brief.
      tools: []
    uri: https://api.anthropic.com/v1/messages
  response:
    parsed_body:
      content:
      - id: toolu_1
        input:
          name: Ann
        name: age
        type: tool_use
      - id: toolu_2
        input:
          name: Bo
        name: age
        type: tool_use
      role: assistant
      type: message
    status:
      code: 200
- request:
    method: POST
    parsed_body:
      messages:
      - content:
        - text: How old are Ann and Bo? It's
            for a form.
          type: text
        role: user
      - content:
        - id: toolu_1
          input:
            name: Ann
          name: age
          type: tool_use
        - id: toolu_2
          input:
            name: Bo
          name: age
          type: tool_use
        role: assistant
      - content:
        - content: '7'
          is_error: false
          tool_use_id: toolu_1
          type: tool_result
        - content: "no \"Bo\"\n"
          is_error: true
          tool_use_id: toolu_2
          type: tool_result
        role: user
      system: Be brief.
    uri: https://api.anthropic.com/v1/messages
  response:
    parsed_body:
      content:
      - content: |-
          Ann is 7.

          Bo is not known.
        type: compaction
      - text: Ann is 7.
        type: text
      role: assistant
    status:
      code: 200
version: 1
"#;

fn read(cassette: &str) -> Vec<(Role, SpanKind)> {
    let pieces = pieces(&Vcr::AnthropicMessages, cassette.as_bytes());
    assert_eq!(joined(&pieces), cassette.as_bytes());
    let spans = spans(&pieces);
    assert!(spans.iter().all(|record| record.quarantine.is_none()), "{spans:?}");
    assert!(spans.iter().zip(0..).all(|(record, index)| record.index == index));
    spans.iter().map(|record| (record.content.role, record.content.kind)).collect()
}

#[test]
fn a_request_adds_only_what_no_call_before_it_held() {
    assert_eq!(
        read(ANTHROPIC),
        [
            (Role::User, SpanKind::Message),
            (Role::System, SpanKind::Message),
            (Role::Assistant, SpanKind::ToolCall),
            (Role::Tool, SpanKind::ToolResult),
            (Role::Assistant, SpanKind::CompactSummary),
        ]
    );
    let pieces = pieces(&Vcr::AnthropicMessages, ANTHROPIC.as_bytes());
    let question = spans(&pieces)[0];
    assert!(question.bytes.starts_with(b"      - content:") && question.bytes.ends_with(b"role: user"));
    assert_eq!(
        question.content.parts[0].body,
        PartBody::Text("How old are Ann and Bo? It's for a form.".into())
    );
}

#[test]
fn calls_and_results_keep_their_ids_arguments_and_flags() {
    let pieces = pieces(&Vcr::AnthropicMessages, ANTHROPIC.as_bytes());
    let calls: Vec<_> = calls(&pieces).into_iter().map(|call| (call.id, call.args)).collect();
    assert_eq!(
        calls,
        [(Some("toolu_1".into()), json!({"name": "Ann"})), (Some("toolu_2".into()), json!({"name": "Bo"}))]
    );
    let results: Vec<_> = results(&pieces).into_iter().map(|it| (it.call_id, it.text, it.is_error)).collect();
    assert_eq!(
        results,
        [
            (Some("toolu_1".into()), "7".into(), Some(false)),
            (Some("toolu_2".into()), "no \"Bo\"\n".into(), Some(true)),
        ]
    );
}

#[test]
fn a_line_separator_in_a_scalar_is_followed_by_an_indentation_that_is_none_of_its_words() {
    let cassette = "interactions:
- request:
    method: POST
    parsed_body:
      messages:
      - content: 'one\u{2028}          two'
        role: user
      - content: |-
          a

          b\u{2028}            c
        role: user
    uri: https://api.anthropic.com/v1/messages
  response:
    parsed_body:
      content:
      - text: 'deep\u{2028}          er'
        type: text
      role: assistant
- request:
    method: POST
    parsed_body:
      messages:
      - content: 'one\u{2028}          two'
        role: user
      - content: |-
          a

          b\u{2028}            c
        role: user
      - content:
        - text: 'deep\u{2028}            er'
          type: text
        role: assistant
    uri: https://api.anthropic.com/v1/messages
  response:
    parsed_body:
      content:
      - text: \"kept \\L as written\"
        type: text
      role: assistant
";
    let pieces = pieces(&Vcr::AnthropicMessages, cassette.as_bytes());
    let words: Vec<_> =
        spans(&pieces).into_iter().flat_map(|span| &span.content.parts).map(|part| &part.body).collect();
    let wanted = ["one\u{2028}two", "a\n\nb\u{2028}  c", "deep\u{2028}er", "kept \u{2028} as written"];
    assert_eq!(words, wanted.map(|text| PartBody::Text(text.into())).iter().collect::<Vec<_>>());
}

#[test]
fn the_same_words_said_again_are_said_again() {
    let twice = r"interactions:
- request:
    method: POST
    parsed_body:
      input: yes
    uri: https://api.openai.com/v1/responses
  response:
    parsed_body:
      output:
      - content:
        - text: Go on?
          type: output_text
        role: assistant
        type: message
- request:
    method: POST
    parsed_body:
      input:
      - content: 'yes'
        role: user
      - content: Go on?
        role: assistant
      - content: 'yes'
        role: user
    uri: https://api.openai.com/v1/responses
  response:
    parsed_body:
      output: []
- request:
    method: POST
    parsed_body:
      input: 'yes'
      previous_response_id: resp_1
    uri: https://api.openai.com/v1/responses
  response:
    parsed_body:
      object: response.compaction
      output:
      - content: 'yes'
        role: user
      - encrypted_content: gAAA
        id: cmp_1
        type: compaction
";
    assert_eq!(
        read(twice),
        [
            (Role::User, SpanKind::Message),
            (Role::Assistant, SpanKind::Message),
            (Role::User, SpanKind::Message),
            (Role::Assistant, SpanKind::Message),
            (Role::User, SpanKind::Message),
            (Role::System, SpanKind::CompactSummary),
        ]
    );
    only_claimed_by("vcr_openai_responses", twice);
}

#[test]
fn a_conversation_that_begins_again_is_another_one_and_an_answer_is_always_new() {
    let once = ANTHROPIC.strip_suffix("version: 1\n").unwrap();
    let again = once.strip_prefix("interactions:\n").unwrap();
    let both = format!("{once}{again}version: 1\n");
    let pieces = pieces(&Vcr::AnthropicMessages, both.as_bytes());
    assert_eq!(joined(&pieces), both.as_bytes());
    assert_eq!((calls(&pieces).len(), results(&pieces).len()), (4, 4));
    let beforehand = spans(&pieces).iter().filter(|record| record.content.role == Role::System).count();
    assert_eq!(beforehand, 1, "what is said beforehand is said once");
}

#[test]
fn messages_inside_a_quoted_body_are_originals_of_their_own() {
    let cassette = r#"interactions:
- request:
    body: '{"messages": [{"role": "user", "content": [{"text": "It''s late.
      Which city?"}]}], "system": [{"text": "Be
      brief."}], "inferenceConfig": {}}'
    method: POST
    uri: https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse
  response:
    parsed_body:
      output:
        message:
          content:
          - toolUse:
              input: {}
              name: where
              toolUseId: t1
          role: assistant
- request:
    body: "{\"messages\": [{\"role\": \"user\", \"content\": [{\"text\": \"It's late. Which\
      \ city?\"}]}, {\"role\": \"assistant\", \"content\": [{\"toolUse\": {\"toolUseId\": \"t1\", \"name\": \"where\",
      \"input\": {}}}]}, {\"role\": \"user\", \"content\": [{\"toolResult\": {\"toolUseId\": \"t1\", \"content\": [{\"text\":
      \"Ulm \\u00fc\"}], \"status\": \"error\"}}]}]}"
    method: POST
    uri: https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse
  response:
    parsed_body:
      output:
        message:
          content:
          - text: Ulm.
          role: assistant
"#;
    assert_eq!(
        read(cassette),
        [
            (Role::User, SpanKind::Message),
            (Role::System, SpanKind::Message),
            (Role::Assistant, SpanKind::ToolCall),
            (Role::Tool, SpanKind::ToolResult),
            (Role::Assistant, SpanKind::Message),
        ]
    );
    let pieces = pieces(&Vcr::Bedrock, cassette.as_bytes());
    let first = spans(&pieces)[0];
    assert_eq!(first.content.parts[0].body, PartBody::Text("It's late. Which city?".into()));
    assert!(first.bytes.starts_with(b"{\"role\": \"user\"") && first.bytes.ends_with(b"}]}"));
    let results = results(&pieces);
    assert_eq!((results[0].text.as_str(), results[0].is_error), ("Ulm \u{fc}", Some(true)));
    only_claimed_by("vcr_bedrock", cassette);
}

#[test]
fn a_streamed_answer_is_read_as_if_it_were_whole() {
    let stream = |lines: &[&str]| {
        let events =
            lines.iter().map(|line| format!("        data: {line}\n\n\n")).collect::<Vec<_>>().concat();
        format!(
            "interactions:\n- request:\n    method: POST\n    parsed_body:\n      messages:\n      - content: hi\n        role: user\n    uri: https://api.openai.com/v1/chat/completions\n  response:\n    body:\n      string: '{}\n        '\n",
            events.trim()
        )
    };
    let chat = stream(&[
        r#"{"choices":[{"delta":{"role":"assistant","content":"On"}}]}"#,
        r#"{"choices":[{"delta":{"content":" it"}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"look","arguments":"{\"a\""}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":": 1}"}}]}}]}"#,
        "[DONE]",
    ]);
    let found = pieces(&Vcr::OpenAiChat, chat.as_bytes());
    assert_eq!(joined(&found), chat.as_bytes());
    let call = &calls(&found)[0];
    assert_eq!((call.id.as_deref(), call.tool.as_str(), &call.args), (Some("c1"), "look", &json!({"a": 1})));
    assert_eq!(spans(&found)[1].content.parts[0].body, PartBody::Text("On it".into()));
    only_claimed_by("vcr_openai_chat", &chat);
    let blocks = stream(&[
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"look","input":{}}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\": 2}"}}"#,
    ]);
    let found = pieces(&Vcr::AnthropicMessages, blocks.as_bytes());
    assert_eq!(calls(&found)[0].args, json!({"a": 2}));
    assert_eq!(spans(&found)[1].content.parts[0].body, PartBody::Thinking("hm".into()));
}

#[test]
fn a_call_that_is_no_conversation_is_kept_as_one_span() {
    let cassette = "interactions:\n- request:\n    body: Paris is a city.\n    method: POST\n    uri: https://api.openai.com/v1/files\n  response:\n    body:\n      string: ''\n- request:\n    method: POST\n    parsed_body:\n      contents:\n      - parts:\n        - text: Where?\n        role: user\n      systemInstruction:\n        parts:\n        - text: Be brief.\n    uri: https://generativelanguage.googleapis.com/v1beta/models/m:generateContent\n  response:\n    parsed_body:\n      candidates:\n      - content:\n          parts:\n          - functionCall:\n              args: {}\n              name: where\n          role: model\nversion: 1\n";
    assert_eq!(
        read(cassette),
        [
            (Role::System, SpanKind::Meta),
            (Role::User, SpanKind::Message),
            (Role::System, SpanKind::Message),
            (Role::Assistant, SpanKind::ToolCall),
        ]
    );
    only_claimed_by("vcr_google", cassette);
}

#[test]
fn a_cassette_cut_off_anywhere_loses_no_byte_and_is_no_panic() {
    for end in 0..ANTHROPIC.len() {
        let cut = &ANTHROPIC.as_bytes()[..end];
        assert_eq!(joined(&pieces(&Vcr::AnthropicMessages, cut)), cut);
    }
    only_claimed_by("vcr_anthropic_messages", ANTHROPIC);
}

#[test]
fn an_alias_is_a_name_and_nesting_costs_no_stack() {
    let call = |content: &str| {
        format!(
            "interactions:\n- request:\n    method: POST\n    parsed_body:\n      messages:\n      - content: {content}\n        role: user\n    uri: https://api.anthropic.com/v1/messages\n"
        )
    };
    let bomb = call("[&a [x, x], &b [*a, *a, *a], [*b, *b, *b]]");
    let found = pieces(&Vcr::AnthropicMessages, bomb.as_bytes());
    assert_eq!(joined(&found), bomb.as_bytes());
    assert_eq!(spans(&found)[0].quarantine, None);
    for deep in [call(&"[".repeat(20_000)), call(&"{a: ".repeat(20_000)), call(&"- ".repeat(20_000))] {
        let found = pieces(&Vcr::AnthropicMessages, deep.as_bytes());
        assert_eq!(joined(&found), deep.as_bytes());
        assert!(spans(&found).iter().any(|record| record.quarantine.is_some()), "it is put aside");
    }
}

#[test]
fn a_cassette_whose_first_request_fills_the_head_is_known_by_its_host() {
    let long = ANTHROPIC.replace("How old", &format!("{} How old", "word ".repeat(crate::HEAD_BYTES / 5)));
    assert_eq!(crate::detect(long.as_bytes()).unwrap().format(), "vcr_anthropic_messages");
    assert_eq!(
        calls(&pieces(&Vcr::AnthropicMessages, long.as_bytes())),
        calls(&pieces(&Vcr::AnthropicMessages, ANTHROPIC.as_bytes()))
    );
    let elsewhere = long.replace("api.anthropic.com", "example.com");
    assert_eq!(crate::detect(elsewhere.as_bytes()).unwrap().format(), "generic_text");
}
