//! Whether SQL only reads.

/// First words of statements that read.
const READS: &[&str] =
    &["select", "show", "explain", "describe", "desc", "values", "table", "with", "use", "pragma"];

/// Words that change something wherever they stand in a statement.
const CHANGES: &[&str] = &[
    "insert", "update", "delete", "drop", "create", "alter", "truncate", "replace", "merge", "grant",
    "revoke", "into", "call", "copy", "attach", "vacuum", "lock", "exec", "execute", "do", "load", "set",
];

/// Whether every statement of `sql` reads and nothing in it writes. What is not understood does not only read.
///
/// Client commands (`\d`, `.tables`) that list are reads; others are not.
pub(super) fn only_reads(sql: &str) -> bool {
    let Some(bare) = without_text(sql) else { return false };
    bare.split(';').map(str::trim).filter(|statement| !statement.is_empty()).all(|statement| {
        if let Some(command) = statement.strip_prefix('\\') {
            return command.starts_with('d') || command.starts_with('l') || command.starts_with("conninfo");
        }
        if let Some(command) = statement.strip_prefix('.') {
            return ["tables", "schema", "databases", "indexes", "headers", "mode"]
                .iter()
                .any(|list| command.starts_with(list));
        }
        let mut words = statement
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(|word| !word.is_empty())
            .map(str::to_ascii_lowercase);
        let Some(first) = words.next() else { return false };
        let assigns = first == "pragma" && statement.contains('=');
        READS.contains(&first.as_str()) && !assigns && !words.any(|word| CHANGES.contains(&word.as_str()))
    })
}

/// `sql` without comments and the insides of quotes; `None` where a quote does not end.
fn without_text(sql: &str) -> Option<String> {
    let mut bare = String::with_capacity(sql.len());
    let mut rest = sql.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\'' | '"' | '`' => {
                rest.find(|next| *next == c)?;
                bare.push(' ');
            }
            '-' if rest.peek() == Some(&'-') => {
                rest.find(|next| *next == '\n');
                bare.push(' ');
            }
            '/' if rest.peek() == Some(&'*') => {
                let mut star = false;
                rest.find(|next| {
                    let ends = star && *next == '/';
                    star = *next == '*';
                    ends
                })?;
                bare.push(' ');
            }
            _ => bare.push(c),
        }
    }
    Some(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_that_writes_anywhere_does_not_only_read() {
        for reads in [
            "select * from t",
            "SELECT 'delete'; show tables",
            "with a as (select 1) select * from a -- drop",
            "\\dt",
            ".tables",
        ] {
            assert!(only_reads(reads), "{reads}");
        }
        for writes in [
            "delete from t",
            "with a as (delete from t returning 1) select * from a",
            "select 1; drop table t",
            "select * into copy from t",
            "select 'open",
            "pragma user_version = 3",
            "\\copy t to 'x'",
        ] {
            assert!(!only_reads(writes), "{writes}");
        }
    }
}
