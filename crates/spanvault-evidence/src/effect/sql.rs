//! Whether SQL only reads.

/// First words of statements that read.
const READS: &[&str] =
    &["select", "show", "explain", "describe", "desc", "values", "table", "with", "use", "pragma"];

/// Words that change something wherever they stand in a statement.
const CHANGES: &[&str] = &[
    "insert", "update", "delete", "drop", "create", "alter", "truncate", "replace", "merge", "grant",
    "revoke", "into", "call", "copy", "attach", "vacuum", "lock", "exec", "execute", "do", "load", "set",
];

/// Functions that only compute or look; any other may do anything.
const PURE: &str = "
    abs age any_value array_agg array_length ascii avg bool_and bool_or btrim cardinality cast ceil ceiling
    char char_length character_length charindex chr coalesce col_description concat concat_ws convert corr
    count countif cume_dist curdate current_database current_date current_schema current_setting
    current_time current_timestamp current_user curtime database date date_add date_diff date_format
    date_part date_sub date_trunc dateadd datediff datetime day decimal decode dense_rank encode every exp
    extract first_value float floor format from_unixtime generate_series gen_random_uuid greatest
    group_concat has_schema_privilege has_table_privilege hex hour if ifnull iif initcap instr isnull
    json_agg json_array json_array_elements json_array_length json_build_object json_each json_extract
    json_group_array json_group_object json_object json_object_agg json_tree json_type json_valid jsonb_agg
    jsonb_array_elements jsonb_array_length jsonb_build_object jsonb_each jsonb_object_agg jsonb_object_keys
    jsonb_pretty jsonb_typeof julianday lag last_value lead least left length ln localtime locate log lower
    lpad ltrim make_date max md5 median min minute mod mode month newid now ntile nullif numeric nvl
    obj_description octet_length percent_rank percentile_cont percentile_disc pg_column_size
    pg_database_size pg_get_constraintdef pg_get_functiondef pg_get_indexdef pg_get_viewdef pg_indexes_size
    pg_is_in_recovery pg_relation_size pg_size_pretty pg_table_size pg_total_relation_size pg_typeof
    position pow power printf quote radians random rank regexp_like regexp_match regexp_matches
    regexp_replace repeat reverse right round row_number row_to_json rpad rtrim second sha256 sign
    split_part sqlite_version sqrt stddev stddev_pop strftime string_agg string_to_array strpos substr
    substring sum time timestamp timestampdiff to_char to_date to_json to_jsonb to_number to_regclass
    to_timestamp total trim trunc typeof unhex unicode unixepoch unix_timestamp unnest upper user uuid
    varchar variance version width_bucket year
";

/// Words that a bracket may follow although they are no functions.
const NO_FUNCTIONS: &str = "
    all and any array as between by case distinct else except exists explain filter from group having in
    intersect interval is join lateral like limit materialized not offset on or order over partition
    recursive row select some then union using values when where with within rollup cube sets
";

/// Pragmas that look something up when they are given a name in brackets.
const PRAGMAS: &[&str] = &[
    "table_info",
    "table_xinfo",
    "table_list",
    "index_info",
    "index_xinfo",
    "index_list",
    "foreign_key_list",
];

/// Pragmas that do something although they are given nothing.
const DEEDS: &[&str] = &["optimize", "incremental_vacuum", "wal_checkpoint", "shrink_memory"];

/// Whether every statement of `sql` reads and nothing in it writes. What is not understood does not only read.
///
/// Client commands (`\d`, `.tables`) that list are reads; others are not.
pub(super) fn only_reads(sql: &str) -> bool {
    let Some(bare) = without_text(sql) else { return false };
    bare.split(';').map(str::trim).filter(|statement| !statement.is_empty()).all(|statement| {
        if let Some(command) = statement.strip_prefix('\\') {
            let name: &str = command.split([' ', '+', '\n', '\t']).next().unwrap_or_default();
            return name.starts_with('d') || ["l", "list", "conninfo"].contains(&name);
        }
        if let Some(command) = statement.strip_prefix('.') {
            return ["tables", "schema", "databases", "indexes", "headers", "mode"]
                .iter()
                .any(|list| command.starts_with(list));
        }
        let mut words = words_of(statement);
        let Some((first, _)) = words.next() else { return false };
        if first == "pragma" {
            return is_pragma_that_looks(statement);
        }
        READS.contains(&first.as_str())
            && words.all(|(word, called)| {
                !CHANGES.contains(&word.as_str())
                    && (!called || is_in(PURE, &word) || is_in(NO_FUNCTIONS, &word))
            })
    })
}

fn is_in(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|known| known == word)
}

/// The words of a statement in lower case, and whether a bracket follows each, as it does a function's name.
fn words_of(statement: &str) -> impl Iterator<Item = (String, bool)> {
    let mut rest = statement;
    std::iter::from_fn(move || {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        rest = rest.trim_start_matches(|c| !is_word(c));
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        (!word.is_empty()).then(|| (word.to_lowercase(), after.trim_start().starts_with('(')))
    })
}

/// Whether a pragma only tells something: it sets nothing and does nothing.
fn is_pragma_that_looks(statement: &str) -> bool {
    let name = words_of(statement).nth(1).map(|(name, _)| name).unwrap_or_default();
    let given = statement.contains(['=', '(']);
    !DEEDS.contains(&name.as_str())
        && (!given || (PRAGMAS.contains(&name.as_str()) && !statement.contains('=')))
}

/// `sql` without comments and the insides of quotes; `None` where a quote does not end.
fn without_text(sql: &str) -> Option<String> {
    let mut bare = String::with_capacity(sql.len());
    let mut rest = sql.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\'' => {
                rest.find(|next| *next == c)?;
                bare.push(' ');
            }
            // It may be a name, also that of a function.
            '"' | '`' => {
                rest.find(|next| *next == c)?;
                bare.push_str(" _ ");
            }
            '-' if rest.peek() == Some(&'-') => {
                rest.find(|next| *next == '\n');
                bare.push(' ');
            }
            '/' if rest.peek() == Some(&'*') => {
                rest.next();
                // What stands in such a comment is run.
                if rest.peek() == Some(&'!') {
                    return None;
                }
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
            "select count(*), max(created_at) from t where id in (select id from u) and now() > date(x)",
            "with a as (select 1), b as materialized (select 2) select * from a join b using (x)",
            "pragma table_info(t)",
            "pragma journal_mode",
            "\\l+",
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
            "pragma journal_mode(wal)",
            "pragma optimize",
            "select setval('s', 1)",
            "select pg_terminate_backend (1)",
            "select writefile('x', 'y')",
            "select my_schema.cleanup()",
            "select \"setval\"('s', 1)",
            "select 1 /*! ; drop table t */",
            "\\lo_import 'x'",
            "\\copy t to 'x'",
        ] {
            assert!(!only_reads(writes), "{writes}");
        }
    }
}
