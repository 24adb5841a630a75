//! What people read when they look and ask, on a story that stays the same. `SNAPSHOTS=overwrite` writes the words anew.

#![expect(clippy::needless_raw_string_hashes, reason = "snapbox writes the snapshots")]

use snapbox::{IntoData as _, assert_data_eq, str};

use crate::cli_story::{SESSION, compacted, lines_of, shown};

#[test]
fn sessions() {
    assert_data_eq!(
        shown(&compacted(), &["sessions"]),
        str![[r#"
SESSION  SPANS  TOKENS     BYTES  SUMMARIES  SUMMARISED  SOURCES
story       35   1,069  10.6 KiB          1          14  [DIR]/story.jsonl

"#]]
        .raw()
    );
}

#[test]
fn spans() {
    let all = shown(&compacted(), &["spans"]);
    let first = lines_of(all.lines().take(12));
    assert_data_eq!(first, str![[r#"
SPAN  HASH          INDEX  ROLE       KIND         CLASS               BYTES  TOKENS  NOTES               TIER  EXPIRES  SUMMARY
s3    3f30acf2b798      0  user       message      narrative       216 bytes      21  -                   hot   never    m43
s5    134a1573a157      1  assistant  message      narrative       205 bytes      10  promise kept        hot   never    m43
s6    0e6d10f83828      2  assistant  tool_call    side_effecting  275 bytes      19  -                   hot   never    m43
s7    16539cda89ca      3  tool       tool_result  side_effecting  243 bytes      12  -                   hot   never    m43
s8    2030f1699289      4  assistant  message      narrative       237 bytes      18  -                   hot   never    m43
s9    b5b2c3ed5547      5  assistant  tool_call    structured      246 bytes      12  -                   hot   never    m43
s10   5d6d968f2a6e      6  tool       tool_result  structured      211 bytes       4  negative            hot   never    m43
s11   09adcb8b90f7      7  assistant  message      narrative       216 bytes      12  negative            hot   never    m43
s12   6a69dda179bf      8  assistant  message      narrative       223 bytes      14  promise open, live  hot   never    -
s13   2330d49e16b8      9  assistant  tool_call    structured      242 bytes      11  -                   hot   never    m43
s14   4d165673f661     10  tool       tool_result  structured      462 bytes      67  negative            hot   never    m43

"#]].raw());
}

#[test]
fn show() {
    let sandbox = compacted();
    let spans = sandbox.json(&["spans"]);
    assert_data_eq!(
        shown(&sandbox, &["show", spans[2]["span"].as_str().unwrap()]),
        str![[r#"
span s6
hash           0e6d10f838281408b6d65e7cd374bab495cb98c293538fd10723895dd7258d93
session        story
source         [DIR]/story.jsonl index 2
kind           tool call by assistant
class          side-effecting
size           275 bytes, 19 tokens
time           [INSTANT]
negative       no
keeps          the promise of s5
tier           hot
expires        never
summary        m43 stands for it in the context

Write {"content":"port: 8443\nworkers: 4\n","file_path":"/etc/app/conf.yaml"}

"#]]
        .raw()
    );
    assert_data_eq!(
        shown(&sandbox, &["show", spans[8]["span"].as_str().unwrap()]),
        str![[r#"
span s12
hash           6a69dda179bf6989828618aa6921303acba91b4784db3e01c093cf89f398b97e
session        story
source         [DIR]/story.jsonl index 8
kind           message by assistant
class          narrative
size           223 bytes, 14 tokens
time           [INSTANT]
negative       no
promise        "I will update the changelog in docs/CHANGELOG.md later.", open
live           obligation: "I will update the changelog in docs/CHANGELOG.md later."
tier           hot
expires        never

I will update the changelog in docs/CHANGELOG.md later.

"#]]
        .raw()
    );
}

#[test]
fn assess() {
    let sandbox = compacted();
    let summary = sandbox.json(&["spans"])[2]["summary"].as_str().unwrap().to_owned();
    assert_data_eq!(
        shown(&sandbox, &["assess", &summary]),
        str![[r#"
summary m43 may serve to go on reading
behind it      14 originals, 14 can be read
dropped        21 details
fidelity       0.0 %
  see what it dropped, and where that stands: "spanvault expand m43"

"#]]
        .raw()
    );
    let ran = sandbox.run(&["assess", &summary, "audit"]);
    assert_eq!(ran.code, 4, "a summary is no evidence");
    assert_data_eq!(
        ran.out,
        str![[r#"
summary m43 may not serve for audit: that rests on originals
behind it      14 originals, 14 can be read
dropped        21 details
fidelity       0.0 %
  ask the originals: "spanvault ask", "audit", "replay", "check" or "executed"
  see what it dropped, and where that stands: "spanvault expand m43"

"#]]
        .raw()
    );
}

#[test]
fn expand() {
    let sandbox = compacted();
    let summary = sandbox.json(&["spans"])[2]["summary"].as_str().unwrap().to_owned();
    assert_data_eq!(
        shown(&sandbox, &["expand", &summary]),
        str![[r#"
summary m43 of session story
generation     1
written by     builtin
mode           pointer rewrite
covers         no summaries
fidelity       0.0 %

text
Asked: Please set the invoice…
Done: Write ×1, Read ×3, Grep ×1.
Told: There is no…
found nothing: Grep "legacy_port" in /srv/app (s10)
changed: /etc/app/conf.yaml: succeeded (s6)
named: INV-2025-08-44719 (s3), /srv/app (s11)
only in what was read: number 1
14 spans; 21 of 21 details not in this text, fidelity 0 %; all of it: spanvault expand m43

originals: 14
  s3       3f30acf2b798 hot        216 bytes
  s5       134a1573a157 hot        205 bytes
  s6       0e6d10f83828 hot        275 bytes
  s7       16539cda89ca hot        243 bytes
  s8       2030f1699289 hot        237 bytes
  s9       b5b2c3ed5547 hot        246 bytes
  s10      5d6d968f2a6e hot        211 bytes
  s11      09adcb8b90f7 hot        216 bytes
  s13      2330d49e16b8 hot        242 bytes
  s14      4d165673f661 hot        462 bytes
  s15      92b275c7ad6d hot        242 bytes
  s16      81d8fa466f06 hot        462 bytes
  s17      b64e2ba07420 hot        242 bytes
  s18      94fe4f9fd2a2 hot        462 bytes

dropped by the text
  7 arguments (0 of 7 kept)
    s6       port: 8443 workers: 4
    s6       /etc/app/conf.yaml
    s13      /srv/app/src/part_00.rs
    s15      /srv/app/src/part_01.rs
    s17      /srv/app/src/part_02.rs
    s9       /srv/app
    s9       legacy_port
  3 calls (0 of 3 kept)
    s9       Grep
    s13      Read
    s6       Write
  1 identifier (0 of 1 kept)
    s3       INV-2025-08-44719
  1 negation (0 of 1 kept)
    s11      There is no legacy_port anywhere under /srv/app
  1 null result (0 of 1 kept)
    s10      No matches found
  3 numbers (0 of 3 kept)
    s6       4
    s14      7
    s6       8443
  5 paths (0 of 5 kept)
    s6       /etc/app/conf.yaml
    s9       /srv/app
    s13      /srv/app/src/part_00.rs
    s15      /srv/app/src/part_01.rs
    s17      /srv/app/src/part_02.rs

"#]]
        .raw()
    );
}

#[test]
fn why() {
    let sandbox = compacted();
    let spans = sandbox.json(&["spans"]);
    assert_data_eq!(
        shown(&sandbox, &["why", spans[2]["span"].as_str().unwrap()]),
        str![[r#"
original 0e6d10f838281408b6d65e7cd374bab495cb98c293538fd10723895dd7258d93
tier           hot
expires        never
kept until     no rule makes it due
spans          s6 in story
cited by       m43

what keeps it
  demand assumed until [INSTANT]
  lease of m43 until [INSTANT], for assumed
  no retention rule: it is never due

"#]]
        .raw()
    );
    sandbox.ok(&["retention", "set", "--keep-for", "1d"]);
    sandbox.ok(&["hold", "add", "--session", SESSION]);
    assert_data_eq!(
        shown(&sandbox, &["why", spans[8]["span"].as_str().unwrap()]),
        str![[r#"
original 6a69dda179bf6989828618aa6921303acba91b4784db3e01c093cf89f398b97e
tier           hot
expires        [INSTANT]
kept until     forever
spans          s12 in story
cited by       no summary

what keeps it
  demand assumed until [INSTANT]
  hold h52 until it is released
  open obligation: I will update the changelog in docs/CHANGELOG.md later.

"#]]
        .raw()
    );
}

#[test]
fn recover_and_restore_to_files() {
    let sandbox = compacted();
    assert_data_eq!(
        shown(&sandbox, &["recover", "s3", "-o", "original.json"]),
        str![[r#"
recovered s3 (3f30acf2b798) to original.json: 216 bytes

"#]]
        .raw()
    );
    assert_data_eq!(
        shown(&sandbox, &["restore", "story.jsonl", "-o", "again.jsonl"]),
        str![[r#"
restored story.jsonl to again.jsonl: 10.6 KiB

"#]]
        .raw()
    );
}

#[test]
fn ask() {
    let sandbox = compacted();
    assert_data_eq!(
        shown(&sandbox, &["ask", "--path", "/etc/**", "--effect", "mutates"]),
        str![[r#"
present
  evidence  s6 0e6d10f83828 bytes 23..155 of [DIR]/story.jsonl index 2
  evidence  s7 16539cda89ca bytes 34..84 of [DIR]/story.jsonl index 3
  searched  35 of 35 originals, 10.6 KiB, in 1 session: complete

"#]]
        .raw()
    );
    assert_data_eq!(
        shown(&sandbox, &["ask", "--tool", "Write", "--get", "arg:content"]),
        str![[r#"
present:
port: 8443
workers: 4
  evidence  s6 0e6d10f83828 bytes 23..155 of [DIR]/story.jsonl index 2
  evidence  s7 16539cda89ca bytes 34..84 of [DIR]/story.jsonl index 3
  searched  35 of 35 originals, 10.6 KiB, in 1 session: complete

"#]]
        .raw()
    );
    assert_data_eq!(
        shown(&sandbox, &["ask", "--tool", "Read", "--count"]),
        str![[r#"
present: 12
  evidence  s13 2330d49e16b8 bytes 23..122 of [DIR]/story.jsonl index 9
  evidence  s14 4d165673f661 bytes 34..303 of [DIR]/story.jsonl index 10
  evidence  s15 92b275c7ad6d bytes 23..122 of [DIR]/story.jsonl index 11
  evidence  s16 81d8fa466f06 bytes 34..303 of [DIR]/story.jsonl index 12
  evidence  s17 b64e2ba07420 bytes 23..122 of [DIR]/story.jsonl index 13
  evidence  s18 94fe4f9fd2a2 bytes 34..303 of [DIR]/story.jsonl index 14
  evidence  s19 6e78f090bc60 bytes 23..122 of [DIR]/story.jsonl index 15
  evidence  s20 64542958f7d9 bytes 34..303 of [DIR]/story.jsonl index 16
  evidence  s21 1a579ca3185c bytes 23..122 of [DIR]/story.jsonl index 17
  evidence  s22 8fe69ed8864b bytes 34..303 of [DIR]/story.jsonl index 18
            and 14 more
  searched  35 of 35 originals, 10.6 KiB, in 1 session: complete

"#]]
        .raw()
    );
    assert_data_eq!(
        shown(&sandbox, &["ask", "--text", "nobody said this"]),
        str![[r#"
absent
  searched  35 of 35 originals, 10.6 KiB, in 1 session: complete

"#]]
        .raw()
    );
    assert_data_eq!(
        sandbox.steady(&sandbox.run(&["ask", "--tool", "Read", "--get", "result"]).out),
        str![[r#"
insufficient evidence (partial): ["fn part() -> u32 { 7 } // nothing of interest stands in this file, it is only long enoughfn part() -> u32 { 7 } // nothing of interest stands in this file, it is only long enoughfn part() -> u32 { 7 } // nothing of interest stands in this file, it is only long enough"]
  evidence  s13 2330d49e16b8 bytes 23..122 of [DIR]/story.jsonl index 9
  evidence  s14 4d165673f661 bytes 34..303 of [DIR]/story.jsonl index 10
  evidence  s15 92b275c7ad6d bytes 23..122 of [DIR]/story.jsonl index 11
  evidence  s16 81d8fa466f06 bytes 34..303 of [DIR]/story.jsonl index 12
  evidence  s17 b64e2ba07420 bytes 23..122 of [DIR]/story.jsonl index 13
  evidence  s18 94fe4f9fd2a2 bytes 34..303 of [DIR]/story.jsonl index 14
  evidence  s19 6e78f090bc60 bytes 23..122 of [DIR]/story.jsonl index 15
  evidence  s20 64542958f7d9 bytes 34..303 of [DIR]/story.jsonl index 16
  evidence  s21 1a579ca3185c bytes 23..122 of [DIR]/story.jsonl index 17
  evidence  s22 8fe69ed8864b bytes 34..303 of [DIR]/story.jsonl index 18
            and 14 more
  searched  35 of 35 originals, 10.6 KiB, in 1 session: complete
  ambiguous  s14 4d165673f661, [DIR]/story.jsonl index 10
  ambiguous  s16 81d8fa466f06, [DIR]/story.jsonl index 12
  ambiguous  s18 94fe4f9fd2a2, [DIR]/story.jsonl index 14
  ambiguous  s20 64542958f7d9, [DIR]/story.jsonl index 16
  ambiguous  s22 8fe69ed8864b, [DIR]/story.jsonl index 18
  ambiguous  s24 f591571be761, [DIR]/story.jsonl index 20
  ambiguous  s26 b83bf20d734e, [DIR]/story.jsonl index 22
  ambiguous  s28 54547f26f37c, [DIR]/story.jsonl index 24
  ambiguous  s30 c1b81fb93382, [DIR]/story.jsonl index 26
  ambiguous  s32 c4b81f20ddb4, [DIR]/story.jsonl index 28
            and 2 more

"#]].raw()
    );
}

#[test]
fn audit_check_and_executed() {
    let sandbox = compacted();
    assert_data_eq!(
        shown(&sandbox, &["audit"]),
        str![[r#"
1 side effect
session story
  s6     0e6d10f83828 mutates  succeeded   Write /etc/app/conf.yaml
  searched  35 of 35 originals, 10.6 KiB, in 1 session: complete

"#]]
        .raw()
    );
    let query = "{\"calls\":{\"path\":{\"glob\":\"/etc/**\"}}}";
    assert_data_eq!(
        shown(&sandbox, &["check", "--query", query, "--claim", "no"]),
        str![[r#"
claim "no": the evidence contradicts it
present
  evidence  s6 0e6d10f83828 bytes 23..155 of [DIR]/story.jsonl index 2
  evidence  s7 16539cda89ca bytes 34..84 of [DIR]/story.jsonl index 3
  searched  35 of 35 originals, 10.6 KiB, in 1 session: complete

"#]]
        .raw()
    );
    assert_data_eq!(
        shown(&sandbox, &["executed", "Write", "{}"]),
        str![[r#"
absent: it was not done (0 attempts)
  searched  35 of 35 originals, 10.6 KiB, in 1 session: complete

"#]]
        .raw()
    );
}
