//! `health`: what an operator has to know before trusting a vault.

use std::io;

use clap::Args;
use serde::Serialize;
use spanvault::Health;
use spanvault_env::ClockState;

use super::registry::LoweredResponse;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::output::{Page, Response, Tone, bytes, count, joined, to_the_second};
use crate::wire;

/// Say how the vault is
///
/// Whether the store stopped, whether the clock can be trusted and how far store time lags, what waits for its grace,
/// and which summaries are at risk. Every figure is of the instant and the log position that are named with it.
/// Exits with 6 where something is damaged.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  spanvault health --json")]
pub(crate) struct HealthArgs {}

pub(crate) fn run(_args: &HealthArgs, context: &mut Context) -> Result<Exit, Failure> {
    let health = context.reading()?.health()?;
    let is_damaged = !health.damage.is_empty() || !health.at_risk.is_empty();
    context.output.emit(&HealthResponse::from(health))?;
    Ok(if is_damaged { Exit::Corrupt } else { Exit::Done })
}

#[derive(Debug, Serialize)]
struct HealthResponse {
    sound: bool,
    at: String,
    revision: u64,
    poisoned: bool,
    clock: &'static str,
    drift_ms: i64,
    lag_ms: i64,
    condemned: u64,
    oldest_condemned: Option<String>,
    reserve_bytes: u64,
    /// `null` where no index is open, as in every inspecting command.
    index_gap: Option<u64>,
    at_risk: Vec<String>,
    expired: u64,
    damage: u64,
    overrides: u64,
    lowered_tools: Vec<LoweredResponse>,
}

impl From<Health> for HealthResponse {
    fn from(health: Health) -> Self {
        let (clock, drift_ms) = match health.clock {
            ClockState::Trusted => ("trusted", 0),
            ClockState::Suspect { drift_ms } => ("suspect", drift_ms),
        };
        Self {
            sound: health.is_sound(),
            at: wire::instant(health.at),
            revision: health.revision.get(),
            poisoned: health.is_poisoned,
            clock,
            drift_ms,
            lag_ms: health.lag_ms,
            condemned: health.condemned,
            oldest_condemned: health.oldest_condemned.map(wire::instant),
            reserve_bytes: health.reserve_bytes,
            index_gap: health.index_gap,
            at_risk: health.at_risk.iter().map(ToString::to_string).collect(),
            expired: health.expired,
            damage: health.damage.len() as u64,
            overrides: health.overrides,
            lowered_tools: health.lowered_tools.into_iter().map(Into::into).collect(),
        }
    }
}

impl Response for HealthResponse {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        let word = if self.sound {
            page.paint(Tone::Good, "sound")
        } else {
            page.paint(Tone::Bad, "needs an operator")
        };
        page.line(format_args!("{word}, at {} and log position {}", to_the_second(&self.at), self.revision))?;
        if self.poisoned {
            page.field("  store", "stopped after a failed write: open the vault again")?;
        }
        let clock = match self.clock {
            "trusted" => "trusted".to_owned(),
            _ => format!(
                "suspect, drift {} ms: nothing is removed; \"spanvault confirm-clock\" ends it",
                self.drift_ms
            ),
        };
        page.field("  clock", clock)?;
        page.field("  lag", format_args!("{} ms behind the wall clock", self.lag_ms))?;
        let oldest = self
            .oldest_condemned
            .as_ref()
            .map_or_else(String::new, |at| format!(", the oldest since {}", to_the_second(at)));
        page.field("  condemned", format_args!("{}{oldest}", count(self.condemned)))?;
        page.field("  at risk", joined(&self.at_risk, "no summaries"))?;
        page.field(
            "  expired",
            format_args!("evidence lost to retention: {} of the summaries", count(self.expired)),
        )?;
        if self.damage > 0 {
            let text = format!("{} places: \"spanvault verify --read-data\" lists them", count(self.damage));
            let text = page.paint(Tone::Bad, &text);
            page.field("  damage", text)?;
        }
        if self.reserve_bytes > 0 {
            page.field("  reserve", bytes(self.reserve_bytes))?;
        }
        if let Some(gap) = self.index_gap {
            page.field("  index", format_args!("{} positions behind the log", count(gap)))?;
        }
        page.field("  overrides", count(self.overrides))?;
        for lowered in &self.lowered_tools {
            page.field("  lowered", lowered.in_words())?;
        }
        Ok(())
    }
}
