//! The contents of the reference model as messages that a vault can read.
//!
//! No path and no identifier stands in any of them, so nothing refers to anything; each promise is kept by one kind of
//! call only; and all are long enough to be worth a summary.

use serde_json::json;
use spanvault::SpanDraft;
use spanvault_testkit::{Content, Piece};

const PLACES: [&str; 4] = ["north", "south", "east", "west"];

fn place(n: u8) -> &'static str {
    PLACES[usize::from(n)]
}

/// A tool that no other content calls.
pub(crate) fn tool(n: u8) -> String {
    format!("update_{}", place(n))
}

/// A few hundred bytes in which nothing can be verified.
fn prose(n: u8) -> String {
    let place = place(n);
    format!(
        "The garden in the {place} lies behind the old wall, and the light falls softly over its beds in the morning. "
    )
    .repeat(12)
}

/// The message of one span.
pub(crate) fn draft(content: Content, piece: Piece) -> SpanDraft {
    match (content, piece) {
        (Content::Words(n), _) => SpanDraft::assistant(prose(n)),
        (Content::Fact(n), _) => {
            SpanDraft::assistant(format!("The gauge in the {} shows 417{n} litres. {}", place(n), prose(n)))
        }
        (Content::Change(n), Piece::Call | Piece::Whole) => SpanDraft::tool_call_with_id(
            format!("change-{n}"),
            tool(n),
            json!({"level": "high", "note": prose(n)}),
        ),
        (Content::Change(n), Piece::Result) => {
            SpanDraft::tool_result(format!("change-{n}"), format!("The level is high now. {}", prose(n)))
        }
        (Content::Promise(0), _) => {
            SpanDraft::assistant(format!("{} I will ask the office for the rate 0.3725 later.", prose(0)))
        }
        (Content::Promise(n), _) => {
            SpanDraft::assistant(format!("{} I will run the tests with seed 918273 later.", prose(n)))
        }
        (Content::Kept(0), Piece::Call | Piece::Whole) => SpanDraft::tool_call_with_id(
            "kept-0",
            "get_confirmation",
            json!({"of": "0.3725", "note": prose(0)}),
        ),
        (Content::Kept(n), Piece::Call | Piece::Whole) => {
            let command = "cargo test -- --seed 918273";
            SpanDraft::tool_call_with_id(
                format!("kept-{n}"),
                "Bash",
                json!({"command": command, "description": prose(n)}),
            )
        }
        (Content::Kept(n), Piece::Result) => {
            SpanDraft::tool_result(format!("kept-{n}"), format!("The rate 0.3725 is here. {}", prose(n)))
        }
    }
}
