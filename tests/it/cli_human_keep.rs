//! What people read when they keep, let go and look after a vault, on a story that stays the same. `SNAPSHOTS=overwrite` writes the words anew.

#![expect(clippy::needless_raw_string_hashes, reason = "snapbox writes the snapshots")]

use snapbox::{IntoData as _, assert_data_eq, str};

use crate::cli_story::{SESSION, compacted, lines_of, shown, told};

#[test]
fn demands() {
    let sandbox = told();
    assert_data_eq!(
        shown(&sandbox, &["demand", "list"]),
        str![[r#"
no demands: the policy assumes an audit ("spanvault policy show")

"#]]
        .raw()
    );
    let add =
        ["demand", "add", "audit", "--path", "/etc", "--for", "10d", "--actor", "ann", "--reason", "review"];
    assert_data_eq!(
        shown(&sandbox, &add),
        str![[r#"
demand d43: audit of path /etc until [INSTANT]
  needs 2 originals as of now

"#]]
        .raw()
    );
    assert_data_eq!(
        shown(&sandbox, &["demand", "list"]),
        str![[r#"
DEMAND  KIND   SCOPE      UNTIL                 STATE     ACTOR  REASON
d43     audit  path /etc  [INSTANT]  in force  ann    review

"#]]
        .raw()
    );
    let demand = sandbox.json_one(&["demand", "list"])["demand"].as_str().unwrap().to_owned();
    let withdraw = ["demand", "withdraw", &demand, "--actor", "ann", "--reason", "done"];
    assert_data_eq!(
        shown(&sandbox, &withdraw),
        str![[r#"
demand d43 withdrawn; nothing is removed by that

"#]]
        .raw()
    );
}

#[test]
fn holds() {
    let sandbox = told();
    assert_data_eq!(
        shown(&sandbox, &["hold", "list"]),
        str![[r#"
no holds

"#]]
        .raw()
    );
    assert_data_eq!(
        shown(&sandbox, &["hold", "add", "s5", "--actor", "ann"]),
        str![[r#"
hold h43 on span s5: keeps 1 original

"#]]
        .raw()
    );
    assert_data_eq!(
        shown(&sandbox, &["hold", "list"]),
        str![[r#"
HOLD  SCOPE    STATE     ACTOR  REASON
h43   span s5  in force  ann    -

"#]]
        .raw()
    );
    let hold = sandbox.json_one(&["hold", "list"])["hold"].as_str().unwrap().to_owned();
    let release = ["hold", "release", &hold, "--actor", "ann", "--reason", "settled"];
    assert_data_eq!(
        shown(&sandbox, &release),
        str![[r#"
hold h43 released; nothing is removed by that

"#]]
        .raw()
    );
}

#[test]
fn retention_and_policy() {
    let sandbox = told();
    assert_data_eq!(
        shown(&sandbox, &["retention", "show"]),
        str![[r#"
no rules: nothing is ever due ("spanvault retention set --keep-for D")

"#]]
        .raw()
    );
    let set = [
        "retention",
        "set",
        "--class",
        "structured",
        "--keep-for",
        "90d",
        "--hot-for",
        "7d",
        "--actor",
        "ann",
    ];
    assert_data_eq!(
        shown(&sandbox, &set),
        str![[r#"
rule 43 for structured
  hot for      7d
  keep for     90d
  grace        as before

"#]]
        .raw()
    );
    assert_data_eq!(
        shown(&sandbox, &["retention", "show"]),
        str![[r#"
RULE  SCOPE       HOT FOR  KEEP FOR  GRACE  SET AT                ACTOR  REASON
43    structured  7d       90d       -      [INSTANT]  ann    -

"#]]
        .raw()
    );
    assert_data_eq!(
        shown(&sandbox, &["policy", "show"]),
        str![[r#"
assumed audit  until 90d after the recording
default grace  1d
retention      1 rule

"#]]
        .raw()
    );
    assert_data_eq!(
        shown(&sandbox, &["policy", "set", "--assume", "none", "--actor", "ann"]),
        str![[r#"
assumed audit  none
default grace  1d
retention      1 rule

"#]]
        .raw()
    );
}

#[test]
fn tier_run() {
    let sandbox = compacted();
    assert_data_eq!(
        shown(&sandbox, &["tier", "run"]),
        str![[r#"
demoted 0 originals

"#]]
        .raw()
    );
    assert_data_eq!(
        shown(&sandbox, &["tier", "run", "--hot-for", "0s", "--dry-run"]),
        str![[r#"
would demote 35 originals, 10.6 KiB (dry run: nothing was moved)

"#]]
        .raw()
    );
    let ran = shown(&sandbox, &["tier", "run", "--hot-for", "0s"]);
    assert_data_eq!(ran.lines().next().unwrap(), str!["demoted 35 originals"].raw());
}

#[test]
fn reclaim_in_two_runs() {
    let sandbox = compacted();
    assert_data_eq!(
        shown(&sandbox, &["reclaim"]),
        str![[r#"
0 due
  condemned    0
  reclaimed    0
  rescued      0
  refused      0
  freed        0 bytes on the disk
  next         waiting alone brings nothing more

"#]]
        .raw()
    );
    sandbox.ok(&["hold", "add", "s6", "--actor", "ann"]);
    sandbox.ok(&["policy", "set", "--assume", "none"]);
    sandbox.ok(&["retention", "set", "--keep-for", "1ms", "--grace", "1ms"]);
    let first = without_sizes(&shown(&sandbox, &["reclaim"]));
    assert_data_eq!(
        both_ends(&first),
        str![[r#"
condemn  s3       216 bytes
condemn  s5       205 bytes
refuse   s6       275 bytes  Held (hold h48 keeps it)
condemn  s7       243 bytes
condemn  s8       237 bytes
condemn  s9       246 bytes
condemn  s38      154 bytes  a context shows it: its tombstone will stand there
35 due
  condemned    33
  reclaimed    0
  rescued      0
  refused      2: Held 1, OpenObligation 1
  next         [INSTANT]

"#]]
        .raw()
    );
    let second = without_sizes(&shown(&sandbox, &["reclaim"]));
    assert_data_eq!(
        both_ends(&second),
        str![[r#"
reclaim  s3       216 bytes  told: m43
reclaim  s5       205 bytes  told: m43
refuse   s6       275 bytes  Held (hold h48 keeps it)
reclaim  s7       243 bytes  told: m43
reclaim  s8       237 bytes  told: m43
reclaim  s9       246 bytes  told: m43
reclaim  s38      154 bytes  a context shows it: its tombstone will stand there
35 due
  condemned    0
  reclaimed    33
  rescued      0
  refused      2: Held 1, OpenObligation 1
  next         waiting alone brings nothing more

"#]]
        .raw()
    );
    let answer = sandbox.run(&["ask", "--text", "port: 8443"]);
    assert_eq!(answer.code, 0, "what is held is still there: {}", answer.out);
    let answer = sandbox.run(&["ask", "--text", "legacy_port"]);
    assert_eq!(answer.code, 5);
    assert_data_eq!(
        sandbox.steady(&answer.out),
        str![[r#"
insufficient evidence
  searched  2 of 35 originals, 498 bytes, in 1 session: incomplete
  reclaimed  s3 3f30acf2b798, tombstone at 65, [DIR]/story.jsonl index 0
  reclaimed  s5 134a1573a157, tombstone at 66, [DIR]/story.jsonl index 1
  reclaimed  s7 16539cda89ca, tombstone at 67, [DIR]/story.jsonl index 3
  reclaimed  s8 2030f1699289, tombstone at 68, [DIR]/story.jsonl index 4
  reclaimed  s9 b5b2c3ed5547, tombstone at 69, [DIR]/story.jsonl index 5
  reclaimed  s10 5d6d968f2a6e, tombstone at 70, [DIR]/story.jsonl index 6
  reclaimed  s11 09adcb8b90f7, tombstone at 71, [DIR]/story.jsonl index 7
  reclaimed  s13 2330d49e16b8, tombstone at 72, [DIR]/story.jsonl index 9
  reclaimed  s14 4d165673f661, tombstone at 73, [DIR]/story.jsonl index 10
  reclaimed  s15 92b275c7ad6d, tombstone at 74, [DIR]/story.jsonl index 11
            and 23 more

"#]]
        .raw()
    );
    let gone = sandbox.run(&["recover", "s9"]);
    assert_eq!(gone.code, 5);
    assert_data_eq!(
        sandbox.steady(&gone.err),
        str![[r#"
error: read the original at 9: reclaimed, see its tombstone at 69
hint: its bytes were removed when their retention had ended; the tombstone says by which permit

"#]]
        .raw()
    );
}

/// The first six lines and the last seven.
fn both_ends(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines_of(lines.iter().take(6).chain(lines.iter().skip(lines.len() - 7)).copied())
}

/// The line about freed bytes depends on the file system.
fn without_sizes(text: &str) -> String {
    lines_of(text.lines().filter(|line| !line.contains("on the disk")))
}

#[test]
fn capacity() {
    let sandbox = compacted();
    sandbox.ok(&["hold", "add", "--session", SESSION, "--actor", "ann"]);
    assert_data_eq!(
        shown(&sandbox, &["capacity", "--budget", "1MiB"]),
        str![[r#"
originals      10.6 KiB
growth         10.6 KiB a day
budget         1.0 MiB, reached at [INSTANT]
first to end   demand assumed at [INSTANT]

kept by
  no rule              35 originals, 10.6 KiB, 1,069 tokens
  the assumed audit    35 originals, 10.6 KiB, 1,069 tokens
  leases               14 originals, 3.8 KiB, 342 tokens
  hold h48             35 originals, 10.6 KiB, 1,069 tokens
  session story        35 originals, 10.6 KiB, 1,069 tokens

refused as it stands, of 2 verdicts
  OpenObligation       1 span, 223 bytes, 14 tokens

ways out, what frees most first
  none: nothing is kept beyond its retention by one thing alone

"#]]
        .raw()
    );
}

#[test]
fn stats() {
    assert_data_eq!(
        without_sizes(&shown(&compacted(), &["stats"])),
        str![[r#"
sessions       1
spans          35
hot            35 originals, 10.6 KiB, 1,069 tokens
cold           0 originals, 0 bytes, 0 tokens
reclaimed      0 originals, 0 bytes, 0 tokens
summaries      1, 14 citations

"#]]
        .raw()
    );
}

#[test]
fn health() {
    let shown = shown(&compacted(), &["health"]);
    let steady = lines_of(shown.lines().filter(|line| !line.contains("lag")));
    assert_data_eq!(
        steady,
        str![[r#"
sound, at [INSTANT] and log position 47
  clock        trusted
  condemned    0
  at risk      no summaries
  expired      evidence lost to retention: 0 of the summaries
  overrides    0

"#]]
        .raw()
    );
}

#[test]
fn confirm_clock() {
    let sandbox = told();
    let confirm = ["confirm-clock", "--at", "2020-01-01T00:00:00Z", "--reason", "a test", "--actor", "ann"];
    assert_data_eq!(
        shown(&sandbox, &confirm),
        str![[r#"
store time was [INSTANT] and is [INSTANT]

"#]]
        .raw()
    );
    let future = sandbox.run(&["confirm-clock", "--at", "2999-01-01T00:00:00Z", "--reason", "a test"]);
    assert_eq!(future.code, 2);
    assert_data_eq!(
        future.err,
        str![[r#"
error: confirm the clock: the instant is later than this machine's clock says
hint: set the machine's clock right first, then confirm what it shows

"#]]
        .raw()
    );
}

#[test]
fn refusals_and_log() {
    let sandbox = compacted();
    assert_data_eq!(
        shown(&sandbox, &["refusals"]),
        str![[r#"
DECIDED               OPERATION  SUBJECT      BYTES  TOKENS  REASONS
[INSTANT]  compact    s12      223 bytes      14  OpenObligation (a promise or a call in it is open)
way out        carry what is open: "spanvault checkpoint story"
way out        do what was promised, or record the missing result
way out        leave it in the context as it is

"#]]
        .raw()
    );
    let log = shown(&sandbox, &["log"]);
    let last: Vec<&str> = log.lines().rev().take(6).collect();
    assert_data_eq!(lines_of(last.into_iter().rev()), str![[r#"
42  commit           citations 0, first 41, originals 36, store_time [INSTANT], summaries 0
43  summarised       citations 14, covers 14, decided_at [INSTANT], generation 1, leases 14, mode pointer_rewrite, revision 42, session 2, summarizer builtin, summary m43
44  refused          decided_at [INSTANT], operation compact, refused 1, revision 42
45  commit           citations 14, first 43, originals 36, store_time [INSTANT], summaries 1
46  index closed     applied 45
47  commit           citations 14, first 46, originals 36, store_time [INSTANT], summaries 1

"#]].raw());
}

#[test]
fn verify_and_rebuild() {
    let sandbox = compacted();
    assert_data_eq!(
        shown(&sandbox, &["verify", "--read-data"]),
        str![[r#"
sound: every byte was hashed again
  originals    36, 10.6 KiB
  log          47 frames, chain holds

"#]]
        .raw()
    );
    assert_data_eq!(
        shown(&sandbox, &["rebuild"]),
        str![[r#"
rebuilt the index and the sidecars from 47 frames

"#]]
        .raw()
    );
}
