//! Does the evidence agree with a claim?

use serde_json::Value;

use crate::ask::{Answer, Query, Verdict, json_equal};
use crate::error::Result;
use crate::vault::Vault;

/// What somebody claims the answer to a question is.
#[derive(Debug, Clone, PartialEq)]
pub enum Claim {
    /// It is so.
    Yes,
    /// It is not so.
    No,
    /// The value is this; text is compared as text, numbers as numbers.
    Value(Value),
}

/// What the evidence says about a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checked {
    /// It agrees.
    Agrees,
    /// It contradicts it; the answer has the proof.
    Contradicts,
    /// It does not decide it.
    Insufficient,
}

impl Checked {
    /// The word that JSON and people see.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Contradicts => "contradicts",
            Self::Insufficient => "insufficient",
        }
    }
}

impl Vault {
    /// Compares a claim with the answer that the originals give.
    ///
    /// # Errors
    /// As [`Vault::ask`].
    pub fn check(&self, query: &Query, claim: &Claim) -> Result<(Checked, Answer)> {
        let answer = self.ask(query)?;
        Ok((compare(&answer, claim), answer))
    }
}

fn compare(answer: &Answer, claim: &Claim) -> Checked {
    let is_so = match answer.answer {
        Verdict::Insufficient => return Checked::Insufficient,
        Verdict::Present => !is_nothing(&answer.value),
        Verdict::Absent => false,
    };
    let agrees = match claim {
        Claim::Yes => is_so,
        Claim::No => !is_so,
        Claim::Value(claimed) => is_equal(&answer.value, claimed),
    };
    if agrees { Checked::Agrees } else { Checked::Contradicts }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::Number(number) => number.to_string() == "0",
        Value::Bool(true) | Value::String(_) | Value::Object(_) => false,
    }
}

/// Equal as JSON; a claim from a command line is text, and may stand for a number.
fn is_equal(value: &Value, claimed: &Value) -> bool {
    if json_equal(value, claimed) {
        return true;
    }
    let Value::String(text) = claimed else { return false };
    serde_json::from_str::<Value>(text).is_ok_and(|read| !read.is_string() && json_equal(value, &read))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_claim_on_the_command_line_may_stand_for_a_number() {
        assert!(is_equal(&json!(3), &json!("3")));
        assert!(is_equal(&json!("3"), &json!("3")));
        assert!(!is_equal(&json!("3"), &json!(3)));
        assert!(!is_equal(&json!(3), &json!("three")));
    }
}
