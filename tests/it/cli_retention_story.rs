//! The life of evidence through the command line: compacted, demoted, needed, leased, let go, reclaimed; and one question
//! that is asked all along. Lengths are fractions of a second here; nothing else differs from days.

use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli_harness::Sandbox;
use crate::cli_story::{SESSION, Transcript, story};

/// The time that an original is kept, and the grace.
const SHORT: &str = "300ms";

fn wait() {
    sleep(Duration::from_millis(400));
}

/// The question: was anything written under /etc?
const QUESTION: [&str; 6] = ["ask", "--tool", "Write", "--path", "/etc/**", "--exists"];

/// The answer as JSON and how the command ended.
fn ask(sandbox: &Sandbox) -> (i32, Value) {
    let ran = sandbox.run(&[&["--json"], &QUESTION[..]].concat());
    (ran.code, ran.json().remove(0))
}

/// The only line of JSON of a command that was refused something, or not.
fn answer<A: AsRef<str>>(sandbox: &Sandbox, code: i32, args: &[A]) -> Value {
    let args: Vec<&str> = ["--json"].into_iter().chain(args.iter().map(AsRef::as_ref)).collect();
    let ran = sandbox.run(&args);
    assert_eq!(ran.code, code, "{args:?}: {}{}", ran.out, ran.err);
    ran.json().pop().expect("a line of JSON")
}

/// Ten more reads, after which nothing of the story is in the kept end of its session.
fn more() -> String {
    let mut more = Transcript::new("later");
    for n in 0..24 {
        let path = format!("/srv/import/part_{n:02}.rs");
        let words =
            "fn load() -> u32 { 8 } // nothing of interest stands in this file either, it is only long";
        more = more.calls("Read", &json!({"file_path": path})).gets(&words.repeat(3));
    }
    more.says("All parts load.")
        .text()
        .replace(r#""sessionId":"later""#, &format!(r#""sessionId":"{SESSION}""#))
}

#[test]
fn evidence_lives_and_goes_and_every_answer_says_so() {
    let sandbox = Sandbox::new();
    sandbox.write("story.jsonl", story());
    sandbox.ok(&["ingest", "story.jsonl"]);

    // Compacted: the summary does not say it, the answer is exact.
    let compacted = sandbox.json_one(&["compact"]);
    assert!(compacted["permitted"].as_u64() > Some(0), "{compacted}");
    let (code, proof) = ask(&sandbox);
    assert_eq!((code, &proof["answer"]), (0, &json!("present")), "{proof}");
    let hash = proof["evidence"][0]["hash"].as_str().unwrap().to_owned();
    let original = sandbox.ok(&["recover", &hash]).out;
    assert!(original.contains("/etc/app/conf.yaml"));

    // Demoted to cold: the same bytes, the same answer.
    let demoted = sandbox.json_one(&["tier", "run", "--hot-for", "0s"]);
    assert!(demoted["demoted"].as_u64() > Some(20), "{demoted}");
    assert_eq!(sandbox.json_one(&["why", &hash])["tier"], "cold");
    assert_eq!(sandbox.ok(&["recover", &hash]).out, original);
    assert_eq!(ask(&sandbox), (0, proof.clone()));

    // A short life by rule, and an audit within the hour.
    sandbox.ok(&["retention", "set", "--keep-for", SHORT, "--grace", SHORT]);
    let audit =
        ["demand", "add", "audit", "--session", SESSION, "--for", "1h", "--reason", "the yearly audit"];
    let demand = sandbox.json_one(&audit)["demand"].as_str().unwrap().to_owned();

    // What happens next expires before the audit needs it, and the refusal names the way out.
    sandbox.write("story.jsonl", story() + &more());
    sandbox.ok(&["ingest", "story.jsonl"]);
    let refused = answer(&sandbox, 4, &["compact", "--session", SESSION]);
    assert_eq!(refused["permitted"], 0, "{refused}");
    assert!(refused["reasons"]["ExpiresBeforeNeed"].as_u64() > Some(0), "{refused}");
    let in_words = sandbox.run(&["compact", "--session", SESSION, "--dry-run"]).out;
    assert!(in_words.contains("--extend"), "{in_words}");
    let extended = sandbox.json_one(&["compact", "--session", SESSION, "--extend"]);
    assert!(extended["permitted"].as_u64() > Some(0), "{extended}");
    assert_eq!(extended["reasons"].get("ExpiresBeforeNeed"), None, "{extended}");
    // More was searched by now, and the proof is the same.
    let (code, exact) = ask(&sandbox);
    assert_eq!((code, &exact["evidence"]), (0, &proof["evidence"]), "{exact}");

    // Everything is past its life, and the audit keeps it.
    wait();
    let kept = answer(&sandbox, 4, &["reclaim"]);
    assert_eq!((&kept["condemned"], &kept["reclaimed"]), (&json!(0), &json!(0)), "{kept}");
    assert_eq!(kept["reasons"]["ExpiresBeforeNeed"], kept["due"], "{kept}");
    assert!(kept["reasons"]["Leased"].as_u64() > Some(0), "{kept}");
    assert_eq!(ask(&sandbox), (0, exact.clone()));

    // Called off: that alone removes nothing, and the first run only condemns.
    sandbox.ok(&["demand", "withdraw", &demand, "--reason", "the auditor came early"]);
    let condemned = sandbox.json_one(&["reclaim"]);
    assert!(condemned["condemned"].as_u64() > Some(20), "{condemned}");
    assert_eq!(condemned["reclaimed"], 0, "{condemned}");
    assert_eq!(sandbox.json_one(&["why", &hash])["tier"], "condemned");
    assert_eq!(ask(&sandbox), (0, exact.clone()));

    // After the grace the second run does what the dry run printed.
    wait();
    let planned = sandbox.json_one(&["reclaim", "--dry-run"]);
    assert_eq!(ask(&sandbox), (0, exact.clone()));
    let gone = sandbox.json_one(&["reclaim"]);
    assert_eq!((&gone["reclaimed"], &gone["due"]), (&planned["reclaimed"], &planned["due"]));
    assert_eq!(gone["reclaimed"], condemned["condemned"], "{gone}");
    assert!(gone["bytes_freed"].as_u64() > Some(0), "{gone}");

    // The same question: insufficient, and it names the tombstone; the bytes are gone, the summary says so.
    let (code, silence) = ask(&sandbox);
    assert_eq!((code, &silence["answer"]), (5, &json!("insufficient")), "{silence}");
    let missing = silence["coverage"]["missing"].as_array().unwrap();
    let named = missing.iter().find(|missing| missing["hash"] == hash.as_str()).expect("it is named");
    assert_eq!(named["reason"], "reclaimed");
    let recovered = sandbox.run(&["--json", "recover", &hash]);
    assert_eq!((recovered.code, recovered.out.as_str()), (5, ""));
    assert_eq!(recovered.error()["tombstone"], named["tombstone"]);
    assert!(sandbox.ok(&["context", SESSION]).out.contains("evidence expired"));
    let found = sandbox.json_one(&["verify", "--read-data"]);
    assert_eq!((&found["corrupt"], &found["missing"]), (&json!([]), &json!([])), "{found}");
    assert_eq!(found["chain_ok"], true);
}
