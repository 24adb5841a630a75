//! Results that a runtime moved to a file of their own, and left a stub of.

use spanvault_types::{Outcome, PartBody, SpanContent};

/// How the stub of a result begins whose whole text is in another file.
const STUB: &str = "<persisted-output>";
/// How other stubs begin, which lossless context managers leave: they name no file in the transcript's own folder.
const OTHER_STUBS: [&str; 7] = [
    "[LCM Tool Output: ",
    "[LCM Raw Payload: ",
    "[LCM File: ",
    "[Externalized tool output: ",
    "[GC'd externalized tool output: ",
    "[Externalized payload: ",
    "[GC'd externalized payload: ",
];
/// What stands before the path of that file.
const SAVED_TO: &str = "saved to: ";

/// The name of the file that holds the whole of a result of which the record has a stub.
///
/// It is a name, not a path: where the file stood on the machine that wrote the transcript says nothing.
pub fn side_file(content: &SpanContent) -> Option<&str> {
    content.parts.iter().find_map(|part| match &part.body {
        PartBody::Result(outcome) => named_in(&outcome.text),
        PartBody::Text(_) | PartBody::Thinking(_) | PartBody::Summary(_) | PartBody::Call(_) => None,
    })
}

/// Whether a result is the stub of one whose whole text is in another file.
pub fn is_stub(outcome: &Outcome) -> bool {
    let text = outcome.text.trim_start();
    text.starts_with(STUB) || OTHER_STUBS.iter().any(|stub| text.starts_with(stub))
}

fn named_in(result: &str) -> Option<&str> {
    let stub = result.trim_start().strip_prefix(STUB)?;
    let (_size, path) = stub.split_once(SAVED_TO)?;
    let path = path.lines().next()?.trim();
    let name = path.rsplit(['/', '\\']).next()?;
    Some(name).filter(|name| !name.is_empty() && !matches!(*name, "." | ".."))
}

#[cfg(test)]
mod tests {
    use super::{is_stub, named_in};
    use crate::blocks::outcome;

    #[test]
    fn a_result_that_was_moved_out_of_a_database_is_a_stub_and_one_that_speaks_of_it_is_none() {
        let said = |text: &str| spanvault_types::Outcome { text: text.to_owned(), ..outcome(None) };
        for stub in [
            "[LCM Tool Output: file_0123456789abcdef | tool=exec | 42,150 bytes]\n\nExploration Summary:\nx",
            "[Externalized tool output: tool_call_id=c; chars=9; bytes=9; ref=a.json]",
            "[GC'd externalized tool output: tool_call_id=c; chars=9; ref=a.json]",
            "<persisted-output>\nOutput too large",
        ] {
            assert!(is_stub(&said(stub)), "{stub}");
        }
        for whole in ["", "see [LCM Tool Output: file_0 | tool=exec | 1 bytes]", "[LCM]", "[Externalized]"] {
            assert!(!is_stub(&said(whole)), "{whole}");
        }
    }

    #[test]
    fn a_stub_names_a_file_and_never_a_path() {
        let stub = |path: &str| {
            format!(
                "<persisted-output>\nOutput too large (21KB). Full output saved to: {path}\n\nPreview:\nx"
            )
        };
        assert_eq!(named_in(&stub("/Users/a/.claude/projects/p/s/tool-results/b1.txt")), Some("b1.txt"));
        assert_eq!(named_in(&stub(r"C:\Users\a\tool-results\b1.txt")), Some("b1.txt"));
        assert_eq!(named_in(&stub("../../etc/passwd")), Some("passwd"));
        for none in [
            stub("/a/.."),
            stub(""),
            "Full output saved to: /a/b.txt".to_owned(),
            "<persisted-output>".to_owned(),
        ] {
            assert_eq!(named_in(&none), None, "{none}");
        }
    }
}
