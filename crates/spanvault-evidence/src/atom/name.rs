//! Identifiers: UUIDs, hashes, tickets, orders, e-mails, addresses, versions; and the names of errors.

use std::net::Ipv6Addr;

use super::AtomKind;
use super::scan::Found;

/// An identifier; hexadecimal ones and addresses are the same in either case.
pub(super) fn found(text: &str, start: usize, end: usize) -> Found<'_> {
    let words = text.get(start..end).unwrap_or_default();
    let bare = match words.strip_prefix('#') {
        // `#W6876713` and `W6876713` are one order; `#175` is not the number 175.
        Some(rest) if !rest.bytes().all(|b| b.is_ascii_digit()) => rest,
        _ => words,
    };
    let normal = if is_uuid(bare) || bare.starts_with("0x") || bare.starts_with("0X") {
        bare.to_ascii_lowercase().into()
    } else {
        bare.into()
    };
    Found { kind: AtomKind::Identifier, start, end, normal }
}

/// Where in `chunk` an identifier starts that goes to its end; `None` where there is none.
pub(super) fn identifier(chunk: &str) -> Option<usize> {
    let from = chunk.len() - chunk.trim_start_matches(['-', '+', '~', '.', '%', '$', '_']).len();
    let word = chunk.get(from..)?;
    if let Some(rest) = word.strip_prefix('#') {
        let named = (1..=40).contains(&rest.len())
            && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        return named.then_some(from);
    }
    let is_one = is_uuid(word)
        || is_ip(word)
        || is_version(word)
        || is_hex(word)
        || is_ticket(word)
        || is_code(word)
        || is_phone(word)
        || ends_with_number(word)
        || is_random(word);
    is_one.then_some(from)
}

fn is_uuid(word: &str) -> bool {
    let lens = [8, 4, 4, 4, 12];
    word.len() == 36
        && word.split('-').count() == lens.len()
        && word
            .split('-')
            .zip(lens)
            .all(|(part, len)| part.len() == len && part.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// `10.0.0.1`.
fn is_ip(word: &str) -> bool {
    word.len() <= 15 && word.parse::<std::net::Ipv4Addr>().is_ok()
}

/// `1.2.3`, `v2`, `v1.0-rc.1`, `^1.2.0`.
fn is_version(word: &str) -> bool {
    let (bare, marked) = match word.strip_prefix(['v', 'V']) {
        Some(bare) => (bare, true),
        None => (word, false),
    };
    let core = bare.find(['-', '+']).map_or(bare, |end| bare.get(..end).unwrap_or_default());
    let numbers = core.split('.').count();
    let suffix = bare.get(core.len()..).unwrap_or_default();
    core.split('.').all(|part| (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()))
        && (numbers >= 3 || (marked && word.len() <= 12))
        && suffix.len() <= 40
        && suffix.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'+'))
}

/// A hash or an address in hexadecimal: letters and digits, in one case.
fn is_hex(word: &str) -> bool {
    if let Some(digits) = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        return !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
    }
    let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
    (7..=128).contains(&word.len())
        && letters > 0
        && letters < word.len()
        && (word.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
            || word.bytes().all(|b| matches!(b, b'0'..=b'9' | b'A'..=b'F')))
}

/// `INV-2025-08-44719`, `JIRA-12`, `AB-1234-X`.
fn is_ticket(word: &str) -> bool {
    let mut parts = word.split('-');
    let Some(first) = parts.next() else { return false };
    let capitals = (1..=12).contains(&first.len())
        && first.starts_with(|c: char| c.is_ascii_uppercase())
        && first.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    capitals
        && word.contains('-')
        && parts.clone().any(|part| part.bytes().any(|b| b.is_ascii_digit()))
        && parts.all(|part| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        })
}

/// `W6876713`, `HAT170`, `ZFA04Y`: capitals and digits.
fn is_code(word: &str) -> bool {
    (5..=40).contains(&word.len())
        && word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        && word.bytes().any(|b| b.is_ascii_uppercase())
        && word.bytes().filter(u8::is_ascii_digit).count() >= 2
}

/// `415-555-0123`: groups of digits, seven or more in all.
fn is_phone(word: &str) -> bool {
    word.bytes().all(|b| b.is_ascii_digit() || b == b'-')
        && word.matches('-').count() >= 2
        && word.bytes().filter(u8::is_ascii_digit).count() >= 7
        && !word.contains("--")
}

/// `lei_wilson_4541`, `issue-1234`: words and a number of three digits or more.
fn ends_with_number(word: &str) -> bool {
    let Some(at) = word.rfind(['_', '-']) else { return false };
    let (name, number) = word.split_at(at);
    let number = number.get(1..).unwrap_or_default();
    number.len() >= 3
        && number.bytes().all(|b| b.is_ascii_digit())
        && name.bytes().any(|b| b.is_ascii_alphabetic())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// `toolu_01RsbapvVyCyx2pY`: a part of ten or more letters and digits that nobody would choose as a name.
fn is_random(word: &str) -> bool {
    word.len() <= 256
        && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
        && word.split(['_', '-']).any(|part| {
            let digits = part.bytes().filter(u8::is_ascii_digit).count();
            let upper = part.bytes().any(|b| b.is_ascii_uppercase());
            let lower = part.bytes().any(|b| b.is_ascii_lowercase());
            let changes = part
                .as_bytes()
                .windows(2)
                .filter(|pair| matches!(pair, [a, b] if a.is_ascii_digit() != b.is_ascii_digit()))
                .count();
            part.len() >= 10
                && digits >= 2
                && (upper || lower)
                && (changes >= 3 || (upper && lower && changes >= 2))
        })
}

/// `name@example.com`.
pub(super) fn is_email(chunk: &str) -> bool {
    let Some((local, domain)) = chunk.split_once('@') else { return false };
    let local_ok = !local.is_empty()
        && local
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-' | b'+' | b'%') || b >= 0x80);
    let Some((host, top)) = domain.rsplit_once('.') else { return false };
    local_ok
        && !host.is_empty()
        && domain.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-'))
        && top.len() >= 2
        && top.chars().all(char::is_alphabetic)
}

/// One past an IPv6 or hardware address that starts at `start`.
pub(super) fn address(text: &str, start: usize) -> Option<usize> {
    let rest = text.get(start..)?;
    let len = rest.bytes().take(46).take_while(|b| b.is_ascii_hexdigit() || *b == b':').count();
    let word = rest.get(..len)?.trim_end_matches(':');
    if word.matches(':').count() < 2
        || !word.bytes().any(|b| b.is_ascii_digit())
        || rest.get(len..)?.starts_with(|c: char| c.is_alphanumeric())
    {
        return None;
    }
    let hardware = word.split(':').count() == 6 && word.split(':').all(|part| part.len() == 2);
    (hardware || word.parse::<Ipv6Addr>().is_ok()).then_some(start + word.len())
}

/// System error numbers by name.
const ERRNO: &[&str] = &[
    "EACCES",
    "EADDRINUSE",
    "EAGAIN",
    "EBADF",
    "EBUSY",
    "ECONNREFUSED",
    "ECONNRESET",
    "EEXIST",
    "EINVAL",
    "EIO",
    "EISDIR",
    "EMFILE",
    "ENETUNREACH",
    "ENOENT",
    "ENOMEM",
    "ENOSPC",
    "ENOTDIR",
    "ENOTEMPTY",
    "ENOTFOUND",
    "EPERM",
    "EPIPE",
    "EROFS",
    "ETIMEDOUT",
    "EXDEV",
    "EINTR",
    "ENOEXEC",
    "ENOTSUP",
    "ERESOLVE",
    "ELIFECYCLE",
];

/// Whether a word names a kind of error: `ValueError`, `java.io.IOException`, `ENOENT`; not a function that
/// handles errors, such as `NewError` or `IsError`.
pub(super) fn is_error(word: &str) -> bool {
    const FUNCTIONS: &[&str] = &["New", "Test", "Run", "Log", "Is", "As", "On", "Handle", "Level", "With"];
    if word.starts_with('E') && ERRNO.contains(&word) {
        return true;
    }
    let name = ["Error", "Exception", "Failure", "Fault"].iter().find_map(|end| word.strip_suffix(end));
    let Some(name) = name.map(|name| name.rsplit('.').next().unwrap_or(name)) else { return false };
    let next_is_upper = |rest: &str| rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_uppercase());
    name.len() >= 2
        && name != "No"
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !FUNCTIONS.iter().any(|verb| name.strip_prefix(verb).is_some_and(next_is_upper))
}

/// Whether a word at the start of a line of output announces an error: `error:`, `Error:`, `fatal:`.
pub(super) fn announces_error(word: &str, next: Option<u8>) -> bool {
    matches!(next, Some(b':' | b'['))
        && ["error", "fatal", "panic", "traceback"].iter().any(|known| known.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_told_from_words() {
        for id in [
            "550e8400-e29b-41d4-a716-446655440000",
            "7e00b6e",
            "288a28ad09abbfbb99a77cdebb779c5a0597e9e8",
            "INV-2025-08-44719",
            "JIRA-12",
            "AB-1234-X",
            "#W6876713",
            "#175",
            "HAT170",
            "ZFA04Y",
            "lei_wilson_4541",
            "amelia_silva_872",
            "toolu_01RsbapvVyCyx2pYJwH6m6ES",
            "10.0.0.1",
            "v1.2.3-rc.1",
            "1.88.0",
            "0xdeadBEEF",
            "415-555-0123",
            "claude-3-5-sonnet-20241022",
            "US133000000121212121212",
        ] {
            assert_eq!(identifier(id), Some(0), "{id}");
        }
        for word in [
            "utf8",
            "x86_64",
            "test_case_1",
            "deadbeef",
            "sha2",
            "foo-2",
            "int64",
            "H2O",
            "step1",
            "v",
            "a1b2",
            "level3_cache",
        ] {
            assert_eq!(identifier(word), None, "{word}");
        }
        assert!(is_email("silva7872@example.com") && !is_email("@scope") && !is_email("a@b"));
        assert_eq!(address("fe80::1 x", 0), Some(7));
        assert_eq!(address("00:1a:2b:3c:4d:5e", 0), Some(17));
        assert_eq!(address("add::fade", 0), None);
        assert!(
            is_error("ValueError")
                && is_error("java.io.IOException")
                && is_error("ENOENT")
                && !is_error("Error")
        );
    }
}
