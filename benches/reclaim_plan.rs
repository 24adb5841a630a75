//! A plan over many originals whose time is up: what a dry run of `reclaim` takes, in time and memory.
//!
//! Each session was compacted while an audit was assumed, so its originals are cited and were leased, and all of that
//! has to be looked at before the gate says that they may go. `--plain` leaves the summaries out.

use std::io::Write;
use std::path::Path;

use spanvault::types::{Actor, Ttl, TtlRule};
use spanvault::{BuiltIn, CompactionOptions, NewRetention, Run, Session, SpanDraft, Vault};
use spanvault_benches::child::Twin;
use spanvault_benches::noise::Noise;
use spanvault_benches::place::{self, Place};
use spanvault_benches::report::{Report, Target};
use spanvault_benches::settings::Settings;
use spanvault_benches::stats::{mebibytes, median, us_each};
use spanvault_benches::watch::timed;
use spanvault_benches::{Outcome, check, memory, spans};

/// How many spans a session has, half of them calls and half results.
const SESSION_SPANS: usize = 1_000;
/// The length of a result in bytes.
const RESULT_BYTES: usize = 500;
/// What a plan may take for one original, in microseconds: ten seconds for a million.
const EACH_US: f64 = 10.0;

fn main() -> Outcome {
    let settings = Settings::from_command_line();
    if let Some(dir) = settings.text("plan-of") {
        return plan(Path::new(dir));
    }
    let place = Place::below(env!("CARGO_TARGET_TMPDIR"))?;
    let count = settings.count("spans", 100_000)?;
    let rounds = settings.count("rounds", 3)?;
    let mut report = Report::new("reclaim_plan");
    report.about("rounds", rounds);
    report.about("sessions compacted", !settings.has("plain"));
    for count in [count / 10, count] {
        let dir = place.join(&format!("{count}.vault"));
        fill(&dir, count, !settings.has("plain"))?;
        measure(&dir, count, rounds, &mut report)?;
        place::clear(&dir)?;
    }
    report.finish(&settings)
}

fn measure(dir: &Path, count: usize, rounds: usize, report: &mut Report) -> Outcome {
    let each = |seconds: f64| us_each(std::time::Duration::from_secs_f64(seconds), count);
    let target = Target::AtMost(EACH_US);
    let first = plans(dir, count, rounds)?;
    let name = format!("{count} originals");
    report.figure(format!("{name}, plan"), first.seconds, "s");
    report.judged(format!("{name}, plan, each"), each(first.seconds), "us", target);
    report.judged(format!("{name}, plan, peak over idle"), first.mebibytes, "MiB", Target::AtMost(128.0));
    let vault = Vault::open(dir)?;
    let (condemned, time) = timed(|| vault.reclaim(Run::Real, &mut |_step| {}))?;
    check(condemned.condemned == count as u64, || {
        format!("{} of {count} were condemned", condemned.condemned)
    })?;
    report.figure(format!("{name}, condemning, each"), us_each(time, count), "us");
    vault.close()?;
    let second = plans(dir, count, rounds)?;
    report.judged(format!("{name}, plan of the condemned, each"), each(second.seconds), "us", target);
    let vault = Vault::open(dir)?;
    let (reclaimed, time) = timed(|| vault.reclaim(Run::Real, &mut |_step| {}))?;
    check(reclaimed.reclaimed == count as u64, || {
        format!("{} of {count} were reclaimed", reclaimed.reclaimed)
    })?;
    report.figure(format!("{name}, reclaiming, each"), us_each(time, count), "us");
    vault.close()?;
    Ok(())
}

/// What one plan took.
struct Cost {
    seconds: f64,
    mebibytes: f64,
}

/// The median of several plans, each by a process that has done nothing else.
fn plans(dir: &Path, count: usize, rounds: usize) -> Outcome<Cost> {
    let (mut seconds, mut peaks) = (Vec::new(), Vec::new());
    for _round in 0..rounds {
        let mut twin = Twin::start(&["--plan-of", &dir.to_string_lossy()])?;
        let line = twin.line()?;
        twin.end()?;
        let figures = line.split(' ').map(str::parse).collect::<Result<Vec<f64>, _>>()?;
        let [took, peak, permitted] = figures.as_slice() else {
            return Err("a plan says three figures".into());
        };
        #[expect(clippy::float_cmp, clippy::cast_precision_loss, reason = "both are the same whole number")]
        let is_whole = *permitted == count as f64;
        check(is_whole, || format!("{permitted} of {count} may go"))?;
        seconds.push(*took);
        peaks.push(*peak);
    }
    Ok(Cost { seconds: median(&seconds), mebibytes: median(&peaks) })
}

/// Makes one plan; says its seconds, its memory over idle and how many originals may go.
fn plan(dir: &Path) -> Outcome {
    let vault = Vault::open_read_only(dir)?;
    let mut told = 0_u64;
    let ((report, time), peak) =
        memory::peak_over_idle(|| Ok(timed(|| vault.reclaim(Run::Dry, &mut |_step| told += 1))?))?;
    check(told == report.due, || format!("{told} steps were told of {}", report.due))?;
    let permitted = report.condemned + report.reclaimed;
    Ok(writeln!(std::io::stdout(), "{} {} {permitted}", time.as_secs_f64(), mebibytes(peak))?)
}

/// A vault whose originals are all past their time, and nothing rests on them.
fn fill(dir: &Path, count: usize, is_compacted: bool) -> Outcome {
    let vault = Vault::open(dir)?;
    let mut noise = Noise::new(7);
    for n in 0..count.div_ceil(SESSION_SPANS) {
        let session = vault.session(&format!("bench {n}"))?;
        record(&session, SESSION_SPANS.min(count - n * SESSION_SPANS), &mut noise)?;
        if is_compacted {
            let made = session.compact_with(&CompactionOptions::default(), &mut BuiltIn)?;
            check(made.permitted == made.candidates, || format!("{} were refused", made.refused))?;
        }
    }
    let by = || Actor { name: "bench".to_owned(), reason: "to measure".to_owned() };
    let (keep_for, grace) = (TtlRule::For(Ttl::from_ms(1)?), Ttl::from_ms(1)?);
    let rule = NewRetention { keep_for: Some(keep_for), grace: Some(grace), ..NewRetention::default() };
    vault.set_retention(&rule, by())?;
    vault.assume_audit(Some(Ttl::from_ms(1)?), by())?;
    Ok(vault.close()?)
}

fn record(session: &Session<'_>, count: usize, noise: &mut Noise) -> Outcome {
    let mut drafts = Vec::with_capacity(count);
    for n in 0..count / 2 {
        let id = format!("call_{n}_{:x}", noise.next());
        let args = serde_json::json!({"file_path": format!("/srv/module_{n}/handler.rs")});
        drafts.push(SpanDraft::tool_call_with_id(id.clone(), "Read", args));
        drafts.push(SpanDraft::tool_result(id, spans::listing(noise, RESULT_BYTES)));
    }
    check(session.record_all(drafts)?.len() == count, || "an odd number of spans".to_owned())
}
