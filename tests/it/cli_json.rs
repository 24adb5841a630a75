//! The JSON that others read: fields are added, never renamed.

use serde_json::Value;

use crate::cli_harness::Sandbox;
use crate::cli_story::{SESSION, lines_of, story, told};

/// The names of an object's fields; each must be there.
fn has(object: &Value, names: &[&str]) {
    for name in names {
        assert!(object.get(name).is_some(), "{name} is not in {object}");
    }
}

#[test]
fn ingest_says_a_line_for_each_source() {
    let sandbox = Sandbox::new();
    let file = sandbox.write("story.jsonl", story());
    let line = sandbox.json_one(&["ingest", file.to_str().unwrap()]);
    has(
        &line,
        &[
            "source",
            "format",
            "sessions",
            "spans_new",
            "spans_known",
            "conflicts",
            "quarantined",
            "bytes",
            "bytes_new",
        ],
    );
    assert_eq!(line["source"], file.to_str().unwrap());
    assert_eq!(line["format"], "claude_code");
    assert_eq!(line["sessions"], serde_json::json!([SESSION]));
    assert_eq!(line["spans_new"], story().lines().count());
    assert_eq!(line["conflicts"], 0);
    assert_eq!(line["bytes"], story().len());
    let again = sandbox.json_one(&["ingest", file.to_str().unwrap()]);
    assert_eq!(again["spans_new"], 0);
    assert_eq!(again["sessions"], line["sessions"]);
    assert_eq!(again["spans_known"], story().lines().count());
}

#[test]
fn spans_say_what_was_read_in_each() {
    let sandbox = told();
    let spans = sandbox.json(&["spans", "--source", "story.jsonl"]);
    assert_eq!(spans.len(), story().lines().count());
    for span in &spans {
        has(
            span,
            &[
                "span",
                "hash",
                "session",
                "source",
                "record",
                "index",
                "role",
                "kind",
                "bytes",
                "tokens",
                "timestamp",
                "class",
                "negative",
                "opens",
                "discharges",
                "live",
                "tier",
                "expires_at",
                "summary",
            ],
        );
        assert!(span["expires_at"].is_null() && span["summary"].is_null());
    }
    let write = &spans[2];
    assert_eq!(write["kind"], "tool_call");
    assert_eq!(write["class"], "side_effecting");
    assert_eq!(write["timestamp"], "2025-11-03T09:00:02.000Z");
    assert_eq!(write["tier"], "hot");
    assert_eq!(spans[6]["negative"], true);
    assert_eq!(spans[8]["opens"][0]["discharged_by"], Value::Null, "{}", spans[8]);
}

#[test]
fn compact_says_a_line_for_each_session() {
    let sandbox = told();
    let line = sandbox.json_one(&["compact"]);
    has(
        &line,
        &[
            "session",
            "candidates",
            "permitted",
            "refused",
            "reasons",
            "summaries",
            "preserved",
            "tokens_before",
            "tokens_after",
            "bytes_before",
        ],
    );
    let summary = &line["summaries"][0];
    has(summary, &["summary", "generation", "covers", "mode", "tokens", "fidelity", "omitted"]);
    assert_eq!(summary["mode"], "pointer_rewrite");
    assert_eq!(line["refused"], 1, "{line}");
    assert_eq!(line["reasons"], serde_json::json!({"OpenObligation": 1}));
    let preserved: Vec<&Value> = line["preserved"].as_array().unwrap().iter().collect();
    let refused = preserved.iter().find(|span| !span["reasons"].as_array().unwrap().is_empty()).unwrap();
    assert_eq!(refused["reasons"][0]["reason"], "OpenObligation");
    assert!(line["tokens_after"].as_u64() < line["tokens_before"].as_u64());
    let stands_in = sandbox.json(&["spans"])[2]["summary"].clone();
    assert_eq!(stands_in, summary["summary"]);
}

#[test]
fn an_answer_has_evidence_that_recover_takes() {
    let sandbox = told();
    sandbox.ok(&["compact"]);
    let answer = sandbox.json_one(&["ask", "--path", "/etc/**", "--effect", "mutates"]);
    assert_eq!(answer["answer"], "present");
    assert_eq!(answer["coverage"]["complete"], true);
    let hash = answer["evidence"][0]["hash"].as_str().unwrap();
    let original = sandbox.ok(&["recover", hash]).out;
    assert!(original.contains("/etc/app/conf.yaml") && story().contains(&original));
    let absent = sandbox.json_one(&["ask", "--path", "/boot/**", "--effect", "mutates"]);
    assert_eq!((&absent["answer"], &absent["value"]), (&"absent".into(), &false.into()));
}

#[test]
fn questions_in_a_file_are_answered_line_by_line_and_a_bad_one_stops_nothing() {
    let sandbox = told();
    sandbox.write(
        "questions",
        "{\"calls\":{\"tool\":\"Write\"},\"get\":\"count\"}\n\n{\"calls\":{\"tol\":1}}\n{\"calls\":{\"tool\":\"Grep\"},\"nth\":1,\"get\":\"result.empty\"}\n",
    );
    let ran = sandbox.run(&["--json", "ask", "--queries", "questions"]);
    assert_eq!((ran.code, ran.err.as_str()), (2, ""));
    let answers = ran.json();
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[0]["value"], 1);
    assert_eq!(answers[1]["kind"], "Invalid");
    assert_eq!(answers[2]["value"], true);
}

#[test]
fn verify_says_what_is_there() {
    let sandbox = told();
    let report = sandbox.json_one(&["verify", "--read-data"]);
    has(&report, &["originals", "bytes", "corrupt", "missing", "chain_ok"]);
    assert_eq!(report["corrupt"], serde_json::json!([]));
    assert_eq!(report["chain_ok"], true);
}

#[test]
fn the_four_operations_answer_with_their_proof() {
    let sandbox = told();
    sandbox.ok(&["compact"]);
    let audit = sandbox.json_one(&["audit"]);
    let effects = audit["effects"].as_array().unwrap();
    assert_eq!(effects.len(), 1, "{audit}");
    assert_eq!(effects[0]["writes"], serde_json::json!(["/etc/app/conf.yaml"]));
    assert_eq!(effects[0]["fate"], "succeeded");

    let replayed = sandbox.json(&["replay", SESSION]);
    let text = lines_of(replayed.iter().map(|span| span["text"].as_str().unwrap()));
    assert_eq!(text, story());

    let query = "{\"calls\":{\"effect\":\"mutates\",\"path\":{\"glob\":\"/etc/**\"}}}";
    let check = sandbox.json_one(&["check", "--query", query, "--claim", "no"]);
    assert_eq!(check["verdict"], "contradicts");
    assert_eq!(check["answer"]["answer"], "present");
    let check = sandbox.json_one(&["check", "--query", query, "--claim", "yes"]);
    assert_eq!(check["verdict"], "agrees");

    let args = "{\"content\":\"port: 8443\\nworkers: 4\\n\",\"file_path\":\"/etc/app/conf.yaml\"}";
    assert_eq!(sandbox.json_one(&["executed", "Write", args])["executed"], "confirmed");
    assert_eq!(sandbox.json_one(&["executed", "Write", "{}"])["executed"], "absent");
}

#[test]
fn a_checkpoint_carries_what_is_open_and_frees_its_span() {
    let sandbox = told();
    let made = sandbox.json_one(&["checkpoint", SESSION]);
    let kinds: Vec<&str> =
        made["items"].as_array().unwrap().iter().map(|item| item["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["negative", "obligation"]);
    assert!(made["text"].as_str().unwrap().contains("changelog"));
    assert_eq!(sandbox.json_one(&["checkpoint", SESSION])["unchanged"], true);
    let compacted = sandbox.json_one(&["compact"]);
    assert_eq!(compacted["refused"], 0, "{compacted}");
    assert!(sandbox.ok(&["context", SESSION]).out.contains("changelog"));
}

#[test]
fn demands_holds_and_rules_are_listed_one_object_a_line() {
    let sandbox = told();
    let demand =
        sandbox.json_one(&["demand", "add", "audit", "--session", SESSION, "--for", "10d", "--actor", "ann"]);
    assert_eq!((&demand["kind"], &demand["actor"]), (&"audit".into(), &"ann".into()));
    assert_eq!(demand["scope"], serde_json::json!({"kind": "session", "name": SESSION}));
    let id = demand["demand"].as_str().unwrap();
    let withdrawn = sandbox.run(&["demand", "withdraw", id]);
    assert_eq!(withdrawn.code, 2, "withdrawing needs a reason");
    sandbox.ok(&["demand", "withdraw", id, "--reason", "done", "--actor", "bob"]);
    let listed = sandbox.json_one(&["demand", "list"]);
    assert_eq!(listed["withdrawn"], serde_json::json!({"actor": "bob", "reason": "done"}));

    let hold = sandbox.json_one(&["hold", "add", "s5", "--actor", "ann"]);
    assert_eq!(hold["originals"], 1);
    assert_eq!(sandbox.json_one(&["hold", "list"])["released"], Value::Null);

    let rule = sandbox.json_one(&["retention", "set", "--keep-for", "forever", "--class", "side_effecting"]);
    assert_eq!((&rule["keep_for"], &rule["class"]), (&"forever".into(), &"side_effecting".into()));
    let expiries: Vec<Value> =
        sandbox.json(&["spans"]).iter().map(|span| span["expires_at"].clone()).collect();
    assert_eq!(expiries[2], "forever");
    assert_eq!(expiries[0], Value::Null);
    assert_eq!(sandbox.json_one(&["policy", "show"])["assumed_audit"], "90d");
}

#[test]
fn why_lists_every_root() {
    let sandbox = told();
    sandbox.ok(&["compact"]);
    sandbox.ok(&["hold", "add", "--session", SESSION]);
    let span = sandbox.json(&["spans"])[2]["span"].as_str().unwrap().to_owned();
    let why = sandbox.json_one(&["why", &span]);
    has(
        &why,
        &[
            "original",
            "hash",
            "tier",
            "expires_at",
            "kept_until",
            "spans",
            "cited_by",
            "demands",
            "holds",
            "leases",
            "live",
        ],
    );
    assert_eq!(why["holds"].as_array().unwrap().len(), 1);
    assert_eq!(why["demands"][0]["demand"], "assumed");
    assert_eq!(why["leases"].as_array().unwrap().len(), 1);
    assert_eq!(why["cited_by"].as_array().unwrap().len(), 1);
}

#[test]
fn every_refusal_has_its_reasons_in_the_ledger() {
    let sandbox = told();
    sandbox.ok(&["compact"]);
    let refusal = sandbox.json_one(&["refusals", "--standing"]);
    has(&refusal, &["at", "decided_at", "operation", "session", "subject", "bytes", "tokens", "reasons"]);
    assert_eq!(refusal["reasons"][0]["reason"], "OpenObligation");
    let events: Vec<String> =
        sandbox.json(&["log"]).iter().map(|entry| entry["event"].as_str().unwrap().to_owned()).collect();
    for event in ["session_opened", "span_recorded", "summarised", "refused", "commit"] {
        assert!(events.iter().any(|found| found == event), "{event} in {events:?}");
    }
    assert_eq!(sandbox.json_one(&["log", "--verify"])["chain_ok"], true);
}

#[test]
fn tiers_and_removal_add_up() {
    let sandbox = told();
    sandbox.ok(&["compact"]);
    let tier = sandbox.json_one(&["tier", "run", "--hot-for", "0s"]);
    has(&tier, &["demoted", "bytes_before", "bytes_after"]);
    assert_eq!(tier["demoted"], story().lines().count());
    assert!(sandbox.json(&["spans"]).iter().all(|span| span["tier"] == "cold"));
    assert_eq!(sandbox.ok(&["restore", "story.jsonl"]).out, story());

    sandbox.ok(&["policy", "set", "--assume", "none"]);
    sandbox.ok(&["retention", "set", "--keep-for", "1ms", "--grace", "1ms"]);
    let dry = sandbox.json_one(&["reclaim", "--dry-run"]);
    let first = sandbox.json_one(&["reclaim"]);
    has(
        &first,
        &["due", "condemned", "rescued", "reclaimed", "refused", "reasons", "bytes_freed", "next_at"],
    );
    assert_eq!(dry["condemned"], first["condemned"]);
    assert_eq!(first["reclaimed"], 0);
    assert_eq!(first["reasons"], serde_json::json!({"OpenObligation": 1}));
    let steps = sandbox.json(&["reclaim", "--steps"]);
    let last = steps.last().unwrap();
    assert_eq!(last["reclaimed"], first["condemned"]);
    assert_eq!(
        steps.iter().filter(|step| step["act"] == "reclaim").count() as u64,
        last["reclaimed"].as_u64().unwrap()
    );

    let gone = sandbox.json(&["spans"]).into_iter().find(|span| span["tier"] == "reclaimed").unwrap();
    let summary = gone["summary"].as_str().unwrap();
    let ran = sandbox.run(&["--json", "assess", summary, "check"]);
    let assessed: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &assessed["serves"], &assessed["operation"]), (4, &false.into(), &"check".into()));
    assert_eq!(assessed["reclaimed"], assessed["originals"], "its evidence has expired");
    let ran = sandbox.run(&["--json", "recover", gone["hash"].as_str().unwrap()]);
    assert_eq!((ran.code, ran.out.as_str()), (5, ""));
    assert_eq!(ran.error()["kind"], "Insufficient");
    assert!(ran.error()["tombstone"].is_u64());
    for args in
        [&["show", "s6"][..], &["restore", "story.jsonl", "-o", "again"], &["replay", SESSION], &["audit"]]
    {
        assert_eq!(sandbox.run(args).code, 5, "{args:?}");
    }
    assert!(!sandbox.path("again").exists(), "half a file is no file");
    assert_eq!(sandbox.json_one(&["stats"])["reclaimed"]["count"], last["reclaimed"]);
    assert_eq!(sandbox.json_one(&["health"])["expired"], 1);
}

#[test]
fn a_demand_that_outlasts_the_retention_refuses_and_extending_is_the_way_out() {
    let sandbox = told();
    sandbox.ok(&["retention", "set", "--keep-for", "1d"]);
    sandbox.ok(&["demand", "add", "audit", "--session", SESSION, "--for", "10d"]);
    let ran = sandbox.run(&["--json", "compact"]);
    assert_eq!(ran.code, 4);
    let refused = &ran.json()[0];
    assert!(refused["reasons"]["ExpiresBeforeNeed"].as_u64().unwrap() > 1, "{refused}");
    let ways: Vec<&str> = refused["preserved"][0]["ways_out"]
        .as_array()
        .unwrap()
        .iter()
        .map(|way| way.as_str().unwrap())
        .collect();
    assert!(ways.iter().any(|way| way.contains("compact --extend")), "{ways:?}");
    let extended = sandbox.json_one(&["compact", "--extend"]);
    assert!(extended["permitted"].as_u64().unwrap() > 1, "{extended}");
}

#[test]
fn a_demand_for_what_is_gone_is_refused_with_4() {
    let sandbox = told();
    sandbox.ok(&["policy", "set", "--assume", "none"]);
    sandbox.ok(&["retention", "set", "--keep-for", "1ms", "--grace", "1ms"]);
    sandbox.ok(&["reclaim"]);
    sandbox.ok(&["reclaim"]);
    let ran = sandbox.run(&["--json", "demand", "add", "audit", "--session", SESSION, "--unknown"]);
    assert_eq!((ran.code, ran.out.as_str()), (4, ""));
    assert_eq!(ran.error()["kind"], "Refused");
    assert_eq!(sandbox.json(&["demand", "list"]).len(), 0);
}
