use std::io::Cursor;

use proptest::prelude::*;
use rusqlite::Connection;

use super::schema::columns_of;
use super::*;

/// A database file that the statements make.
fn file(statements: &str) -> Vec<u8> {
    let database = Connection::open_in_memory().unwrap();
    database.execute_batch(statements).unwrap();
    database.serialize("main").unwrap().to_vec()
}

fn open(file: &[u8]) -> io::Result<Database<Cursor<&[u8]>>> {
    Database::open(Cursor::new(file), &["t", "a", "v", "i", "f", "w"])
}

/// All rows of a table, by both ways to them.
fn rows(file: &[u8], table: &str) -> io::Result<Vec<Vec<Value>>> {
    let mut database = open(file)?;
    let Some(table) = database.table(table).cloned() else { return Ok(Vec::new()) };
    let (mut rows, mut places) = (Vec::new(), Vec::new());
    database.scan(&table, &mut |row, place| {
        places.push(place);
        let columns = 0..table.columns.len();
        rows.push(columns.map(|n| row.get(Some(n))).collect::<io::Result<Vec<_>>>()?);
        Ok(())
    })?;
    for (place, found) in places.into_iter().zip(&rows) {
        let mut row = database.row(&table, place)?;
        // From the last column to the first: the order does not matter.
        for (n, value) in found.iter().enumerate().rev() {
            assert_eq!(row.get(Some(n))?, *value);
        }
    }
    Ok(rows)
}

/// What the library says is in a table.
fn rows_of_library(statements: &str, table: &str) -> Vec<Vec<Value>> {
    let database = Connection::open_in_memory().unwrap();
    database.execute_batch(statements).unwrap();
    let mut query = database.prepare(&format!("SELECT * FROM {table} ORDER BY rowid")).unwrap();
    let columns = query.column_count();
    let mut found = query.query([]).unwrap();
    let mut rows = Vec::new();
    while let Some(row) = found.next().unwrap() {
        let value = |n| match row.get_ref(n).unwrap() {
            rusqlite::types::ValueRef::Null => Value::Null,
            rusqlite::types::ValueRef::Integer(number) => Value::Integer(number),
            // The file holds it as the whole number that it is.
            #[expect(clippy::cast_possible_truncation, reason = "the numbers are small")]
            rusqlite::types::ValueRef::Real(number) if number.fract() == 0.0 => Value::Integer(number as i64),
            rusqlite::types::ValueRef::Real(number) => Value::Real(number),
            rusqlite::types::ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
            rusqlite::types::ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
        };
        rows.push((0..columns).map(value).collect());
    }
    rows
}

/// A table of `n` rows, some of them long.
fn many(n: usize, page_bytes: usize) -> String {
    format!(
        "PRAGMA page_size = {page_bytes};
         CREATE TABLE t(id INTEGER PRIMARY KEY, said TEXT, n REAL);
         WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM c WHERE x < {n})
         INSERT INTO t SELECT x, substr(hex(zeroblob(x * x % 9000)) || 'é' || x, 1, x * x % 9000), x / 2.0 FROM c;"
    )
}

#[test]
fn tables_of_many_pages_and_rows_over_several_pages_are_read_as_the_library_reads_them() {
    for page_bytes in [512, 4_096, 65_536] {
        let statements = many(700, page_bytes);
        let found = rows(&file(&statements), "t").unwrap();
        assert_eq!(found.len(), 700);
        assert!(found == rows_of_library(&statements, "t"), "pages of {page_bytes} bytes");
    }
}

#[test]
fn a_column_that_came_later_is_null_in_the_rows_before_it_and_a_computed_one_is_not_stored() {
    let statements = "CREATE TABLE t(a TEXT, b AS (a || 'x') VIRTUAL, c INT AS (length(a)) STORED, d);
         INSERT INTO t(a, d) VALUES ('one', x'00ff'), (NULL, -1);
         ALTER TABLE t ADD COLUMN e TEXT;
         INSERT INTO t(a, e) VALUES ('two', 'new');";
    let file = file(statements);
    assert_eq!(open(&file).unwrap().table("t").unwrap().columns, ["a", "c", "d", "e"]);
    let text = |text: &str| Value::Text(text.to_owned());
    let found = rows(&file, "t").unwrap();
    assert_eq!(found[0], [text("one"), Value::Integer(3), Value::Blob(vec![0, 255]), Value::Null]);
    assert_eq!(found[1], [Value::Null, Value::Null, Value::Integer(-1), Value::Null]);
    assert_eq!(found[2], [text("two"), Value::Integer(3), Value::Null, text("new")]);
}

#[test]
fn a_table_that_is_not_asked_for_is_not_read_and_one_of_too_many_columns_is_damage() {
    let columns: Vec<String> = (0..1_900).map(|n| format!("{}{n}", "c".repeat(600))).collect();
    let file = file(&format!("CREATE TABLE t({0}); CREATE TABLE other(x);", columns.join(",")));
    assert!(open(&file).err().unwrap().to_string().contains("too many columns"));
    let other = Database::open(Cursor::new(&file[..]), &["other"]).unwrap();
    assert!(other.table("t").is_none() && other.table("other").is_some());
}

#[test]
fn text_in_utf_16_and_a_file_in_write_ahead_mode_are_read() {
    for encoding in ["UTF-16le", "UTF-16be"] {
        let file = file(&format!(
            "PRAGMA encoding = '{encoding}'; CREATE TABLE t(a); INSERT INTO t VALUES ('é😀');"
        ));
        assert_eq!(rows(&file, "t").unwrap(), [[Value::Text("é😀".to_owned())]]);
    }
    let mut file = file("CREATE TABLE t(a); INSERT INTO t VALUES (1);");
    file[18..20].copy_from_slice(&[2, 2]);
    assert_eq!(rows(&file, "t").unwrap(), [[Value::Integer(1)]]);
}

#[test]
fn names_are_found_in_whatever_way_the_statement_writes_them() {
    for (sql, columns, row_id) in [
        (
            "CREATE TABLE t(Id INTEGER PRIMARY KEY AUTOINCREMENT, b TEXT DEFAULT ('a,b'))",
            vec!["id", "b"],
            Some(0),
        ),
        ("CREATE TABLE t(a INT PRIMARY KEY, b)", vec!["a", "b"], None),
        ("CREATE TABLE t(a INTEGER PRIMARY KEY DESC, b)", vec!["a", "b"], None),
        ("CREATE TABLE t(a, b INTEGER, PRIMARY KEY (b), UNIQUE (a, b))", vec!["a", "b"], Some(1)),
        ("CREATE TABLE t(a, b INTEGER, PRIMARY KEY (b, a))", vec!["a", "b"], None),
        (
            "CREATE TABLE \"a,(\"(\"x \"\"y\", [b c], `d`, 'e', \"check\")",
            vec!["x \"y", "b c", "d", "e", "check"],
            None,
        ),
        (
            "CREATE TABLE t(a -- one, two\n, /* (three */ b CHECK (b IN (1, 2)), CONSTRAINT c CHECK (a > 0)) STRICT",
            vec!["a", "b"],
            None,
        ),
    ] {
        assert_eq!(columns_of(sql), (columns.into_iter().map(str::to_owned).collect(), row_id), "{sql}");
    }
}

#[test]
fn what_is_no_ordinary_table_is_none() {
    let file = file(
        "CREATE TABLE a(x); CREATE VIEW v AS SELECT x FROM a; CREATE INDEX i ON a(x);
         CREATE VIRTUAL TABLE f USING fts5(x); CREATE TABLE w(x PRIMARY KEY) WITHOUT ROWID; INSERT INTO w VALUES (1);",
    );
    let database = open(&file).unwrap();
    assert!(database.table("a").is_some());
    for none in ["v", "i", "f", "sqlite_schema"] {
        assert!(database.table(none).is_none(), "{none}");
    }
    assert!(rows(&file, "w").unwrap_err().to_string().contains("no way that can be read"));
}

#[test]
fn a_file_that_is_cut_off_anywhere_is_an_error() {
    let whole = file(&many(100, 512));
    for len in (0..whole.len()).step_by(97) {
        assert!(rows(&whole[..len], "t").is_err(), "{len}");
    }
}

#[test]
fn pages_that_point_in_circles_are_followed_no_further_than_there_are_pages() {
    let whole = file(&many(400, 512));
    let mut told = std::collections::BTreeSet::new();
    for page in 1..whole.len() / 512 {
        let mut file = whole.clone();
        let start = page * 512;
        match file[start] {
            // Every page below becomes this one.
            5 => {
                let number = u32::try_from(page + 1).unwrap().to_be_bytes();
                file[start + 8..start + 12].copy_from_slice(&number);
                for cell in 0..usize::from(u16::from_be_bytes([file[start + 3], file[start + 4]])) {
                    let at = usize::from(file[start + 12 + 2 * cell]) << 8
                        | usize::from(file[start + 13 + 2 * cell]);
                    file[start + at..start + at + 4].copy_from_slice(&number);
                }
            }
            // A row of 2^35 bytes, and one of some pages more than there are.
            13 => {
                let at = usize::from(file[start + 8]) << 8 | usize::from(file[start + 9]);
                file[start + at..start + at + 3].copy_from_slice(if page % 2 == 0 {
                    &[0xff, 0xff, 0x7f]
                } else {
                    &[0xff; 3]
                });
            }
            _ => continue,
        }
        told.insert(rows(&file, "t").unwrap_err().to_string());
    }
    assert!(told.iter().any(|error| error.contains("circles")), "{told:?}");
}

proptest! {
    #[test]
    fn no_damage_makes_it_panic_or_read_more_than_there_is(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        in_header: bool,
    ) {
        static WHOLE: std::sync::LazyLock<Vec<u8>> = std::sync::LazyLock::new(|| file(&many(60, 512)));
        let mut file = WHOLE.clone();
        let room = if in_header { 600 } else { file.len() };
        for (at, to) in changes {
            file[at.index(room)] = to;
        }
        let Ok(mut database) = open(&file) else { return Ok(()) };
        let Some(table) = database.table("t").cloned() else { return Ok(()) };
        let mut bytes = 0;
        // Not all damage can be seen.
        let _seen = database.scan(&table, &mut |row, _place| {
            for n in 0..table.columns.len().min(4) {
                if let Value::Text(text) = row.get(Some(n))? {
                    bytes += text.len();
                }
            }
            Ok(())
        });
        // What is no UTF-8 takes three bytes for one.
        prop_assert!(bytes <= 3 * 4 * file.len());
    }

    #[test]
    fn values_of_any_kind_are_read_as_the_library_reads_them(
        values in prop::collection::vec(prop_oneof![
            Just("NULL".to_owned()), any::<i64>().prop_map(|n| if n == i64::MIN { "0".into() } else { n.to_string() }),
            (-70_000_i64..70_000).prop_map(|n| n.to_string()),
            any::<i32>().prop_map(|n| format!("{n}.000125")), "[ -&(-~é]{0,40}".prop_map(|text| format!("'{text}'")),
            prop::collection::vec(any::<u8>(), 0..30).prop_map(|bytes| {
                let digits: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                format!("x'{}'", digits.concat())
            }),
        ], 1..40),
    ) {
        let insert = |value| format!("INSERT INTO t VALUES ({value}, 'x', {value});");
        let inserts = values.iter().map(insert).collect::<Vec<_>>().concat();
        let statements = format!("CREATE TABLE t(a, b, c); {inserts}");
        prop_assert_eq!(rows(&file(&statements), "t").unwrap(), rows_of_library(&statements, "t"));
    }
}
