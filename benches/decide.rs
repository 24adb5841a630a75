//! The gate: how long a decision about one span takes, and what a whole plan costs around it.

use spanvault::{CompactionOptions, Keep, SpanDraft, Vault};
use spanvault_benches::noise::Noise;
use spanvault_benches::place::Place;
use spanvault_benches::report::{Report, Target};
use spanvault_benches::settings::Settings;
use spanvault_benches::stats::{median, us_each};
use spanvault_benches::watch::timed;
use spanvault_benches::{Outcome, check, spans};
use spanvault_gate::{
    ClockTrust, CompactionRequest, Decision, DemandView, ExpiryMode, LeaseView, LiveMark, OriginalView,
    Presence, Reach, Reading, RemovalView, SpanView, Stage, StoreState, SummaryView, VaultState,
    decide_compaction, decide_removal,
};
use spanvault_types::{ByteRange, DemandRef, EvidentialClass, Expiry, Horizon, Position, StoreTime, Ttl};

/// An instant in the life of a vault, in milliseconds.
const NOW: StoreTime = StoreTime::from_ms(1_800_000_000_000);
const DAY_MS: u64 = 86_400_000;

fn main() -> Outcome {
    let settings = Settings::from_command_line();
    let place = Place::below(env!("CARGO_TARGET_TMPDIR"))?;
    let decisions = settings.count("decisions", 100_000)?;
    let rounds = settings.count("rounds", 5)?;
    let mut report = Report::new("decide");
    report.about("decisions a round", decisions);
    report.about("rounds", rounds);
    compaction(decisions, rounds, &mut report)?;
    removal(decisions, rounds, &mut report)?;
    plan(&place, settings.count("spans", 2_000)?, rounds, &mut report)?;
    report.finish(&settings)
}

/// May this span be replaced? One of four is refused, each for another reason.
fn compaction(decisions: usize, rounds: usize, report: &mut Report) -> Outcome {
    let request = CompactionRequest { mode: ExpiryMode::Check, summary: SummaryView::FORESEEN };
    let spans: Vec<SpanView> = (0..decisions as u64).map(span_view).collect();
    let mut times = Vec::new();
    for _round in 0..rounds {
        let (refused, time) = timed(|| {
            let decisions = spans.iter().map(|span| decide_compaction(&state(), &request, span));
            Outcome::Ok(decisions.filter(|decision| matches!(decision, Decision::Refuse(_))).count())
        })?;
        check(refused == decisions / 4, || format!("{refused} of {decisions} were refused"))?;
        times.push(us_each(time, decisions));
    }
    report.judged("compaction, one decision", median(&times), "us", Target::AtMost(20.0));
    Ok(())
}

/// May these bytes go? One of four is refused.
fn removal(decisions: usize, rounds: usize, report: &mut Report) -> Outcome {
    let originals: Vec<RemovalView> = (0..decisions as u64).map(removal_view).collect();
    let mut times = Vec::new();
    for _round in 0..rounds {
        let (refused, time) = timed(|| {
            let decisions = originals.iter().map(|original| decide_removal(&state(), original));
            Outcome::Ok(decisions.filter(|decision| matches!(decision, Decision::Refuse(_))).count())
        })?;
        check(refused == decisions / 4, || format!("{refused} of {decisions} were refused"))?;
        times.push(us_each(time, decisions));
    }
    report.judged("removal, one decision", median(&times), "us", Target::AtMost(20.0));
    Ok(())
}

/// What a plan takes for each span with all that the gate has to be shown: the log, the bytes, the reading.
fn plan(place: &Place, count: usize, rounds: usize, report: &mut Report) -> Outcome {
    report.about("spans of the plan", count);
    let vault = Vault::open(place.join("decide.vault"))?;
    let session = vault.session("bench")?;
    let mut noise = Noise::new(6);
    let drafts = (0..count / 2).flat_map(|n| {
        let args = serde_json::json!({"file_path": format!("/srv/module_{n}/handler.rs")});
        let id = format!("call_{n}");
        let result = SpanDraft::tool_result(id.clone(), spans::listing(&mut noise, 1_000));
        [SpanDraft::tool_call_with_id(id, "Read", args), result]
    });
    session.record_all(drafts.collect())?;
    let options = CompactionOptions { keep: Keep::last(20), ..CompactionOptions::default() };
    let mut times = Vec::new();
    for _round in 0..rounds {
        let (plan, time) = timed(|| session.plan_with(&options))?;
        let permitted: usize = plan.permitted().map(|range| range.spans().len()).sum();
        check(permitted == plan.candidates() && permitted > 0, || {
            format!("{permitted} of {} candidates are permitted", plan.candidates())
        })?;
        times.push(us_each(time, count));
    }
    vault.close()?;
    report.figure("plan of a session, each span of 600 bytes", median(&times), "us");
    Ok(())
}

fn state() -> VaultState {
    VaultState {
        now: NOW,
        clock: ClockTrust::Trusted,
        store: StoreState::Ok,
        policy: Ok(Position::new(3)),
        revision: Position::new(9_000),
    }
}

/// A cited, retrievable span under the assumed audit and one demand, as most are.
fn span_view(n: u64) -> SpanView {
    let is_live = n.is_multiple_of(8);
    let expires_early = n % 8 == 4;
    let range = ByteRange { start: 10, end: 40 };
    let until = if expires_early { DAY_MS } else { 400 * DAY_MS };
    let class =
        if n.is_multiple_of(3) { EvidentialClass::SideEffecting } else { EvidentialClass::Structured };
    let original = OriginalView {
        original: Position::new(n + 1),
        reading: Ok(Reading { class, atom: true, denial: false, promise: false }),
        cited: true,
        presence: Ok(Presence::HotVerified),
        reach: Reach::LOCAL,
        retention: Ok(Expiry::At(NOW.plus_ms(until))),
        leases: Ok(Vec::new()),
        demands: Ok(demands(90 * DAY_MS)),
        holds: Ok(Vec::new()),
    };
    let live = if is_live { vec![LiveMark::Obligation { range }] } else { Vec::new() };
    SpanView { span: Position::new(n + 1), live: Ok(live), originals: Ok(vec![original]) }
}

/// An original that was condemned three days ago and is due, as most are; one of eight is held, one leased.
fn removal_view(n: u64) -> RemovalView {
    let ago = |days: u64| StoreTime::from_ms(NOW.as_ms() - days * DAY_MS);
    let lease = LeaseView {
        given_by: Position::new(7),
        until: Horizon::Until(NOW.plus_ms(DAY_MS)),
        demands: vec![DemandRef::Declared(Position::new(5))],
    };
    RemovalView {
        original: Position::new(n + 1),
        stage: Ok(Stage::Condemned { since: ago(3) }),
        grace: Ok(Ttl::days(1)),
        retention: Ok(Expiry::At(ago(4))),
        leases: Ok(if n % 8 == 4 { vec![lease] } else { Vec::new() }),
        demands: Ok(Vec::new()),
        holds: Ok(if n.is_multiple_of(8) { vec![Position::new(6)] } else { Vec::new() }),
        live: Ok(Vec::new()),
        cited_by: Ok(vec![Position::new(n + 2)]),
    }
}

fn demands(ms: u64) -> Vec<DemandView> {
    let horizon = Horizon::Until(NOW.plus_ms(ms));
    [DemandRef::Assumed, DemandRef::Declared(Position::new(5))]
        .map(|demand| DemandView { demand, horizon })
        .to_vec()
}
