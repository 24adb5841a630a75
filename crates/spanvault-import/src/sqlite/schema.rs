//! What tables a database has, and what their columns are called.
//!
//! That stands there as the text of `CREATE TABLE` statements. Of these only what decides where a value stands is read:
//! the names, which column is the number of the row, and which one is computed and not stored.

use std::io::{self, Read, Seek};

use super::{Row, Table, Value, damaged};

/// A longer statement is not read; the program's own limit is just below.
const STATEMENT_BYTES_MAX: usize = 1 << 20;
/// Words that begin what is no column.
const CONSTRAINTS: [&str; 5] = ["constraint", "primary", "unique", "check", "foreign"];

/// The table that holds all others, on the first page.
pub(super) fn table() -> Table {
    let columns = ["type", "name", "tbl_name", "rootpage", "sql"];
    Table { name: String::new(), root: 1, columns: columns.map(str::to_owned).to_vec(), row_id: None }
}

/// The table that a row of that one tells of; `None` for indexes, views, tables that are no ordinary ones, and those of
/// other names.
pub(super) fn table_of<R: Read + Seek>(
    schema: &Table,
    row: &mut Row<'_, R>,
    names: &[&str],
) -> io::Result<Option<Table>> {
    let mut get = |name| row.get(schema.column(name));
    let (kind, name) = (get("type")?, get("name")?.text().unwrap_or_default().to_ascii_lowercase());
    let root = get("rootpage")?.integer().and_then(|root| u32::try_from(root).ok());
    let is_wanted = kind == Value::Text("table".to_owned()) && names.contains(&name.as_str());
    let Some(root) = root.filter(|root| *root > 0 && is_wanted) else { return Ok(None) };
    let sql = get("sql")?.text().unwrap_or_default();
    if sql.len() > STATEMENT_BYTES_MAX {
        return Err(damaged("a table has too many columns"));
    }
    let (columns, row_id) = columns_of(&sql);
    Ok(Some(Table { name, root, columns, row_id }))
}

/// The columns of a `CREATE TABLE` statement, and which of them is the number of the row.
pub(super) fn columns_of(sql: &str) -> (Vec<String>, Option<usize>) {
    let mut columns = Vec::new();
    // Which columns could be the number of the row, and the name of the one that is.
    let (mut integers, mut key) = (Vec::new(), None);
    for definition in definitions(sql) {
        let [first, rest @ ..] = definition.as_slice() else { continue };
        if !first.is_quoted && CONSTRAINTS.contains(&first.text.as_str()) {
            if has(&definition, &["primary", "key", "("]) {
                let mut inside = rest.iter().filter(|word| word.depth == 2);
                key = inside
                    .next()
                    .filter(|_| inside.all(|word| word.is(")")))
                    .map(|word| word.text.clone())
                    .or(key);
            }
            continue;
        }
        if has(rest, &["as", "("]) && !has(rest, &["stored"]) {
            continue;
        }
        if rest.first().is_some_and(|word| word.is("integer")) && !has(rest, &["key", "desc"]) {
            integers.push(columns.len());
        }
        if has(rest, &["primary", "key"]) {
            key = Some(first.text.clone());
        }
        columns.push(first.text.clone());
    }
    let row_id = integers.into_iter().find(|n| key.is_some() && columns.get(*n) == key.as_ref());
    (columns, row_id)
}

/// A word, a name in quotes, or a sign.
#[derive(Debug)]
struct Word {
    /// In small letters.
    text: String,
    is_quoted: bool,
    /// In how many brackets it stands; an opening one stands outside, a closing one inside.
    depth: u32,
}

impl Word {
    fn is(&self, text: &str) -> bool {
        !self.is_quoted && self.text == text
    }
}

/// Whether these words follow each other, outside of inner brackets.
fn has(definition: &[Word], words: &[&str]) -> bool {
    let outside: Vec<&Word> = definition.iter().filter(|word| word.depth == 1).collect();
    outside.windows(words.len()).any(|found| found.iter().zip(words).all(|(found, word)| found.is(word)))
}

/// What stands between the commas of the outer brackets.
fn definitions(sql: &str) -> Vec<Vec<Word>> {
    let mut definitions = vec![Vec::new()];
    let mut depth = 0_u32;
    let mut rest = sql;
    while let Some(c) = rest.chars().next() {
        let (len, word) = match c {
            '-' if rest.starts_with("--") => (rest.find('\n').unwrap_or(rest.len()), None),
            '/' if rest.starts_with("/*") => (rest.find("*/").map_or(rest.len(), |end| end + 2), None),
            '"' | '`' | '\'' | '[' => {
                let (len, text) = quoted(rest, if c == '[' { ']' } else { c });
                (len, Some((text, true)))
            }
            c if c.is_whitespace() => (c.len_utf8(), None),
            c if is_of_word(c) => {
                let len = rest.find(|c| !is_of_word(c)).unwrap_or(rest.len());
                (len, Some((rest.get(..len).unwrap_or_default().to_ascii_lowercase(), false)))
            }
            sign => (sign.len_utf8(), Some((sign.to_string(), false))),
        };
        rest = rest.get(len..).unwrap_or_default();
        let Some((text, is_quoted)) = word else { continue };
        let sign = if is_quoted { "" } else { text.as_str() };
        if sign == "," && depth == 1 {
            definitions.push(Vec::new());
            continue;
        }
        let (before, after) = match sign {
            "(" => (depth, depth + 1),
            ")" => (depth, depth.saturating_sub(1)),
            _ => (depth, depth),
        };
        depth = after;
        if before > 0 && after > 0 {
            definitions
                .last_mut()
                .into_iter()
                .for_each(|last| last.push(Word { text: text.clone(), is_quoted, depth: before }));
        } else if sign == ")" {
            break;
        }
    }
    definitions
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// The length of what begins with a quotation mark, and what it says; a mark that is doubled stands for itself.
fn quoted(text: &str, mark: char) -> (usize, String) {
    let mut said = String::new();
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = characters.next() {
        if c == mark && characters.next_if(|(_at, next)| *next == mark && mark != ']').is_none() {
            return (at + 1, said.to_lowercase());
        }
        said.push(c);
    }
    (text.len(), said.to_lowercase())
}
