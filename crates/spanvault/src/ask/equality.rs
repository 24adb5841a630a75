//! Equality of JSON values: exact in numbers, blind to the order of keys.

use serde_json::{Number, Value};

/// Whether two JSON values are equal: `1`, `1.0` and `10e-1` are one number, no digit is ever rounded away, and the
/// order of keys does not matter.
pub fn json_equal(left: &Value, right: &Value) -> bool {
    let mut pending = vec![(left, right)];
    while let Some((left, right)) = pending.pop() {
        match (left, right) {
            (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
                pending.extend(left.iter().zip(right));
            }
            (Value::Object(left), Value::Object(right)) if left.len() == right.len() => {
                for (name, value) in left {
                    let Some(other) = right.get(name) else { return false };
                    pending.push((value, other));
                }
            }
            (Value::Number(left), Value::Number(right)) => {
                if !numbers_equal(left, right) {
                    return false;
                }
            }
            (Value::Null, Value::Null) => {}
            (Value::Bool(left), Value::Bool(right)) if left == right => {}
            (Value::String(left), Value::String(right)) if left == right => {}
            _different => return false,
        }
    }
    true
}

fn numbers_equal(left: &Number, right: &Number) -> bool {
    let (left, right) = (left.as_str(), right.as_str());
    left == right
        || match (Decimal::read(left), Decimal::read(right)) {
            (Some(left), Some(right)) => left == right,
            _beyond_counting => false,
        }
}

/// A number in lowest terms: `negative`, its digits without zeros at either end, and the power of ten of the last.
#[derive(PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    exponent: i64,
}

impl Decimal {
    /// Reads a JSON number; `None` where its exponent is beyond counting.
    fn read(text: &str) -> Option<Self> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let mut exponent = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?;
        let leading = digits.iter().take_while(|digit| **digit == b'0').count();
        digits.drain(..leading);
        while digits.last() == Some(&b'0') {
            digits.pop();
            exponent = exponent.checked_add(1)?;
        }
        if digits.is_empty() {
            return Some(Self { negative: false, digits, exponent: 0 });
        }
        Some(Self { negative, digits, exponent })
    }
}

/// A text that equal numbers share.
pub(super) fn normal_number(number: &Number) -> String {
    match Decimal::read(number.as_str()) {
        Some(Decimal { negative, digits, exponent }) => {
            let sign = if negative { "-" } else { "" };
            format!("{sign}{}e{exponent}", String::from_utf8_lossy(&digits))
        }
        None => number.to_string(),
    }
}
