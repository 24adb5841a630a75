//! Words that can be looked for in the bytes of an original before it is read.
//!
//! A *word* here is a run of ASCII letters and digits. JSON never has to escape one, so where a reader only decodes,
//! cuts and joins, a word of what it says stands in the bytes as it is. Three things could come between: an escape that
//! stands for a letter or digit ([`writes_plainly`]), text that the reader makes up ([`may_be_added`]), and a reader that
//! does more than that (`Importer::keeps_words`). What is left out on purpose: all other characters. They are what joints
//! and escapes are made of.

use memchr::memmem;

use crate::{Importer, by_name};

/// The words of all text that the importers of this crate put there themselves, in any format.
const ADDED: [&str; 10] = [
    "action",
    "bash",
    "command",
    "compaction",
    "encrypted",
    "file",
    "image",
    "mcp",
    "redacted_thinking",
    "revised_prompt",
];

/// Whether every word of what an original of this format says stands in its bytes, if [`writes_plainly`] holds for them
/// and it is none that [`may_be_added`].
pub fn keeps_words(format: &str) -> bool {
    by_name(format).is_ok_and(Importer::keeps_words)
}

/// Whether a reader may put this word, or text that it is a part of, where the original has none.
pub fn may_be_added(word: &[u8]) -> bool {
    ADDED.iter().any(|added| memmem::find(added.as_bytes(), word).is_some())
}

/// Whether all letters and digits that `original` says stand there as they are, at whatever depth of JSON inside JSON.
///
/// An escaped backslash counts too: with it, text inside a string can hold an escape that no byte here shows.
pub fn writes_plainly(original: &[u8]) -> bool {
    memmem::find_iter(original, b"\\u").all(|at| {
        let digits = original.get(at + 2..at + 6).and_then(|digits| std::str::from_utf8(digits).ok());
        let unit = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let character = unit.map(char::from_u32);
        // Half of a pair is no letter of ASCII; what is no escape is nothing that is known.
        character.is_some_and(|c| c.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '\\'))
    })
}

#[cfg(test)]
mod tests {
    use super::writes_plainly;

    #[test]
    fn an_escaped_letter_or_backslash_hides_words_and_other_escapes_do_not() {
        for plain in ["", "plain", r"\n\t\\ \/", r"\u001b[0m", r"\u003c \u00e9 \ud83d\ude00", r"\ud83d"] {
            assert!(writes_plainly(plain.as_bytes()), "{plain}");
        }
        for hidden in
            [r"n\u0065edle", r"\\u0065", r"\u005cu0065", r"\u005C", r"\u0039", r"\u", r"\uzzzz", r"\u00e"]
        {
            assert!(!writes_plainly(hidden.as_bytes()), "{hidden}");
        }
    }
}
