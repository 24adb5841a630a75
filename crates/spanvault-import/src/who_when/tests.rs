use super::*;
use crate::testing::{joined, only_claimed_by, pieces, results, spans};

const TALK: &str = r#"{"is_correct": false, "question": "How many?", "question_ID": "q", "ground_truth": "3",
 "history": [
  {"content": "You are given: (1) a task and advises from your manager", "role": "assistant", "name": "Sums_Expert"},
  {"content": "```python\nprint(1 + 1)\n```", "role": "assistant", "name": "Sums_Expert"},
  {"content": "exitcode: 1 (execution failed)\nCode output: Traceback", "name": "Computer_terminal", "role": "user"},
  {"content": "There is no code from the last 1 message for me to execute.", "name": "Computer_terminal", "role": "user"}],
 "mistake_agent": "Sums_Expert", "mistake_step": "1", "mistake_reason": "wrong"}"#;

const ORCHESTRA: &str = r#"{"history": [
  {"content": "Where?", "role": "human"},
  {"content": "Updated Ledger:\n{}", "role": "Orchestrator (thought)"},
  {"content": "Please search.", "role": "Orchestrator (-> WebSurfer)"},
  {"content": "I clicked 'a'.", "role": "WebSurfer"},
  {"content": "Request satisfied", "role": "Orchestrator (termination condition)"}],
 "question": "Where?", "ground_truth": "here", "is_corrected": false, "question_ID": "q", "mistake_agent": "WebSurfer"}"#;

fn read(file: &str) -> Vec<(Role, SpanKind)> {
    let pieces = pieces(&WhoWhen, file.as_bytes());
    assert_eq!(joined(&pieces), file.as_bytes());
    let spans = spans(&pieces);
    assert!(spans.iter().zip(0..).all(|(record, index)| record.index == index && record.record.is_empty()));
    spans.iter().map(|record| (record.content.role, record.content.kind)).collect()
}

#[test]
fn speakers_are_told_apart_by_name() {
    use SpanKind::{Message, Thinking};
    assert_eq!(
        read(TALK),
        [(Role::User, Message), (Role::Assistant, Message), (Role::Tool, Message), (Role::System, Message)]
    );
    assert_eq!(
        read(ORCHESTRA),
        [
            (Role::User, Message),
            (Role::Assistant, Thinking),
            (Role::Assistant, Message),
            (Role::Assistant, Message),
            (Role::System, Message),
        ]
    );
}

#[test]
fn what_a_terminal_printed_is_words_of_a_tool_and_no_result() {
    let pieces = pieces(&WhoWhen, TALK.as_bytes());
    assert!(results(&pieces).is_empty());
    let PartBody::Text(words) = &spans(&pieces)[2].content.parts[0].body else { panic!() };
    assert_eq!(words, "exitcode: 1 (execution failed)\nCode output: Traceback");
}

#[test]
fn both_kinds_of_logs_are_known_and_claimed_by_no_other_format() {
    only_claimed_by("who_when", TALK);
    only_claimed_by("who_when", ORCHESTRA);
    only_claimed_by("who_when", &ORCHESTRA[..ORCHESTRA.find("\"question\"").unwrap()]);
}
