//! Follows spans from their recording through a summary and back.

use std::collections::BTreeSet;

use spanvault::ask::{Get, Query, Verdict, glob};
use spanvault::{
    BuiltIn, CompactionOptions, ContextItem, ErrorKind, Keep, Name, SpanDraft, SpanFilter, SummaryId, Vault,
};

use crate::world::{World, story};

fn written_under_etc() -> Query {
    Query::any_call().effect("mutates").path(glob("/etc/**")).get(Get::Exists)
}

#[test]
fn a_recorded_span_comes_back_byte_for_byte_by_hash_by_prefix_and_by_id() {
    let world = World::new(1);
    let vault = world.open().unwrap();
    let session = vault.session("run").unwrap();
    let draft = SpanDraft::user("INV-2025-08-44719 \u{0} 発票 🧾");
    let receipt = session.record(draft.clone()).unwrap();
    let hash = receipt.hash.to_string();
    for name in [hash.clone(), hash[..8].to_owned(), hash.to_uppercase(), receipt.span.to_string()] {
        assert_eq!(vault.recover(name.parse::<Name>().unwrap()).unwrap(), draft.as_bytes(), "{name}");
    }
}

#[test]
fn the_summary_does_not_say_it_and_the_answer_is_still_yes_with_its_proof() {
    let world = World::new(2);
    let vault = world.open().unwrap();
    let session = story(&vault);
    let before = vault.ask(&written_under_etc()).unwrap();
    let report = session.compact_with(&CompactionOptions::default(), &mut BuiltIn).unwrap();
    assert!(report.permitted > 30, "{report:?}");
    assert!(report.tokens_after < report.tokens_before / 2, "{report:?}");
    let summary = report.summaries[0].summary.unwrap();
    let text = String::from_utf8(vault.recover(summary).unwrap()).unwrap();
    assert!(!text.contains("/etc"), "the summary alone would say no: {text}");
    let after = vault.ask(&written_under_etc()).unwrap();
    assert_eq!(after.answer, Verdict::Present);
    assert_eq!(after.evidence, before.evidence);
    let proof = vault.recover(after.evidence[0].hash.parse::<Name>().unwrap()).unwrap();
    assert!(String::from_utf8(proof).unwrap().contains("/etc/app/conf.yaml"));
}

#[test]
fn i65_a_summary_leads_to_every_original_that_it_stands_for_and_names_what_it_dropped() {
    let world = World::new(3);
    let vault = world.open().unwrap();
    let session = story(&vault);
    let report = session.compact_with(&CompactionOptions::default(), &mut BuiltIn).unwrap();
    for made in &report.summaries {
        let expansion = vault.expand(made.summary.unwrap()).unwrap();
        assert_eq!(expansion.originals.len(), made.covers);
        for cited in &expansion.originals {
            let bytes = vault.recover(Name::from(cited.hash.unwrap())).unwrap();
            assert_eq!(spanvault::types::ContentHash::of(&bytes), cited.hash.unwrap());
        }
        let dropped: BTreeSet<_> = expansion.omitted.iter().map(|omission| omission.text.as_str()).collect();
        assert!(
            dropped.contains("/etc/app/conf.yaml") || expansion.text.contains("/etc/app/conf.yaml"),
            "a path is in the text or in the manifest: {dropped:?}"
        );
    }
}

#[test]
fn compacting_an_unchanged_session_again_makes_no_summary_no_lease_and_no_change() {
    let world = World::new(4);
    let vault = world.open().unwrap();
    let session = story(&vault);
    session.compact_with(&CompactionOptions::default(), &mut BuiltIn).unwrap();
    let (context, revision) = (session.context().unwrap(), vault.revision());
    let again = session.compact_with(&CompactionOptions::default(), &mut BuiltIn).unwrap();
    assert!(again.is_unchanged());
    assert_eq!(again.refused, 0);
    assert_eq!(session.context().unwrap(), context);
    assert_eq!(vault.revision(), revision, "nothing was written");
}

#[test]
fn i26_an_open_promise_keeps_its_span_verbatim_and_the_refusal_is_in_the_log() {
    let world = World::new(5);
    let vault = world.open().unwrap();
    let session = vault.session("run").unwrap();
    session.record(SpanDraft::user("Look at the export.")).unwrap();
    let promise = session
        .record(SpanDraft::assistant(
            "Once it is deployed I will add an alert for exports that take longer than 60 seconds.",
        ))
        .unwrap();
    session.record(SpanDraft::user("Good. And the rest?")).unwrap();
    story_tail(&vault);
    let report = session.compact_with(&CompactionOptions::default(), &mut BuiltIn).unwrap();
    let refused: Vec<_> = report.preserved.iter().filter(|preserved| !preserved.reasons.is_empty()).collect();
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert_eq!(refused[0].span, promise.span);
    assert!(refused[0].live[0].words.contains("add an alert"), "{:?}", refused[0].live);
    let shown = session.context().unwrap();
    assert!(shown.iter().any(|item| matches!(item, ContextItem::Span { span, .. } if *span == promise.span)));
    let mut logged = Vec::new();
    vault
        .refusals(&mut |refusal| {
            logged.push(refusal.subject);
            Ok(())
        })
        .unwrap();
    assert_eq!(logged, vec![promise.span.0]);
    // The way out: a checkpoint carries it, and the span is live no more.
    let checkpoint = session.checkpoint().unwrap();
    assert!(checkpoint.text.contains("add an alert"));
    let after = session.compact_with(&CompactionOptions::default(), &mut BuiltIn).unwrap();
    assert!(after.preserved.iter().all(|preserved| preserved.reasons.is_empty()), "{:?}", after.preserved);
    let shown = session.context().unwrap();
    assert!(
        shown.iter().any(
            |item| matches!(item, ContextItem::Checkpoint { text, .. } if text.contains("add an alert"))
        )
    );
}

fn story_tail(vault: &Vault) {
    let session = vault.session("run").unwrap();
    for n in 0..30 {
        let args = serde_json::json!({"file_path": format!("/srv/data/{n}.txt")});
        crate::world::call(&session, &format!("t{n}"), "Read", args, &format!("line {n}\n"));
    }
}

#[test]
fn a_text_that_says_nothing_of_its_spans_is_not_admitted_and_nothing_changes() {
    let world = World::new(6);
    let vault = world.open().unwrap();
    let session = story(&vault);
    let plan = session.plan_compaction(Keep::default()).unwrap();
    let range = plan.permitted().next().unwrap();
    let before = session.context().unwrap();
    for text in [
        "",
        "   ",
        "Hello! How can I help you today?",
        "[Compactor] failed: 'NoneType' object is not iterable",
    ] {
        let error = session.compact(&plan, range, text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{text:?}");
    }
    assert_eq!(session.context().unwrap(), before);
}

#[test]
fn a_plan_is_decided_again_when_it_is_used() {
    let world = World::new(7);
    let vault = world.open().unwrap();
    let session = story(&vault);
    let plan = session.plan_compaction(Keep::default()).unwrap();
    let range = plan.permitted().next().unwrap();
    let text = "Settings were written, and the parts of the export only add numbers up.";
    let made = session.compact(&plan, range, text).unwrap();
    assert_eq!(made.generation, 1);
    // The same range a second time: its spans are replaced already.
    assert!(session.compact(&plan, range, text).is_err());
    let summaries =
        session.context().unwrap().iter().filter(|item| matches!(item, ContextItem::Summary { .. })).count();
    assert_eq!(summaries, 1);
}

#[test]
fn five_generations_still_name_and_recover_what_the_first_one_lost() {
    let world = World::new(8);
    let vault = world.open().unwrap();
    let session = vault.session("run").unwrap();
    session.record(SpanDraft::user("Find the invoice that was paid twice.")).unwrap();
    crate::world::call(
        &session,
        "c1",
        "Grep",
        serde_json::json!({"pattern": "44719", "path": "/srv/books"}),
        "/srv/books/2025.csv:INV-2025-08-44719,1,024.50 EUR,paid",
    );
    let options = CompactionOptions { over: spanvault::Over::Summaries, ..CompactionOptions::default() };
    let mut deepest = 0;
    for generation in 1..=5_u32 {
        for n in 0..24 {
            let args = serde_json::json!({"file_path": format!("/srv/books/{generation}-{n}.txt")});
            crate::world::call(
                &session,
                &format!("g{generation}-{n}"),
                "Read",
                args,
                &format!("row {}\n", n * 31),
            );
        }
        let report = session.compact_with(&options, &mut BuiltIn).unwrap();
        deepest = report.summaries.iter().map(|made| made.generation).max().unwrap_or(deepest);
    }
    assert!(deepest >= 5, "{deepest}");
    let mut top = None;
    for item in session.context().unwrap() {
        if let ContextItem::Summary { summary, generation, .. } = item
            && generation == deepest
        {
            top = Some(summary);
        }
    }
    let top = top.unwrap();
    let expansion = vault.expand(top).unwrap();
    let named = expansion.omitted.iter().find(|omission| omission.text.contains("INV-2025-08-44719"));
    let named = named.expect("the manifest of the last generation names it");
    let cited = expansion.originals.iter().find(|cited| cited.original == named.original).unwrap();
    let bytes = vault.recover(Name::from(cited.hash.unwrap())).unwrap();
    assert!(String::from_utf8(bytes).unwrap().contains("INV-2025-08-44719"));
    let kept: u64 = expansion.fidelity.iter().map(|fidelity| fidelity.kept).sum();
    let total: u64 = expansion.fidelity.iter().map(|fidelity| fidelity.total).sum();
    assert!(kept * 4 < total, "fidelity falls visibly: {kept} of {total}");
    assert!(
        !expansion.summaries.is_empty() && expansion.summaries.iter().all(|child: &SummaryId| *child < top)
    );
}

#[test]
fn the_list_of_spans_says_which_summary_stands_for_each() {
    let world = World::new(9);
    let vault = world.open().unwrap();
    let session = story(&vault);
    session.compact_with(&CompactionOptions::default(), &mut BuiltIn).unwrap();
    let (mut replaced, mut verbatim) = (0, 0);
    vault
        .spans(&SpanFilter::default(), &mut |span| {
            if span.summary.is_some() {
                replaced += 1;
            } else {
                verbatim += 1;
            }
            Ok(())
        })
        .unwrap();
    assert!(replaced > 30 && verbatim >= 20, "{replaced} {verbatim}");
}
