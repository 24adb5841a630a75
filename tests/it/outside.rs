//! What suites on real file systems have in common: the sessions that they record, whose fate their number decides, and
//! a look from outside at a vault that must have kept what it acknowledged.

use std::collections::BTreeMap;
use std::process::Command;

use spanvault::types::{ContentHash, Event, Position};
use spanvault::{ErrorKind, Vault, VerifyDepth};
use spanvault_testkit::Auditor;

/// Runs a program of the system.
pub(crate) fn run(program: &str, args: &[&str]) -> Result<(), String> {
    let done = Command::new(program).args(args).output().map_err(|error| format!("{program}: {error}"))?;
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    if done.status.success() { Ok(()) } else { Err(format!("{program} {args:?}: {said}")) }
}

/// What becomes of a session, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// No rule makes it due.
    Stays,
    /// It is due at once, but held.
    Held,
    /// It is due at once.
    Goes,
}

pub(crate) fn fate(session: u32) -> Fate {
    match session % 4 {
        0 | 1 => Fate::Stays,
        2 => Fate::Held,
        _ => Fate::Goes,
    }
}

/// The lines of the transcript of a session.
pub(crate) fn lines(session: u32) -> Vec<String> {
    let line = |n: u32| {
        let (kind, role) = if n.is_multiple_of(2) { ("user", "user") } else { ("assistant", "assistant") };
        let words = format!("Ledger {session}, entry {n}: the sum is {}. ", n * 31 + session).repeat(8);
        format!(
            r#"{{"type":"{kind}","uuid":"{session}-{n}","sessionId":"session-{session}","timestamp":"2026-01-01T00:00:00Z","message":{{"role":"{role}","content":"{words}"}}}}"#,
        )
    };
    (0..20).map(line).collect()
}

/// An original that was acknowledged, and whether it may be gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum May {
    Stay,
    Go,
}

/// Every original that was acknowledged is there byte for byte, or lawfully gone behind its tombstone; the log is lawful
/// and all bytes verify. Gives how many are gone, and the log.
pub(crate) fn look(
    vault: &Vault,
    acknowledged: &BTreeMap<ContentHash, (Vec<u8>, May)>,
) -> Result<(usize, Vec<(Position, Event)>), String> {
    let mut gone = 0;
    for (hash, (bytes, may)) in acknowledged {
        match vault.recover(*hash) {
            Ok(found) if found == *bytes => {}
            Ok(_other) => return Err(format!("{hash} has other bytes")),
            Err(error) if error.kind() != ErrorKind::Insufficient || error.tombstone().is_none() => {
                return Err(format!("{hash}: {error:?}"));
            }
            Err(_gone) if *may == May::Stay => return Err(format!("{hash} must be there and is gone")),
            Err(_gone) => gone += 1,
        }
    }
    let (mut auditor, mut log) = (Auditor::default(), Vec::new());
    let take = &mut |entry: spanvault::LogEntry| {
        let taken = auditor.take(entry.at, &entry.event);
        taken.map_err(|unlawful| spanvault::Error::from_caller(ErrorKind::Internal, unlawful.to_string()))?;
        log.push((entry.at, entry.event));
        Ok(())
    };
    vault.log(Position::new(1), take).map_err(|error| format!("the log: {error:?}"))?;
    auditor.finish().map_err(|unlawful| unlawful.to_string())?;
    let found = vault.verify(VerifyDepth::Data, &mut |_at| {}).map_err(|error| format!("{error:?}"))?;
    if found.is_sound() { Ok((gone, log)) } else { Err(format!("{found:?}")) }
}
