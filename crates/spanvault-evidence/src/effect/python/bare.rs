//! Python code without its comments and the insides of its strings.

/// Code of which only names and operators are left.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Bare {
    /// The code; the expressions of f-strings stay, and so does nothing else of a string. `open(…)` for reading is
    /// left out.
    pub(super) code: String,
    /// The paths that it opens for reading.
    pub(super) reads: Vec<String>,
}

impl Bare {
    /// Reads code; `None` where a string does not end.
    pub(super) fn of(code: &str) -> Option<Self> {
        let mut bare = Self { code: String::with_capacity(code.len()), reads: Vec::new() };
        let mut rest = code;
        while let Some(c) = rest.chars().next() {
            match c {
                '#' => rest = rest.find('\n').and_then(|end| rest.get(end..)).unwrap_or_default(),
                '"' | '\'' => {
                    let (inside, after) = string(rest)?;
                    let prefix: String = bare.code.chars().rev().take(2).collect();
                    bare.code.push(' ');
                    if prefix.contains(['f', 'F']) {
                        bare.code.push_str(&expressions(inside));
                        bare.code.push(' ');
                    }
                    rest = after;
                }
                'o' if !bare.code.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.') => {
                    match opened_for_reading(rest) {
                        Some((path, after)) => {
                            bare.reads.extend(path.map(str::to_owned));
                            bare.code.push(' ');
                            rest = after;
                        }
                        None => rest = bare.push(rest, c)?,
                    }
                }
                _ => rest = bare.push(rest, c)?,
            }
        }
        Some(bare)
    }

    fn push<'a>(&mut self, rest: &'a str, c: char) -> Option<&'a str> {
        self.code.push(c);
        rest.get(c.len_utf8()..)
    }
}

/// The inside of the string literal at the start of `text`, and what follows it.
pub(super) fn string(text: &str) -> Option<(&str, &str)> {
    let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| text.starts_with(*quote))?;
    let inside = text.get(quote.len()..)?;
    let mut escaped = false;
    for (at, c) in inside.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == '\n' && quote.len() == 1 {
            return None;
        } else if inside.get(at..).is_some_and(|rest| rest.starts_with(quote)) {
            return Some((inside.get(..at)?, inside.get(at + quote.len()..)?));
        }
    }
    None
}

/// How long the arguments of `open` may be, in bytes.
const OPEN_BYTES_MAX: usize = 400;

/// `open(PATH)` or `open(PATH, 'r…', …)` at the start of `text`: the path where it is a literal, and what follows.
/// `None` where it may open for anything else.
fn opened_for_reading(text: &str) -> Option<(Option<&str>, &str)> {
    let rest = text.strip_prefix("open(")?.trim_start();
    let (path, after) = if rest.starts_with(['"', '\'']) {
        let (inside, after) = string(rest)?;
        (Some(inside), after)
    } else {
        // A name: whatever it holds, opening it does nothing by itself.
        let end = rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.'))?;
        (None, rest.get(end..)?)
    };
    let after = after.trim_start();
    if let Some(after) = after.strip_prefix(')') {
        return Some((path, after));
    }
    let mode = after.strip_prefix(',')?.trim_start();
    let mode = mode.strip_prefix("mode=").unwrap_or(mode);
    let (reads, after) = if mode.starts_with(['"', '\'']) {
        let (mode, after) = string(mode)?;
        (mode.starts_with('r') && !mode.contains('+'), after)
    } else {
        (mode.starts_with("encoding=") || mode.starts_with("errors="), mode)
    };
    // What is left are keywords with plain values.
    let close = after.find(')').filter(|at| *at <= OPEN_BYTES_MAX)?;
    let plain = !after.get(..close)?.contains(['(', '\n']) && !after.get(..close)?.contains("mode");
    (reads && plain).then_some((path, after.get(close + 1..)?))
}

/// The expressions between the braces of an f-string.
fn expressions(text: &str) -> String {
    let mut code = String::new();
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                code.push(' ');
            }
            _ if depth > 0 => code.push(c),
            _ => {}
        }
    }
    code
}
