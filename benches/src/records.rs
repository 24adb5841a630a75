//! What an agent has that works on records: calls with some twenty details that they can be asked for by, and results that
//! are lists of records, all of it JSON.

use std::fmt::Write;

use serde_json::json;
use spanvault::SpanDraft;

use crate::noise::Noise;

/// How many customers there are: each is met again and again.
const CUSTOMERS: usize = 5_000;
/// What the JSON of a message has around its text, and the details of a call, in bytes.
const CALL_BYTES: usize = 500;
const RESULT_BYTES: usize = 150;
/// The length of a record in a result.
const RECORD_BYTES: usize = 800;

const STATES: &[&str] = &["open", "waiting", "paid", "refused", "closed", "in_review"];
const WORDS: &[&str] = &[
    "invoice", "delivery", "address", "changed", "refund", "asked", "for", "by", "phone", "the", "customer",
    "wants", "to", "be", "called", "back", "before", "noon", "order", "arrived", "damaged", "and", "was",
    "sent", "again", "without", "charge", "see", "note", "of", "agent", "who", "took", "it",
];

/// A call and its result.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// The original of the call.
    pub call: Vec<u8>,
    /// The original of its result.
    pub result: Vec<u8>,
    /// An argument of the call that other calls have too.
    pub customer: String,
}

/// The exchange with that number; each original has about `bytes` bytes.
pub fn exchange(noise: &mut Noise, number: usize, bytes: usize) -> Exchange {
    let customer = customer(noise.below(CUSTOMERS));
    let id = format!("toolu_{number:08}_{:016x}", noise.next());
    let args = json!({
        "ticket": format!("INC-{number:07}"),
        "customer": customer,
        "path": format!("/srv/tickets/{}/{}.json", noise.below(400), number),
        "line": noise.below(2_000),
        "amount": amount(noise),
        "trace": format!("{:016x}", noise.next()),
        "state": noise.one_of(STATES),
        "note": prose(noise, bytes.saturating_sub(CALL_BYTES)),
    });
    let call = SpanDraft::tool_call_with_id(id.clone(), "update_ticket", args);
    let result = SpanDraft::tool_result(id, listed(noise, bytes.saturating_sub(RESULT_BYTES)));
    Exchange { call: call.as_bytes().to_vec(), result: result.as_bytes().to_vec(), customer }
}

/// The name of a customer.
fn customer(number: usize) -> String {
    format!("CUS-{number:05}")
}

fn amount(noise: &mut Noise) -> f64 {
    f64::from(u32::try_from(noise.below(1_000_000)).unwrap_or(0)) / 100.0
}

/// About `bytes` bytes of records, one a line.
fn listed(noise: &mut Noise, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 1_000);
    while text.len() < bytes.saturating_sub(RECORD_BYTES / 2) {
        let record = json!({
            "ticket": format!("INC-{:07}", noise.below(10_000_000)),
            "customer": customer(noise.below(CUSTOMERS)),
            "path": format!("/srv/tickets/{}/{}.json", noise.below(400), noise.below(10_000_000)),
            "state": noise.one_of(STATES),
            "amount": amount(noise),
            "note": prose(noise, RECORD_BYTES - 120),
        });
        // Writing to a string cannot fail.
        let _written = writeln!(text, "{record}");
    }
    text
}

/// About `bytes` bytes of words.
fn prose(noise: &mut Noise, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 20);
    while text.len() < bytes {
        text.push_str(noise.one_of(WORDS));
        text.push(if noise.below(12) == 0 { '.' } else { ' ' });
    }
    text
}
