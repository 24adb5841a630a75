//! Just enough of a command line to tell whether two calls ask for the same thing: its simple commands, without
//! redirections, directory changes and the filters that only trim output.

/// A simple command, cut into words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Simple {
    pub(crate) words: Vec<String>,
}

impl Simple {
    /// The program, without its directory.
    pub(crate) fn program(&self) -> &str {
        self.words.first().map_or("", |word| word.rsplit('/').next().unwrap_or(word))
    }
}

/// How much of a command line is read.
const BYTES_MAX: usize = 16 * 1024;

/// The simple commands of a line that do the work.
pub(crate) fn simple_commands(line: &str) -> Vec<Simple> {
    let mut end = line.len().min(BYTES_MAX);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    let mut commands = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut piped = false;
    let mut chars = line[..end].chars().peekable();
    while let Some(c) = chars.next() {
        match (c, quote) {
            (_, Some(open)) if c == open => quote = None,
            ('\\', None | Some('"')) => word.get_or_insert_default().extend(chars.next()),
            (_, Some(_)) => word.get_or_insert_default().push(c),
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (';' | '|' | '&' | '\n' | '(' | ')', None) => {
                words.extend(word.take());
                let joins = c == '&'
                    && (words.last().is_some_and(|word| word.ends_with('>')) || chars.peek() == Some(&'>'));
                if joins {
                    continue;
                }
                finish(std::mem::take(&mut words), piped, &mut commands);
                let doubled = chars.peek() == Some(&c);
                piped = c == '|' && !doubled;
                if doubled {
                    chars.next();
                }
            }
            _ if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    finish(words, piped, &mut commands);
    commands
}

fn finish(words: Vec<String>, piped: bool, commands: &mut Vec<Simple>) {
    let mut kept = Vec::with_capacity(words.len());
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        let redirects = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&');
        if redirects.starts_with(['>', '<']) {
            if redirects.chars().all(|c| matches!(c, '>' | '<')) {
                words.next();
            }
        } else if kept.is_empty()
            && (word.contains('=') && !word.starts_with('-')
                || matches!(
                    word.as_str(),
                    "sudo" | "time" | "env" | "command" | "timeout" | "then" | "do" | "!"
                ))
        {
            if word == "timeout" {
                words.next();
            }
        } else {
            kept.push(word);
        }
    }
    let simple = Simple { words: kept };
    let trims = ["head", "tail", "less", "cat", "sort", "uniq", "wc", "tee", "grep", "cut", "column"];
    let only_trims = piped && !commands.is_empty() && trims.contains(&simple.program());
    let idle = matches!(
        simple.program(),
        "" | "cd" | "echo" | "true" | "set" | "export" | "source" | "." | "pwd" | "done" | "fi"
    );
    if !only_trims && !idle {
        commands.push(simple);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(line: &str) -> Vec<String> {
        simple_commands(line).into_iter().map(|simple| simple.words.join(" ")).collect()
    }

    #[test]
    fn what_only_moves_or_trims_is_left_out() {
        assert_eq!(
            cut("cd /x && FOO=1 go test ./... -run 'A|B' 2>&1 | tail -20"),
            ["go test ./... -run A|B"]
        );
        assert_eq!(cut("cat a | grep b"), ["cat a"]);
        assert_eq!(cut("grep -rn foo . ; rm -f x > /dev/null"), ["grep -rn foo .", "rm -f x"]);
    }

    #[test]
    fn no_line_is_too_strange() {
        assert_eq!(cut("'unclosed"), ["unclosed"]);
        assert_eq!(cut("&& || ;; | \\"), Vec::<String>::new());
        assert_eq!(simple_commands(&"é;".repeat(100_000)).len(), BYTES_MAX / 3);
    }
}
