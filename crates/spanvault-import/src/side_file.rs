//! Results that a runtime moved to a file of their own, and left a stub of.

use spanvault_types::{Outcome, PartBody, SpanContent};

/// How the stub of a result begins whose whole text is in another file.
const STUB: &str = "<persisted-output>";
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
    outcome.text.trim_start().starts_with(STUB)
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
    use super::named_in;

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
