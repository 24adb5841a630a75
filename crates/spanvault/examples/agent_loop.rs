//! A small agent that lives on Spanvault: `cargo run -p spanvault --example agent_loop`.
//!
//! The model is a script, so that the run needs no network and prints the same each time. Everything around it is what a
//! real loop does: each turn is recorded before it counts; when the context outgrows its budget, it is compacted; a
//! promise that is still open is refused and goes into a checkpoint; bytes that the context no longer has are recovered
//! by their hash; and before a side effect is done again, the vault is asked whether it was done before.

#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use std::error::Error;

use serde_json::{Value, json};
use spanvault::ask::{Query, Verdict, glob};
use spanvault::{
    BuiltIn, CompactionOptions, ContextItem, Execution, Keep, Session, SpanDraft, SummaryId, Vault,
};

/// Estimated tokens that the model can see at once.
const BUDGET: u64 = 280;
/// How many spans at the end stay verbatim.
const KEEP: usize = 4;

/// What the model wants next.
enum Turn {
    Say(&'static str),
    Call { tool: &'static str, args: Value },
}

fn main() -> Result<(), Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    let vault = Vault::open(dir.path().join("agent.vault"))?;
    let session = vault.session("release-2.4")?;

    session.record(SpanDraft::user(TASK))?;
    for turn in script() {
        match turn {
            Turn::Say(text) => {
                session.record(SpanDraft::assistant(text))?;
            }
            Turn::Call { tool, args } => call(&vault, &session, tool, &args)?,
        }
        if session.tokens_in_context()? > BUDGET {
            compact(&session)?;
        }
    }

    look_back(&vault, &session)?;
    vault.close()?;
    Ok(())
}

/// Runs a tool and records call and result; a side effect that was done before is not done again.
fn call(vault: &Vault, session: &Session<'_>, tool: &str, args: &Value) -> Result<(), Box<dyn Error>> {
    if is_side_effect(tool) {
        let known = vault.executed(tool, args, Some(session.name()))?;
        match known.execution {
            Execution::Absent => {}
            Execution::Confirmed => {
                let proof: Vec<&str> = known.proof.evidence.iter().map(|place| place.span.as_str()).collect();
                println!("{tool}: done before, see {}; not done again", proof.join(" and "));
                let note = format!("{tool} was done before, with success; I do not repeat it.");
                session.record(SpanDraft::assistant(note))?;
                return Ok(());
            }
            Execution::Unknown => {
                println!("{tool}: nobody knows whether it was done; a person has to look");
                return Ok(());
            }
        }
    }
    // The call is durable before it is made: a crash in between leaves a call without a result, which is open.
    session.record(SpanDraft::tool_call(tool, args.clone()))?;
    let result = run_tool(tool, args);
    session.record(SpanDraft::tool_result("", result))?;
    println!("{tool}: {}", result.lines().next().unwrap_or_default());
    Ok(())
}

/// Makes room: first what the gate permits at once; then, for what it refused, with a checkpoint.
fn compact(session: &Session<'_>) -> Result<(), Box<dyn Error>> {
    println!("-- {} tokens in the context, {BUDGET} allowed", session.tokens_in_context()?);
    let options = CompactionOptions { keep: Keep::last(KEEP), ..CompactionOptions::default() };
    let report = session.compact_with(&options, &mut BuiltIn)?;
    println!("   {} of {} spans replaced by summaries", report.permitted, report.candidates);
    for preserved in report.preserved.iter().filter(|preserved| !preserved.reasons.is_empty()) {
        for reason in &preserved.reasons {
            println!("   {} stays: {}", preserved.span, reason.kind().as_str());
        }
        for live in &preserved.live {
            println!("     because of {:?}", live.words);
        }
    }
    let auto = session.auto_compact(BUDGET, Keep::last(KEEP))?;
    if let Some(checkpoint) = auto.checkpoint {
        println!("   checkpoint {checkpoint} carries what is open");
    }
    println!(
        "   {} tokens now{}",
        auto.tokens_after,
        if auto.fits { "" } else { ", which is still too much" }
    );
    Ok(())
}

/// What was written into the settings? The context no longer says; the originals do.
fn look_back(vault: &Vault, session: &Session<'_>) -> Result<(), Box<dyn Error>> {
    let question = Query::calls("write_file").path(glob("/etc/**"));
    let answer = vault.ask(&question)?;
    assert_eq!(answer.answer, Verdict::Present);
    println!("-- written under /etc: {} (searched {} originals)", answer.value, answer.coverage.searched);
    for item in session.context()? {
        let ContextItem::Summary { summary, covers, .. } = item else { continue };
        recover_settings(vault, summary, covers)?;
    }
    Ok(())
}

/// A summary keeps a pointer to each of its originals: the hash, which gives the bytes and nothing else.
fn recover_settings(vault: &Vault, summary: SummaryId, covers: usize) -> Result<(), Box<dyn Error>> {
    println!("   {summary} stands for {covers} spans");
    for hash in vault.expand(summary)?.originals.iter().filter_map(|original| original.hash) {
        let bytes = vault.recover(hash)?;
        let message: Value = serde_json::from_slice(&bytes)?;
        let input = &message["content"][0]["input"];
        if let (Some("/etc/relay/relay.toml"), Some(written)) =
            (input["path"].as_str(), input["content"].as_str())
        {
            println!("   recovered {}…: {written:?}", &hash.to_string()[..8]);
        }
    }
    Ok(())
}

const TASK: &str = "Please release version 2.4 of the relay: set the queue limit to 4096 in /etc/relay/relay.toml, \
                    tag the release, and tell me what you find in the logs.";

/// What a model would say. It forgets that it tagged the release: that happens to models, too.
fn script() -> Vec<Turn> {
    let tag = || Turn::Call { tool: "create_release", args: json!({"tag": "v2.4.0", "commit": "9f3c1e7"}) };
    let settings = "[queue]\nlimit = 4096\nspill = \"/var/lib/relay/spill\"\n";
    vec![
        Turn::Say("Let me read the settings as they are."),
        Turn::Call { tool: "read_file", args: json!({"path": "/etc/relay/relay.toml"}) },
        Turn::Call {
            tool: "write_file",
            args: json!({"path": "/etc/relay/relay.toml", "content": settings}),
        },
        tag(),
        Turn::Say("The release is tagged. I will rotate the signing key once the customers have it."),
        Turn::Call { tool: "read_file", args: json!({"path": "/var/log/relay/relay.log"}) },
        Turn::Say(
            "The log shows two slow flushes of the spill file, both under two seconds. Nothing was lost.",
        ),
        Turn::Call { tool: "read_file", args: json!({"path": "/var/log/relay/audit.log"}) },
        Turn::Say("The audit log agrees: 3 logins, all of them by the deployment account."),
        tag(),
        Turn::Say("Everything that you asked for is done."),
    ]
}

fn is_side_effect(tool: &str) -> bool {
    matches!(tool, "write_file" | "create_release")
}

fn run_tool(tool: &str, args: &Value) -> &'static str {
    match (tool, args["path"].as_str()) {
        ("read_file", Some("/etc/relay/relay.toml")) => {
            "[queue]\nlimit = 1024\nspill = \"/var/lib/relay/spill\"\n"
        }
        ("read_file", Some("/var/log/relay/relay.log")) => RELAY_LOG,
        ("read_file", Some(_other)) => AUDIT_LOG,
        ("write_file", _path) => "wrote 52 bytes",
        _release => "created release v2.4.0",
    }
}

const RELAY_LOG: &str = "\
2026-03-02T08:00:01Z started, queue limit 1024
2026-03-02T08:14:40Z spill flush took 1410 ms, segment 0017
2026-03-02T08:15:02Z spill flush took 1388 ms, segment 0018
2026-03-02T08:40:11Z 118223 messages relayed, 0 dropped
2026-03-02T09:40:11Z 121907 messages relayed, 0 dropped
2026-03-02T10:40:11Z 119450 messages relayed, 0 dropped
2026-03-02T11:40:11Z 120012 messages relayed, 0 dropped
2026-03-02T12:00:00Z stopped for the release";

const AUDIT_LOG: &str = "\
2026-03-02T07:58:12Z login deploy from 10.4.0.7, key SHA256:1xkQ
2026-03-02T07:59:30Z settings reloaded by deploy
2026-03-02T11:58:44Z login deploy from 10.4.0.7, key SHA256:1xkQ
2026-03-02T11:59:02Z login deploy from 10.4.0.9, key SHA256:1xkQ
2026-03-02T12:00:00Z service stopped by deploy";
