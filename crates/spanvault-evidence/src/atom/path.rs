//! File paths and URLs.

use super::AtomKind;
use super::chunk::is_unspaced;
use super::scan::Found;

/// A path or URL inside of a chunk.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct InChunk {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) is_url: bool,
}

/// Endings of file names that make a name without a directory a path, sorted.
const EXTENSIONS: &[&str] = &[
    "astro", "avi", "bak", "bash", "bat", "bib", "bin", "bmp", "bz2", "c", "cc", "cert", "cfg", "clj", "cmd",
    "conf", "cpp", "crt", "cs", "css", "csv", "cxx", "dart", "db", "dcm", "deb", "diff", "dll", "doc",
    "docx", "dylib", "env", "eps", "erl", "ex", "exe", "exs", "gif", "go", "gradle", "gz", "h", "h5", "hcl",
    "hpp", "hs", "htm", "html", "ico", "ics", "ini", "ipynb", "jar", "java", "jinja", "jpeg", "jpg", "js",
    "json", "jsonl", "jsx", "key", "kt", "kts", "less", "lock", "log", "lua", "m4a", "md", "mdx", "mjs",
    "mk", "ml", "mod", "mov", "mp3", "mp4", "nix", "npy", "npz", "odt", "onnx", "orig", "out", "parquet",
    "patch", "pdf", "pem", "php", "pkl", "pl", "plist", "png", "pot", "ppt", "pptx", "proto", "ps1", "pt",
    "py", "pyc", "pyi", "pyx", "r", "rb", "rej", "rpm", "rs", "rst", "rtf", "sass", "scala", "scss", "sh",
    "so", "sql", "sqlite", "sqlite3", "srt", "sum", "svelte", "svg", "swift", "tar", "tex", "tf", "tfvars",
    "tgz", "toml", "traj", "ts", "tsv", "tsx", "ttf", "txt", "vim", "vue", "war", "wasm", "wav", "webm",
    "webp", "whl", "xls", "xlsx", "xml", "xz", "yaml", "yml", "zig", "zip", "zsh", "zst",
];

/// The length of the longest of them, in bytes.
const EXTENSION_BYTES_MAX: usize = 7;

/// File names without an ending that are paths all the same.
const NAMES: &[&str] = &[
    ".gitignore",
    ".gitattributes",
    ".env",
    ".dockerignore",
    ".editorconfig",
    ".npmrc",
    ".bashrc",
    ".zshrc",
];

/// A path in normal form: without `./` before it and `/` behind it.
pub(super) fn found(text: &str, start: usize, end: usize) -> Found<'_> {
    let words = text.get(start..end).unwrap_or_default();
    let bare = words.strip_prefix("./").unwrap_or(words);
    let bare = if bare.len() > 1 { bare.trim_end_matches('/') } else { bare };
    let normal = if bare.contains("//") { bare.replace("//", "/").into() } else { bare.into() };
    Found { kind: AtomKind::Path, start, end, normal }
}

/// A URL in normal form: scheme and host in lower case, no slash at the end.
pub(super) fn found_url(text: &str, start: usize, end: usize) -> Found<'_> {
    let words = text.get(start..end).unwrap_or_default();
    let host = words.find("://").map_or(0, |at| at + 3);
    let host_end = words.get(host..).and_then(|rest| rest.find('/')).map_or(words.len(), |at| host + at);
    let (head, tail) = words.split_at(host_end);
    let normal = format!("{}{}", head.to_ascii_lowercase(), tail.trim_end_matches('/'));
    Found { kind: AtomKind::Url, start, end, normal: normal.into() }
}

/// The longest URL that is read as one, in bytes.
const URL_BYTES_MAX: usize = 4 << 10;

/// A URL whose scheme ends the chunk `start..end`: where it starts and ends.
pub(super) fn url(text: &str, start: usize, end: usize) -> Option<(usize, usize)> {
    let chunk = text.get(start..end)?;
    let scheme = chunk
        .bytes()
        .rev()
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
        .count();
    let from = end - scheme.min(20);
    if !text.get(from..end)?.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let body = end + 3;
    let rest = text.get(body..)?;
    let mut open = 0_i32;
    let mut to = body;
    for (at, c) in rest.char_indices() {
        let ends = c.is_whitespace()
            || at > URL_BYTES_MAX
            || matches!(
                c,
                '"' | '\'' | '`' | '<' | '>' | '|' | '\\' | '^' | '{' | '}' | '”' | '’' | '»' | '…'
            )
            || (c > '\u{7f}' && (is_unspaced(c) || !c.is_alphanumeric()));
        if ends {
            break;
        }
        match c {
            '(' | '[' => open += 1,
            ')' | ']' => {
                open -= 1;
                if open < 0 {
                    break;
                }
            }
            _ => {}
        }
        to = body + at + c.len_utf8();
    }
    let words = text.get(from..to)?.trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_', '(', '[']);
    (from + words.len() > body).then_some((from, from + words.len()))
}

/// One past a path that starts with a drive letter, `C:\dir\file` or `C:/dir`; the letter is `start..end`.
pub(super) fn drive(text: &str, start: usize, end: usize) -> Option<usize> {
    let letter = text.get(start..end)?;
    if letter.len() != 1 || !letter.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let rest = text.get(end + 1..)?;
    if !rest.starts_with(['\\', '/']) || rest.starts_with("//") {
        return None;
    }
    let len = rest
        .char_indices()
        .take_while(|(at, c)| {
            *at < 1_024
                && (c.is_alphanumeric()
                    || matches!(c, '\\' | '/' | '.' | '_' | '-' | '~' | '+' | '$' | '@' | '#' | '%'))
        })
        .last()
        .map_or(0, |(at, c)| at + c.len_utf8());
    let words = rest.get(..len)?.trim_end_matches(['.', '\\']);
    words.chars().any(char::is_alphanumeric).then_some(end + 1 + words.len())
}

/// A path or URL in a chunk with slashes; `before` is the character before the chunk.
pub(super) fn in_chunk(text: &str, start: usize, end: usize, before: Option<u8>) -> Option<InChunk> {
    let chunk = text.get(start..end)?;
    if let Some(path) = backslashes(chunk) {
        return Some(InChunk { start: start + path.0, end: start + path.1, is_url: false });
    }
    if !chunk.contains('/') {
        return None;
    }
    // Options and assignments: `-I/usr/include`, `+x/y`, `-o/tmp/a`, `@/components/x` stays whole.
    let lead = if chunk.starts_with('-') { chunk.find('/').filter(|at| *at <= 3).unwrap_or(0) } else { 0 };
    let lead = lead + chunk.get(lead..)?.chars().take_while(|c| matches!(c, '+' | '%' | '#')).count();
    let path = chunk.get(lead..)?;
    let path = end_before_unspaced(path);
    let path = path.trim_end_matches(['.', '-', '+']);
    let from = start + lead;
    let accepted = |is_url| Some(InChunk { start: from, end: from + path.len(), is_url });
    let words = path.chars().any(char::is_alphanumeric);
    if !words || path.len() > 1_024 {
        return None;
    }
    if let Some(rest) = path.strip_prefix('/') {
        // `</div>`, `//comment`, `/>`; `/` after a word is a division or an option.
        let closes_tag = before == Some(b'<');
        let starts_well =
            rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '~' | '@' | '$'));
        let after_word = before.is_some_and(|b| b.is_ascii_alphanumeric() || b == b')' || b == b']');
        return if closes_tag || !starts_well || after_word { None } else { accepted(false) };
    }
    if path.starts_with("~/") || path.starts_with("./") || path.starts_with("../") || path.starts_with('$') {
        return accepted(false);
    }
    let (first, _) = path.split_once('/')?;
    let components: Vec<&str> = path.trim_end_matches('/').split('/').collect();
    if is_host(first) && components.len() >= 2 {
        return accepted(true);
    }
    let last = components.last().copied().unwrap_or_default();
    let plain = |part: &&str| {
        !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || "._-@+~$%#".contains(c))
    };
    if !components.iter().all(plain)
        || path.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'/' | b'.' | b'-' | b','))
    {
        return None;
    }
    let has_ending = last.rsplit_once('.').is_some_and(|(name, ending)| {
        !name.is_empty()
            && (1..=8).contains(&ending.len())
            && ending.starts_with(|c: char| c.is_ascii_alphabetic())
            && ending.bytes().all(|b| b.is_ascii_alphanumeric())
    });
    let names_directory = path.ends_with('/') && components.iter().all(|part| part.len() > 1);
    let deep = components.len() >= 3 && components.iter().filter(|part| part.len() > 1).count() >= 3;
    if has_ending || names_directory || deep || NAMES.contains(&last) { accepted(false) } else { None }
}

/// `\\server\share\file`, or `dir\sub\file.ext`.
fn backslashes(chunk: &str) -> Option<(usize, usize)> {
    let name =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || "._-$~#@+%".contains(c));
    if let Some(rest) = chunk.strip_prefix("\\\\") {
        let parts: Vec<&str> = rest.trim_end_matches('\\').split('\\').collect();
        let server = parts.first().is_some_and(|server| server.len() >= 2);
        return (server && parts.len() >= 2 && parts.iter().all(|part| name(part)))
            .then_some((0, chunk.len()));
    }
    let parts: Vec<&str> = chunk.split('\\').collect();
    // Two letters at least in each: `\n` and `\w+` are no directories.
    (parts.len() >= 3
        && parts.iter().all(|part| part.len() >= 2 && name(part))
        && is_file_name(parts.last()?))
    .then_some((0, chunk.len()))
}

/// The chunk up to the first letter of a script without spaces that directly follows the ending of a file name:
/// in `/tmp/a.txt然后` the path ends before `然`.
fn end_before_unspaced(path: &str) -> &str {
    let Some(at) = path.find(is_unspaced) else { return path };
    let head = path.get(..at).unwrap_or(path);
    let last = head.rsplit('/').next().unwrap_or(head);
    if is_file_name(last) { head } else { path }
}

/// Whether a word is the name of a file: it has a known ending.
pub(super) fn is_file_name(word: &str) -> bool {
    if NAMES.contains(&word) {
        return true;
    }
    let Some((name, ending)) = word.rsplit_once('.') else { return false };
    // `IMG.JPG` is a file, `t.Log` is a method.
    let shouted = ending.len() <= 6 && !ending.bytes().any(|b| b.is_ascii_lowercase());
    let known = is_extension(ending) || (shouted && is_extension(&ending.to_ascii_lowercase()));
    if !known {
        return false;
    }
    let stem = name.trim_start_matches('.');
    let named = !stem.is_empty()
        && stem.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '@' | '+' | '~'))
        && stem.chars().any(char::is_alphabetic);
    // `e.g`, `x.r`: one letter of an ending needs more of a name.
    named && (ending.len() > 1 || stem.len() >= 2) && !is_attribute(stem, ending)
}

fn is_extension(ending: &str) -> bool {
    ending.len() <= EXTENSION_BYTES_MAX && PACKED.binary_search(&packed(ending)).is_ok()
}

/// The known endings as numbers, in the same order.
const PACKED: [u64; EXTENSIONS.len()] = {
    let mut numbers = [0; EXTENSIONS.len()];
    let mut at = 0;
    while at < numbers.len() {
        numbers[at] = packed(EXTENSIONS[at]);
        at += 1;
    }
    numbers
};

/// A word of at most seven bytes as a number, its length in the last byte: no two have one, and those of words without
/// a zero byte are in the order of the words.
const fn packed(word: &str) -> u64 {
    let (mut number, mut rest) = (word.len() as u64, word.as_bytes());
    let mut room = 64;
    while let Some((byte, after)) = rest.split_first() {
        room -= 8;
        number |= (*byte as u64) << room;
        rest = after;
    }
    number
}

/// Whether a name with a dot is rather an attribute in code: `process.env`, `console.log`, `self.db`.
fn is_attribute(stem: &str, ending: &str) -> bool {
    const ENDINGS: &[&str] = &[
        "bin", "c", "cfg", "db", "diff", "env", "h", "key", "lock", "log", "mod", "out", "patch", "r", "so",
        "sum",
    ];
    const OWNERS: &[&str] = &[
        "args",
        "config",
        "console",
        "context",
        "ctx",
        "e",
        "elem",
        "entry",
        "event",
        "import.meta",
        "item",
        "it",
        "kv",
        "logger",
        "log",
        "math",
        "Math",
        "node",
        "np",
        "obj",
        "object",
        "options",
        "opts",
        "os",
        "pair",
        "process",
        "req",
        "request",
        "res",
        "response",
        "row",
        "self",
        "slog",
        "sys",
        "this",
        "torch",
    ];
    ENDINGS.contains(&ending) && OWNERS.contains(&stem)
}

/// Whether the first component of a path is the name of a host.
fn is_host(word: &str) -> bool {
    const TOPS: &[&str] =
        &["com", "org", "net", "io", "dev", "ai", "gov", "edu", "co", "app", "sh", "cloud", "info", "me"];
    word.rsplit_once('.').is_some_and(|(name, top)| {
        TOPS.contains(&top)
            && !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'.')
    })
}

/// Where in a chunk the number of a context line of grep starts: `path-12-` and what follows.
pub(super) fn context_gutter(bytes: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let chunk = bytes.get(start..end)?;
    let mut from = chunk.iter().position(|b| *b == b'.')?;
    loop {
        let dash = from + chunk.get(from..)?.iter().position(|b| *b == b'-')?;
        let digits = chunk.get(dash + 1..)?.iter().take(10).take_while(|b| b.is_ascii_digit()).count();
        if digits > 0 && chunk.get(dash + 1 + digits) == Some(&b'-') {
            return Some((start + dash, start + dash + digits + 2));
        }
        from = dash + 1;
    }
}

/// Where the scan goes on behind a path that starts a line of output: after the line number of a grep.
pub(super) fn after_gutter(bytes: &[u8], end: usize) -> usize {
    let rest = bytes.get(end..).unwrap_or_default();
    let Some(mark @ (b':' | b'-')) = rest.first() else { return end };
    let digits = rest.iter().skip(1).take(10).take_while(|b| b.is_ascii_digit()).count();
    let closes = rest.get(1 + digits) == Some(mark) && !rest.get(2 + digits).is_some_and(u8::is_ascii_digit);
    if digits > 0 && closes { end + digits + 1 } else { end }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Option<(&str, bool)> {
        in_chunk(text, 0, text.len(), None).map(|found| (&text[found.start..found.end], found.is_url))
    }

    #[test]
    fn paths_are_told_from_words_with_slashes() {
        for whole in [
            "/etc/app/conf.yaml",
            "/tmp",
            "~/notes.md",
            "./run",
            "../a/b",
            "src/main.rs",
            "cmd/entire/cli",
            "tests/",
            "/home/用户/文件.txt",
            "\\\\server\\share\\a.txt",
            "crates\\store\\lib.rs",
            "$HOME/.config",
            "@scope/pkg/index.js",
        ] {
            assert_eq!(path(whole), Some((whole, false)), "{whole}");
        }
        assert_eq!(path("github.com/a/b"), Some(("github.com/a/b", true)));
        assert_eq!(path("/tmp/a.txt然后"), Some(("/tmp/a.txt", false)));
        assert_eq!(path("-I/usr/include"), Some(("/usr/include", false)));
        for word in
            ["and/or", "1/2", "km/h", "TCP/IP", "//", "/", "application/json", "\\n\\t", "\\w+\\d", "n/a"]
        {
            assert_eq!(path(word), None, "{word}");
        }
        assert!(
            is_file_name("README.md")
                && is_file_name(".env")
                && !is_file_name("e.g")
                && !is_file_name("foo.bar")
        );
    }

    #[test]
    fn every_known_ending_is_found() {
        assert!(EXTENSIONS.is_sorted() && PACKED.is_sorted(), "they are searched by halves");
        assert!(
            !is_extension("") && !is_extension("\0") && !is_extension("rs\0") && !is_extension("jsonlines")
        );
        assert_eq!(EXTENSIONS.iter().map(|ending| ending.len()).max(), Some(EXTENSION_BYTES_MAX));
        for ending in EXTENSIONS {
            assert!(is_file_name(&format!("main_file.{ending}")), "{ending}");
            assert!(is_file_name(&format!("MAIN.{}", ending.to_ascii_uppercase())) == (ending.len() <= 6));
        }
    }

    #[test]
    fn a_url_ends_where_its_sentence_goes_on() {
        for (text, expected) in [
            ("https://a.b/c?d=e#f.", "https://a.b/c?d=e#f"),
            ("https://a.b/c) x", "https://a.b/c"),
            ("https://en.wiki/x_(y) z", "https://en.wiki/x_(y)"),
            ("https://a.b/文", "https://a.b/"),
            ("postgres://u:p@h:5432/db\"", "postgres://u:p@h:5432/db"),
        ] {
            let end = text.find("://").unwrap();
            assert_eq!(url(text, 0, end).map(|(from, to)| &text[from..to]), Some(expected), "{text}");
        }
    }
}
