use serde_json::json;
use spanvault_types::{PartBody, Role, SpanKind};

use super::*;
use crate::testing::{calls, joined, only_claimed_by, pieces, results, spans};

const HISTORY: &str = "-*- mode: fundamental -*-
> ^C again to exit  

# aider chat started at 2025-03-04 05:06:07

> /usr/bin/aider tool.py  
> Added tool.py to the chat  

#### make it print  
####   
#### twice  

Like this:

```python
tool.py
<<<<<<< SEARCH
#### a heading in code
> a quote in code
=======
print(2)
>>>>>>> REPLACE
```

> Applied edit to tool.py  
> Commit 0a1b2c3 feat: print twice  
> Commit to it  
# aider chat started at 2025-03-04 06:00:00

#### bye  
";

#[test]
fn every_speaker_is_a_span_and_every_start_a_session() {
    let pieces = pieces(&Aider, HISTORY.as_bytes());
    assert_eq!(joined(&pieces), HISTORY.as_bytes());
    let found: Vec<_> = spans(&pieces)
        .iter()
        .map(|record| (record.index, record.content.role, record.content.kind, record.session_name("h")))
        .collect();
    let in_file = |index, role, kind| (index, role, kind, "h".to_owned());
    let first = |index, role, kind| (index, role, kind, "h/2025-03-04 05:06:07".to_owned());
    let second = |index, role, kind| (index, role, kind, "h/2025-03-04 06:00:00".to_owned());
    assert_eq!(
        found,
        [
            in_file(0, Role::System, SpanKind::Meta),
            in_file(1, Role::Tool, SpanKind::Message),
            first(3, Role::System, SpanKind::Meta),
            first(5, Role::Tool, SpanKind::Message),
            first(8, Role::User, SpanKind::Message),
            first(12, Role::Assistant, SpanKind::Message),
            first(24, Role::Tool, SpanKind::ToolCall),
            second(27, Role::System, SpanKind::Meta),
            second(29, Role::User, SpanKind::Message),
        ]
    );
}

#[test]
fn the_words_of_the_user_come_without_the_prefix() {
    let pieces = pieces(&Aider, HISTORY.as_bytes());
    let PartBody::Text(text) = &spans(&pieces)[4].content.parts[0].body else { panic!() };
    assert_eq!(text, "make it print\n\ntwice");
}

#[test]
fn an_applied_edit_and_a_commit_are_calls_that_succeeded() {
    let pieces = pieces(&Aider, HISTORY.as_bytes());
    let calls = calls(&pieces);
    let done: Vec<_> = calls.iter().map(|call| (call.tool.as_str(), call.args.clone())).collect();
    assert_eq!(
        done,
        [
            ("edit", json!({"path": "tool.py"})),
            ("commit", json!({"hash": "0a1b2c3", "message": "feat: print twice"})),
        ]
    );
    let answered: Vec<_> = results(&pieces).into_iter().map(|it| (it.call_id, it.is_error)).collect();
    assert_eq!(answered, calls.into_iter().map(|call| (call.id, Some(false))).collect::<Vec<_>>());
}

#[test]
fn a_web_page_says_something_before_its_transcript() {
    let page = "---\nparent: Examples\n---\n\n# A game\n\n> not the program\n\n<div class=\"chat-transcript\" markdown=\"1\">\n\n> $ aider  \n\n#### hello\n\nHi.\n\n</div>\n";
    let pieces = pieces(&Aider, page.as_bytes());
    assert_eq!(joined(&pieces), page.as_bytes());
    let found: Vec<_> = spans(&pieces).iter().map(|record| (record.index, record.content.role)).collect();
    assert_eq!(found, [(0, Role::System), (10, Role::Tool), (12, Role::User), (14, Role::Assistant)]);
    only_claimed_by("aider_md", page);
}

#[test]
fn a_history_is_known_and_claimed_by_no_other_format() {
    only_claimed_by("aider_md", HISTORY);
    only_claimed_by("aider_md", "\n#### hello  \n\n> Tokens: 3  \n");
}
