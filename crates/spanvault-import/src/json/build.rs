//! Builds trees from JSON text: whole ones, and sketches of text that is cut off somewhere.

use serde_json::{Map, Value};

use super::decode;
use super::grammar::{skip_name, skip_space, skip_string, skip_value};

/// As deep as `serde_json` goes.
const TREE_DEPTH_MAX: usize = 128;
/// As deep as the marks of a format stand.
const SKETCH_DEPTH_MAX: usize = 6;
/// Shallow sketches show what an object is marked as, and its message.
const SHALLOW_DEPTH_MAX: usize = 2;
const SHALLOW_LEAF_MAX: usize = 256;
/// More elements of one array tell no more about a format.
const SKETCH_ELEMENTS_MAX: usize = 12;

/// The tree of a checked value.
pub(super) fn tree(text: &str) -> Value {
    let mut builder = Builder {
        text,
        at: 0,
        depth_max: TREE_DEPTH_MAX,
        elements_max: usize::MAX,
        leaf_max: usize::MAX,
        cut_off: false,
    };
    builder.value(0).unwrap_or(Value::Null)
}

/// As much as can be seen of the value that `text` starts with, though it may be cut off anywhere.
///
/// A string or number that is not whole is left out, of an array the first elements are enough, and `None`
/// means that `text` starts with no JSON value.
pub(crate) fn sketch(text: &str) -> Option<Value> {
    Builder::sketching(text).value(0)
}

/// As [`sketch`], of an object and the objects in it alone; what takes long to say is left empty. For many lines.
pub(crate) fn sketch_shallow(text: &str) -> Option<Value> {
    let mut builder = Builder::sketching(text);
    builder.depth_max = SHALLOW_DEPTH_MAX;
    builder.leaf_max = SHALLOW_LEAF_MAX;
    builder.value(0)
}

/// As [`sketch`], and whether nothing but white space is known to follow the value.
pub(crate) fn sketch_with_rest(text: &str) -> Option<(Value, bool)> {
    let mut builder = Builder::sketching(text);
    let root = builder.value(0)?;
    let is_alone = builder.cut_off || skip_space(text.as_bytes(), builder.at) == text.len();
    Some((root, is_alone))
}

struct Builder<'a> {
    text: &'a str,
    at: usize,
    depth_max: usize,
    elements_max: usize,
    /// A longer leaf is shown as empty text, in bytes.
    leaf_max: usize,
    /// Nothing can be read from here on: the text ends, or is no JSON.
    cut_off: bool,
}

impl<'a> Builder<'a> {
    fn sketching(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            depth_max: SKETCH_DEPTH_MAX,
            elements_max: SKETCH_ELEMENTS_MAX,
            leaf_max: usize::MAX,
            cut_off: false,
        }
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        self.at = skip_space(self.text.as_bytes(), self.at);
        match self.text.as_bytes().get(self.at) {
            Some(b'{') if depth < self.depth_max => Some(Value::Object(self.object(depth))),
            Some(b'[') if depth < self.depth_max => Some(Value::Array(self.array(depth))),
            _ => self.leaf(),
        }
    }

    fn object(&mut self, depth: usize) -> Map<String, Value> {
        let mut members = Map::new();
        self.at += 1;
        while !self.closes(b'}') {
            let bytes = self.text.as_bytes();
            let start = self.at;
            let (Ok(name_end), Ok(value_at)) = (skip_string(bytes, start), skip_name(bytes, start)) else {
                self.cut_off = true;
                break;
            };
            let name = decode(self.text.get(start..name_end).unwrap_or_default());
            self.at = value_at;
            if let Some(value) = self.value(depth + 1) {
                members.insert(name.into_owned(), value);
            }
        }
        members
    }

    fn array(&mut self, depth: usize) -> Vec<Value> {
        let mut elements = Vec::new();
        self.at += 1;
        while !self.closes(b']') {
            if elements.len() >= self.elements_max {
                self.skip();
            } else if let Some(value) = self.value(depth + 1) {
                elements.push(value);
            }
        }
        elements
    }

    /// Moves over white space and a comma; whether the container ends there.
    fn closes(&mut self, bracket: u8) -> bool {
        let bytes = self.text.as_bytes();
        self.at = skip_space(bytes, self.at);
        if bytes.get(self.at) == Some(&b',') {
            self.at = skip_space(bytes, self.at + 1);
        }
        if self.cut_off {
            return true;
        }
        let closes = bytes.get(self.at) == Some(&bracket);
        self.at += usize::from(closes);
        closes
    }

    fn leaf(&mut self) -> Option<Value> {
        let start = self.at;
        self.skip();
        if self.cut_off {
            return None;
        }
        let literal = self.text.get(start..self.at)?;
        if literal.len() > self.leaf_max {
            return Some(Value::String(String::new()));
        }
        Some(match literal {
            "null" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ if literal.starts_with('"') => Value::String(decode(literal).into_owned()),
            _ => literal.parse().map_or_else(|_too_deep| Value::String(literal.to_owned()), Value::Number),
        })
    }

    fn skip(&mut self) {
        match skip_value(self.text.as_bytes(), self.at) {
            Ok(end) => self.at = end,
            Err(_fault) => self.cut_off = true,
        }
    }
}
