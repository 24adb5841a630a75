//! What people read when they record and compact, on a story that stays the same. `SNAPSHOTS=overwrite` writes the words anew.

#![expect(clippy::needless_raw_string_hashes, reason = "snapbox writes the snapshots")]

use snapbox::{IntoData as _, assert_data_eq, str};

use crate::cli_harness::Sandbox;
use crate::cli_story::{SESSION, compacted, lines_of, shown, story, told};

#[test]
fn ingest() {
    let sandbox = Sandbox::new();
    sandbox.write("story.jsonl", story());
    assert_data_eq!(
        shown(&sandbox, &["ingest", "story.jsonl"]),
        str![[r#"
ingested  [DIR]/story.jsonl
  format       claude_code
  spans        35 new, 0 known
  bytes        10.6 KiB, 10.6 KiB new
  sessions     story

"#]]
        .raw()
    );
    sandbox.write("runs/one.jsonl", story().replace("story-", "other-").replace(SESSION, "other"));
    sandbox.write("runs/notes.txt", "words");
    assert_data_eq!(
        shown(&sandbox, &["ingest", "runs"]),
        str![[r#"
skipped   runs/notes.txt: its content is of no known format
ingested  [DIR]/runs/one.jsonl
  format       claude_code
  spans        35 new, 0 known
  bytes        10.6 KiB, 10.6 KiB new
  sessions     other
2 files: 35 new spans, 1 skipped

"#]]
        .raw()
    );
    sandbox.write("broken.jsonl", format!("{}{{\"type\":\n", story()));
    assert_data_eq!(
        shown(&sandbox, &["ingest", "broken.jsonl"]),
        str![[r#"
ingested  [DIR]/broken.jsonl
  format       claude_code
  spans        1 new, 35 known
  bytes        10.6 KiB, 8 bytes new
  sessions     story
  quarantined  1 record kept, but not readable
    index 35 at byte 10896, 8 bytes: cut off: the JSON ends before it is complete

"#]]
        .raw()
    );
}

#[test]
fn compact() {
    let sandbox = told();
    assert_data_eq!(shown(&sandbox, &["compact", "--dry-run"]), str![[r#"
session story (dry run: nothing was changed or logged)
  candidates   15
  permitted    14
  refused      1: OpenObligation 1
  tokens       1,069 before, 821 after
  summary      a summary for 14 spans (pointer rewrite), generation 1, 94 tokens, fidelity 0.0 %, 21 dropped details named in its manifest
  verbatim     s12 OpenObligation (a promise or a call in it is open)
               "I will update the changelog in docs/CHANGELOG.md later."
  way out      carry what is open: "spanvault checkpoint story"
  way out      do what was promised, or record the missing result
  way out      leave it in the context as it is

"#]].raw());
    assert_data_eq!(shown(&sandbox, &["compact"]), str![[r#"
session story
  candidates   15
  permitted    14
  refused      1: OpenObligation 1
  tokens       1,069 before, 821 after
  summary      m43 for 14 spans (pointer rewrite), generation 1, 94 tokens, fidelity 0.0 %, 21 dropped details named in its manifest
  verbatim     s12 OpenObligation (a promise or a call in it is open)
               "I will update the changelog in docs/CHANGELOG.md later."
  way out      carry what is open: "spanvault checkpoint story"
  way out      do what was promised, or record the missing result
  way out      leave it in the context as it is

"#]].raw());
    assert_data_eq!(
        sandbox.steady(&sandbox.run(&["compact"]).out),
        str![[r#"
session story
  candidates   1
  permitted    0
  refused      1: OpenObligation 1
  tokens       821 before, 821 after
  summaries    none: the context stays as it is
  verbatim     s12 OpenObligation (a promise or a call in it is open)
               "I will update the changelog in docs/CHANGELOG.md later."
  way out      carry what is open: "spanvault checkpoint story"
  way out      do what was promised, or record the missing result
  way out      leave it in the context as it is

"#]]
        .raw()
    );
}

#[test]
fn compact_to_a_budget() {
    assert_data_eq!(shown(&told(), &["compact", "--budget", "500"]), str![[r#"
session story
  candidates   25
  permitted    25
  refused      0
  tokens       1,069 before, 439 after
  budget       500 tokens, it fits
  checkpoint   c46 carries what is open
  summary      m43 for 14 spans (pointer rewrite), generation 1, 94 tokens, fidelity 0.0 %, 21 dropped details named in its manifest
  summary      m48 for 1 span (pointer rewrite), generation 2, 102 tokens, fidelity 0.0 %, 22 dropped details named in its manifest
  summary      m50 for 10 spans (pointer rewrite), generation 3, 92 tokens, fidelity 0.0 %, 32 dropped details named in its manifest

"#]].raw());
    assert_data_eq!(sandbox_out(&["compact", "--budget", "1"]), str![[r#"
session story
  candidates   31
  permitted    31
  refused      0
  tokens       1,069 before, 205 after
  budget       1 token, it does not fit, and nothing more may be summarised
  checkpoint   c46 carries what is open
  summary      m43 for 14 spans (pointer rewrite), generation 1, 94 tokens, fidelity 0.0 %, 21 dropped details named in its manifest
  summary      m48 for 1 span (pointer rewrite), generation 2, 102 tokens, fidelity 0.0 %, 22 dropped details named in its manifest
  summary      m50 for 10 spans (pointer rewrite), generation 3, 92 tokens, fidelity 0.0 %, 32 dropped details named in its manifest
  summary      m52 for 4 spans (pointer rewrite), generation 4, 92 tokens, fidelity 0.0 %, 36 dropped details named in its manifest
  summary      m54 for 2 spans (pointer rewrite), generation 5, 92 tokens, fidelity 0.0 %, 38 dropped details named in its manifest

"#]].raw());
}

fn sandbox_out(args: &[&str]) -> String {
    let sandbox = told();
    sandbox.steady(&sandbox.run(args).out)
}

#[test]
fn context() {
    let all = shown(&compacted(), &["context", SESSION]);
    let first = lines_of(all.lines().take(24));
    assert_data_eq!(first, str![[r#"
session story: 821 tokens in 22 pieces

--- m43 summary of 14 spans, generation 1 (94 tokens)
Asked: Please set the invoice…
Done: Write ×1, Read ×3, Grep ×1.
Told: There is no…
found nothing: Grep "legacy_port" in /srv/app (s10)
changed: /etc/app/conf.yaml: succeeded (s6)
named: INV-2025-08-44719 (s3), /srv/app (s11)
only in what was read: number 1
14 spans; 21 of 21 details not in this text, fidelity 0 %; all of it: spanvault expand m43

--- s12 assistant (14 tokens)
I will update the changelog in docs/CHANGELOG.md later.

--- s19 assistant (11 tokens)
Read {"file_path":"/srv/app/src/part_03.rs"}

--- s20 tool (67 tokens)
fn part() -> u32 { 7 } // nothing of interest stands in this file, it is only long enoughfn part() -> u32 { 7 } // nothing of interest stands in this file, it is only long enoughfn part() -> u32 { 7 } // nothing of interest stands in this file, it is only long enough

--- s21 assistant (11 tokens)
Read {"file_path":"/srv/app/src/part_04.rs"}


"#]].raw());
}

#[test]
fn checkpoint() {
    let sandbox = told();
    assert_data_eq!(
        shown(&sandbox, &["checkpoint", SESSION]),
        str![[r#"
checkpoint c43 of session story: 2 open items, 51 tokens

Open, still to be done:
- open: I will update the changelog in docs/CHANGELOG.md later. (s12)
Tried without success, not to be tried again unchanged:
- found nothing: Grep "legacy_port" in /srv/app (s10)

"#]]
        .raw()
    );
}
