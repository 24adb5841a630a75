//! `sed`: in place or not, and whether its script writes files.

use super::command::{Arg, Options, Part};
use super::reader::Reader;

pub(super) fn run(reader: &mut Reader, args: &[Arg]) {
    let mut in_place = false;
    let mut script_seen = false;
    let mut files: Vec<&Arg> = Vec::new();
    for part in Options::new(args, &["-e", "--expression", "-f", "--file", "-l", "--line-length"]) {
        match part {
            Part::Option("-e" | "--expression", script) => {
                script_seen = true;
                if script.is_none_or(|script| !script.certain || !only_edits(&script.text)) {
                    reader.tally.hide();
                }
            }
            Part::Option("-f" | "--file", _) => {
                script_seen = true;
                reader.tally.hide();
            }
            Part::Option("--in-place", _) => in_place = true,
            // `-i`, `-i.bak`, `-ni`, `-Ei`; a suffix for a backup comes after the letter.
            Part::Option(option, _) if !option.starts_with("--") => {
                let letters = option.trim_start_matches('-');
                let flags = letters.bytes().take_while(|b| b"nErsuz".contains(b)).count();
                in_place |= letters.get(flags..).is_some_and(|rest| rest.starts_with('i'));
            }
            Part::Option(..) => {}
            // BSD sed takes the suffix as a word of its own, most often an empty one.
            Part::Operand(operand) if in_place && !script_seen && operand.text.is_empty() => {}
            Part::Operand(operand) if !script_seen => {
                script_seen = true;
                // An unquoted variable in a substitution is common; it could hold anything.
                if !operand.certain || !only_edits(&operand.text) {
                    reader.tally.hide();
                }
            }
            Part::Operand(operand) => files.push(operand),
        }
    }
    for file in files {
        if in_place {
            reader.write(file);
        } else {
            reader.touch(&file.text);
        }
    }
}

/// Whether a sed script only edits the text that flows through it: no `w`, `W` or `e`. A script that is not
/// understood does not.
fn only_edits(script: &str) -> bool {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', ';', '{', '}']);
        let Some(after) = skip_addresses(rest) else { return false };
        rest = after.trim_start_matches([' ', '!', '\t']);
        let Some(command) = rest.chars().next() else { return true };
        rest = rest.get(command.len_utf8()..).unwrap_or_default();
        match command {
            '{' | '}' => continue,
            'p' | 'P' | 'd' | 'D' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | 'z' | '=' | 'F' => {}
            'q' | 'Q' | 'l' | 'L' => rest = rest.trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit()),
            'a' | 'i' | 'c' => {
                rest = after_text(rest);
                continue;
            }
            'b' | 't' | 'T' | ':' | 'r' | 'R' | '#' => {
                let ends: &[char] =
                    if matches!(command, 'b' | 't' | 'T') { &['\n', ';', '}'] } else { &['\n'] };
                rest = rest.find(ends).and_then(|end| rest.get(end..)).unwrap_or_default();
            }
            's' | 'y' => {
                let Some(delimiter) = rest.chars().next() else { return false };
                let Some(after) =
                    skip_delimited(rest.get(delimiter.len_utf8()..).unwrap_or_default(), delimiter, 2)
                else {
                    return false;
                };
                let flags = after.bytes().take_while(|b| b"gpiImM0123456789".contains(b)).count();
                rest = after.get(flags..).unwrap_or_default();
            }
            _ => return false,
        }
        // A command ends with a separator; anything else right behind it is not understood.
        if !rest.is_empty() && !rest.starts_with([' ', '\t', '\n', ';', '}', '{']) {
            return false;
        }
    }
}

/// What follows a text: the lines after the first that does not end with a backslash.
fn after_text(text: &str) -> &str {
    let mut rest = text;
    loop {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        rest = after;
        if after.is_empty() || !line.ends_with('\\') {
            return rest;
        }
    }
}

/// Skips `ADDR[,ADDR]`.
fn skip_addresses(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        rest = match rest.chars().next() {
            Some('/') => skip_delimited(rest.get(1..)?, '/', 1)?.trim_start_matches(['I', 'M']),
            Some('\\') => {
                let delimiter = rest.get(1..)?.chars().next()?;
                skip_delimited(rest.get(1 + delimiter.len_utf8()..)?, delimiter, 1)?
            }
            Some('$') => rest.get(1..)?,
            Some(c) if c.is_ascii_digit() => {
                rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '~')
            }
            Some('+') => rest.get(1..)?.trim_start_matches(|c: char| c.is_ascii_digit()),
            _ => rest,
        };
        match rest.trim_start_matches([' ', '\t']).strip_prefix(',') {
            Some(more) => rest = more.trim_start_matches([' ', '\t']),
            None => return Some(rest),
        }
    }
}

/// Skips `count` texts that `delimiter` ends; it ends them even inside of brackets, as in GNU sed.
fn skip_delimited(text: &str, delimiter: char, count: usize) -> Option<&str> {
    let mut escaped = false;
    let mut left = count;
    for (at, c) in text.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == delimiter {
            left -= 1;
            if left == 0 {
                return text.get(at + c.len_utf8()..);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_that_writes_or_runs_is_not_taken_for_an_edit() {
        for edits in [
            "1,5p",
            "302,400p",
            "/class A/,/^class /p",
            "s/a/b/g",
            "s|/usr|/opt|; s/x/y/2",
            "$d",
            "10q",
            "/x/!d",
            "s/w file/e/",
            "1i\\\nw text\n",
            "5a hello w x",
            "/a/{s/b/c/;p}",
            ":a;N;$!ba;s/\\n/ /g",
            "y/abc/xyz/",
            "\\,x,p",
        ] {
            assert!(only_edits(edits), "{edits}");
        }
        for acts in
            ["w /etc/passwd", "s/a/b/w out", "s/x/y/e", "1e rm -rf /", "/a/w f", "p;w f", "s/a/b", "W f", "k"]
        {
            assert!(!only_edits(acts), "{acts}");
        }
    }
}
