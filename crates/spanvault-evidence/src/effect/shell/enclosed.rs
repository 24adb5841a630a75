//! Where what is enclosed in quotes, brackets and here-documents ends.

/// Whether a piece of text that is skipped could run a script.
pub(super) fn runs_scripts(text: &str) -> bool {
    text.contains("$(") || text.contains('`') || text.contains("<(")
}

/// Where the body of a here-document ends and where the text after its delimiter starts.
pub(super) fn split_body(text: &str, delimiter: &str, strip: bool) -> (usize, usize) {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end_matches(['\n', '\r']);
        let bare = if strip { bare.trim_start_matches('\t') } else { bare };
        if bare == delimiter {
            return (at, at + line.len());
        }
        at += line.len();
    }
    (text.len(), text.len())
}

/// One past the parenthesis that closes what is open before `from`. Knows quotes, comments and here-documents,
/// whose insides may hold anything.
pub(super) fn end_of_parens(text: &str, from: usize) -> Option<usize> {
    #[derive(PartialEq, Clone, Copy)]
    enum Inside {
        Parens,
        Quotes,
        Braces,
    }
    let bytes = text.as_bytes();
    let mut open = vec![Inside::Parens];
    let mut waiting: Vec<(String, bool)> = Vec::new();
    let mut at = from;
    while let Some(&byte) = bytes.get(at) {
        let inside = *open.last()?;
        let next = bytes.get(at + 1).copied();
        at += 1;
        match (byte, inside) {
            (b'\\', _) => at += 1,
            (b'"', Inside::Parens | Inside::Braces) => open.push(Inside::Quotes),
            (b'$', _) if next == Some(b'(') => {
                open.push(Inside::Parens);
                at += 1;
            }
            (b'$', _) if next == Some(b'{') => {
                open.push(Inside::Braces);
                at += 1;
            }
            (b'"', Inside::Quotes) | (b'}', Inside::Braces) => {
                open.pop();
            }
            (b'\'', Inside::Parens | Inside::Braces) => at += text.get(at..)?.find('\'')? + 1,
            (b'(', Inside::Parens) => open.push(Inside::Parens),
            (b')', Inside::Parens) => {
                open.pop();
                if open.is_empty() {
                    return Some(at);
                }
            }
            (b'#', Inside::Parens) if at >= 2 && bytes.get(at - 2).is_some_and(u8::is_ascii_whitespace) => {
                at += text.get(at..)?.find('\n')?;
            }
            (b'<', Inside::Parens) if next == Some(b'<') && bytes.get(at + 1) != Some(&b'<') => {
                at += 1;
                let strip = bytes.get(at) == Some(&b'-');
                let rest = text.get(at + usize::from(strip)..)?;
                let word = rest.trim_start_matches([' ', '\t']);
                let end =
                    word.find(|c: char| c.is_whitespace() || ";&|()<>".contains(c)).unwrap_or(word.len());
                let delimiter: String = word.get(..end)?.chars().filter(|c| !"'\"\\".contains(*c)).collect();
                // `$((1 << 2))`: no here-document starts with a number here.
                if !delimiter.is_empty() && !delimiter.starts_with(|c: char| c.is_ascii_digit()) {
                    waiting.push((delimiter, strip));
                }
            }
            (b'<', Inside::Parens) if next == Some(b'<') => at += 2,
            (b'\n', Inside::Parens) => {
                for (delimiter, strip) in waiting.drain(..) {
                    at += split_body(text.get(at..)?, &delimiter, strip).1;
                }
            }
            _ => {}
        }
    }
    None
}

/// One past the brace that closes `${`.
pub(super) fn end_of_braces(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut open = 1_usize;
    let mut at = from;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'{' => open += 1,
            b'}' => {
                open -= 1;
                if open == 0 {
                    return Some(at + 1);
                }
            }
            b'\n' => return None,
            _ => {}
        }
        at += 1;
    }
    None
}

/// Where `$'…'` ends.
pub(super) fn end_of_ansi_quotes(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let ends = byte == b'\'' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })
}

/// The text of `$'…'`: the common escapes; others are kept as they are written.
pub(super) fn without_ansi_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match rest.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some(escaped @ ('\\' | '\'' | '"')) => out.push(escaped),
            Some(other) => {
                out.push('\\');
                out.push(other);
            }
            None => out.push('\\'),
        }
    }
    out
}
