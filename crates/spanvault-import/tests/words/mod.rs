//! What an importer promises of the words that a record says.

use memchr::memmem;
use serde_json::Value;
use spanvault_import::{Importer, Record, may_be_added, writes_plainly};
use spanvault_types::PartBody;

/// Every string, number and truth value of an argument, and the names in it.
fn said_in(value: &Value, said: &mut Vec<String>) {
    match value {
        Value::Null => {}
        Value::Bool(truth) => said.push(truth.to_string()),
        Value::Number(number) => said.push(number.as_str().to_owned()),
        Value::String(text) => said.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| said_in(item, said)),
        Value::Object(members) => {
            for (name, value) in members {
                said.push(name.clone());
                said_in(value, said);
            }
        }
    }
}

/// Where an importer promises it, the words of what a record says stand in its bytes.
pub(crate) fn check_words(importer: &dyn Importer, record: &Record) {
    if !importer.keeps_words() || !writes_plainly(&record.bytes) {
        return;
    }
    let mut said = Vec::new();
    for part in &record.content.parts {
        match &part.body {
            PartBody::Text(text) | PartBody::Thinking(text) | PartBody::Summary(text) => {
                said.push(text.clone());
            }
            PartBody::Result(outcome) => said.push(outcome.text.clone()),
            PartBody::Call(call) => {
                said.push(call.tool.clone());
                said_in(&call.args, &mut said);
            }
        }
    }
    for word in said.iter().flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric())) {
        let stands_there = memmem::find(&record.bytes, word.as_bytes()).is_some();
        assert!(stands_there || may_be_added(word.as_bytes()), "{}: {word:?}", importer.format());
    }
}
