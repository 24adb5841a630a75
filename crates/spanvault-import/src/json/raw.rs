//! A JSON value in its place.

use std::borrow::Cow;

use serde_json::Value;
use spanvault_types::ByteRange;

use super::grammar::{skip_checked, skip_space, skip_value};
use super::{Fault, build, decode};

/// A checked JSON value as a slice of an original, and where it starts there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Raw<'a> {
    text: &'a str,
    start: usize,
}

impl<'a> Raw<'a> {
    /// The first value in `text` at or after `at`; more may follow it.
    pub(crate) fn first(text: &'a str, at: usize) -> Result<Self, Fault> {
        let start = skip_space(text.as_bytes(), at);
        let end = skip_value(text.as_bytes(), start)?;
        Ok(Self { text: text.get(start..end).ok_or(Fault::Unexpected { at })?, start })
    }

    /// The one value that is all of `text`, but for white space.
    pub(crate) fn whole(text: &'a str) -> Result<Self, Fault> {
        let raw = Self::first(text, 0)?;
        let end = skip_space(text.as_bytes(), raw.end());
        if end == text.len() { Ok(raw) } else { Err(Fault::Unexpected { at: end }) }
    }

    pub(crate) const fn text(&self) -> &'a str {
        self.text
    }

    pub(crate) const fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub(crate) const fn range(&self) -> ByteRange {
        ByteRange { start: self.start as u64, end: self.end() as u64 }
    }

    fn starts_with(&self, byte: u8) -> bool {
        self.text.as_bytes().first() == Some(&byte)
    }

    pub(crate) fn is_object(&self) -> bool {
        self.starts_with(b'{')
    }

    pub(crate) fn is_array(&self) -> bool {
        self.starts_with(b'[')
    }

    pub(crate) fn is_string(&self) -> bool {
        self.starts_with(b'"')
    }

    pub(crate) fn is_null(&self) -> bool {
        self.text == "null"
    }

    pub(crate) fn is_true(&self) -> bool {
        self.text == "true"
    }

    /// The decoded text, if this is a string.
    pub(crate) fn string(&self) -> Option<Cow<'a, str>> {
        self.is_string().then(|| decode(self.text))
    }

    /// The value, if this is `true` or `false`.
    pub(crate) fn boolean(&self) -> Option<bool> {
        match self.text {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// The value, if this is an integer that fits.
    pub(crate) fn integer(&self) -> Option<i64> {
        self.text.parse().ok()
    }

    /// The nearest value, if this is a number that is not beyond all bounds.
    pub(crate) fn float(&self) -> Option<f64> {
        let number = self.starts_with(b'-') || self.text.starts_with(|c: char| c.is_ascii_digit());
        if number { self.text.parse().ok().filter(|value: &f64| value.is_finite()) } else { None }
    }

    /// The members that have these names, `null` taken for absent; of several with one name the last counts.
    pub(crate) fn fields<const N: usize>(&self, names: [&str; N]) -> [Option<Self>; N] {
        let mut found = [None; N];
        for (name, value) in self.members() {
            if let Some((_, slot)) = names.iter().zip(&mut found).find(|(wanted, _)| **wanted == name) {
                *slot = Some(value).filter(|value| !value.is_null());
            }
        }
        found
    }

    /// The member that has this name: see [`Raw::fields`].
    pub(crate) fn field(&self, name: &str) -> Option<Self> {
        let [value] = self.fields([name]);
        value
    }

    /// The text of the member that has this name, if it is a string.
    pub(crate) fn text_field(&self, name: &str) -> Option<Cow<'a, str>> {
        self.field(name)?.string()
    }

    /// Names and values of an object, in order; nothing for any other value.
    pub(crate) fn members(self) -> impl Iterator<Item = (Cow<'a, str>, Self)> {
        let raw = self;
        let mut at = if raw.is_object() { 1 } else { raw.text.len() };
        std::iter::from_fn(move || {
            let name = raw.inner(at)?;
            // What stands between is a colon.
            let value = raw.inner(skip_space(raw.text.as_bytes(), raw.place_after(name)) + 1)?;
            at = raw.after_comma(value);
            Some((decode(name.text), value))
        })
    }

    /// The elements of an array, in order; nothing for any other value.
    pub(crate) fn elements(self) -> impl Iterator<Item = Self> {
        let raw = self;
        let mut at = if raw.is_array() { 1 } else { raw.text.len() };
        std::iter::from_fn(move || {
            let value = raw.inner(at)?;
            at = raw.after_comma(value);
            Some(value)
        })
    }

    /// The value at or after `at` of this one's text, if there is one.
    fn inner(&self, at: usize) -> Option<Self> {
        let bytes = self.text.as_bytes();
        let start = skip_space(bytes, at);
        let end = skip_checked(bytes, start)?;
        Some(Self { text: self.text.get(start..end)?, start: self.start + start })
    }

    /// The place in this one's text after `inner`.
    const fn place_after(&self, inner: Self) -> usize {
        inner.end() - self.start
    }

    /// The place in this one's text after `value` and the comma that follows it; the end where none does.
    fn after_comma(&self, value: Self) -> usize {
        let at = skip_space(self.text.as_bytes(), self.place_after(value));
        if self.text.as_bytes().get(at) == Some(&b',') { at + 1 } else { self.text.len() }
    }

    /// The value as a tree; what is nested deeper than 128 levels stays JSON text, as a string.
    pub(crate) fn value(&self) -> Value {
        build::tree(self.text)
    }
}
