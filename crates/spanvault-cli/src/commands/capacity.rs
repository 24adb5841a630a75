//! `capacity`: what keeps originals, what was refused, and what would free the most.

use std::collections::BTreeMap;
use std::io;

use clap::Args;
use serde::Serialize;
use spanvault::{Capacity, DemandId, KeptBy, Relief};
use spanvault_types::DemandRef;

use super::stats::AmountResponse;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::output::{Page, Response, bytes, count, to_the_second};
use crate::wire;

/// Add up what keeps originals, and what would free the most
///
/// Shows bytes and tokens by what keeps them and by the reasons of the refusals that stand, the need that ends first,
/// growth per day, when a budget would be reached, and the ways out that would free the most, best first.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    spanvault capacity\n  \
    spanvault capacity --budget 20GiB --json")]
pub(crate) struct CapacityArgs {
    /// How many bytes there is room for, such as 500MB or 20GiB
    #[arg(long, value_name = "BYTES", value_parser = size)]
    budget: Option<u64>,
}

/// Reads a number of bytes with a unit.
fn size(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit_bytes: u64 = match unit.trim() {
        "" | "B" => 1,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TiB" => 1 << 40,
        _ => return Err("expected a number and one of B, KB, MB, GB, TB, KiB, MiB, GiB, TiB".to_owned()),
    };
    let number: u64 = number.parse().map_err(|_digits| "expected a number of bytes".to_owned())?;
    number.checked_mul(unit_bytes).ok_or_else(|| "more bytes than can be counted".to_owned())
}

pub(crate) fn run(args: &CapacityArgs, context: &mut Context) -> Result<Exit, Failure> {
    let capacity = context.reading()?.capacity(args.budget)?;
    context.output.emit(&CapacityResponse::new(capacity, args.budget))?;
    Ok(Exit::Done)
}

#[derive(Debug, Serialize)]
struct CapacityResponse {
    bytes: u64,
    bytes_per_day: u64,
    budget: Option<u64>,
    full_at: Option<String>,
    kept: KeptResponse,
    refused: BTreeMap<&'static str, AmountResponse>,
    verdicts: u64,
    earliest_pass: Option<String>,
    oldest_need: Option<NeedResponse>,
    ways_out: Vec<ReliefResponse>,
}

#[derive(Debug, Serialize)]
struct KeptResponse {
    no_rule: AmountResponse,
    forever: AmountResponse,
    retention: AmountResponse,
    assumed_audit: AmountResponse,
    leases: AmountResponse,
    demands: BTreeMap<String, AmountResponse>,
    holds: BTreeMap<String, AmountResponse>,
    sessions: BTreeMap<String, AmountResponse>,
}

#[derive(Debug, Serialize)]
struct NeedResponse {
    demand: String,
    until: String,
}

#[derive(Debug, Serialize)]
struct ReliefResponse {
    command: String,
    #[serde(flatten)]
    frees: AmountResponse,
}

impl CapacityResponse {
    fn new(capacity: Capacity, budget: Option<u64>) -> Self {
        let refused = capacity.refused.into_iter().map(|(kind, amount)| (kind.as_str(), amount.into()));
        let need = |(demand, until): (Option<DemandId>, _)| NeedResponse {
            demand: wire::demand(demand.map_or(DemandRef::Assumed, |id| DemandRef::Declared(id.0))),
            until: wire::instant(until),
        };
        Self {
            bytes: capacity.bytes,
            bytes_per_day: capacity.bytes_per_day,
            budget,
            full_at: capacity.full_at.map(wire::instant),
            kept: KeptResponse::from(capacity.kept),
            refused: refused.collect(),
            verdicts: capacity.verdicts,
            earliest_pass: capacity.earliest_pass.map(wire::instant),
            oldest_need: capacity.oldest_need.map(need),
            ways_out: capacity
                .reliefs
                .into_iter()
                .map(|(relief, amount)| ReliefResponse { command: command(&relief), frees: amount.into() })
                .collect(),
        }
    }
}

impl From<KeptBy> for KeptResponse {
    fn from(kept: KeptBy) -> Self {
        Self {
            no_rule: kept.no_rule.into(),
            forever: kept.forever.into(),
            retention: kept.retention.into(),
            assumed_audit: kept.assumed_audit.into(),
            leases: kept.leases.into(),
            demands: kept.demands.into_iter().map(|(id, amount)| (id.to_string(), amount.into())).collect(),
            holds: kept.holds.into_iter().map(|(id, amount)| (id.to_string(), amount.into())).collect(),
            sessions: kept.sessions.into_iter().map(|(name, amount)| (name, amount.into())).collect(),
        }
    }
}

/// The command that would bring the relief.
fn command(relief: &Relief) -> String {
    match relief {
        Relief::WithdrawDemand(demand) => format!("spanvault demand withdraw {demand} --reason TEXT"),
        Relief::ReleaseHold(hold) => format!("spanvault hold release {hold} --reason TEXT"),
        Relief::AssumeNoAudit => "spanvault policy set --assume none".to_owned(),
    }
}

impl Response for CapacityResponse {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.field("originals", bytes(self.bytes))?;
        page.field("growth", format_args!("{} a day", bytes(self.bytes_per_day)))?;
        if let Some(budget) = self.budget {
            let full = self
                .full_at
                .as_ref()
                .map_or_else(|| "not at this rate".to_owned(), |at| format!("at {}", to_the_second(at)));
            page.field("budget", format_args!("{}, reached {full}", bytes(budget)))?;
        }
        if let Some(need) = &self.oldest_need {
            page.field(
                "first to end",
                format_args!("demand {} at {}", need.demand, to_the_second(&need.until)),
            )?;
        }
        self.kept.human(page)?;
        page.gap()?;
        page.heading(&format!("refused as it stands, of {} verdicts", count(self.verdicts)))?;
        for (reason, amount) in &self.refused {
            page.line(format_args!("  {reason:<20} {}", amount.in_words("span")))?;
        }
        if self.refused.is_empty() {
            page.line("  nothing")?;
        }
        if let Some(at) = &self.earliest_pass {
            page.line(format_args!("  the first of them could pass at {}", to_the_second(at)))?;
        }
        page.gap()?;
        page.heading("ways out, what frees most first")?;
        for way in &self.ways_out {
            page.line(format_args!("  {}: {}", way.command, way.frees.in_words("original")))?;
        }
        if self.ways_out.is_empty() {
            page.line("  none: nothing is kept beyond its retention by one thing alone")?;
        }
        Ok(())
    }
}

impl KeptResponse {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.gap()?;
        page.heading("kept by")?;
        let of_vault = [
            ("no rule", &self.no_rule),
            ("a rule, forever", &self.forever),
            ("retention", &self.retention),
            ("the assumed audit", &self.assumed_audit),
            ("leases", &self.leases),
        ];
        for (what, amount) in of_vault.into_iter().filter(|(_what, amount)| !amount.is_none()) {
            page.line(format_args!("  {what:<20} {}", amount.in_words("original")))?;
        }
        let named = [("demand", &self.demands), ("hold", &self.holds), ("session", &self.sessions)];
        for (what, amounts) in named {
            for (name, amount) in amounts {
                let name = format!("{what} {name}");
                let name = page.safe(&name).into_owned();
                page.line(format_args!("  {name:<20} {}", amount.in_words("original")))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_a_number_and_a_unit() {
        assert_eq!(size("10"), Ok(10));
        assert_eq!(size("20GiB"), Ok(20 << 30));
        assert_eq!(size("5 MB"), Ok(5_000_000));
        for bad in ["", "GiB", "-1", "1.5GB", "1 parsec", "99999999999999999999", "99999999999TiB"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }
}
