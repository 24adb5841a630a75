//! Was exactly this call already made, and did it succeed? The guard against repeating a side effect.

use serde_json::Value;

use crate::ask::{Answer, Get, Query, Verdict};
use crate::error::Result;
use crate::vault::Vault;

/// Whether a call was already made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Execution {
    /// It was, and its result reports success.
    Confirmed,
    /// Every original in scope was looked through, and no such call ran.
    Absent,
    /// It may have been: an attempt failed or was never answered, or something in scope cannot be seen.
    Unknown,
}

impl Execution {
    /// The word that JSON and people see.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Absent => "absent",
            Self::Unknown => "unknown",
        }
    }
}

/// The answer to [`Vault::executed`].
#[derive(Debug, Clone, PartialEq)]
pub struct Executed {
    /// Whether it was.
    pub execution: Execution,
    /// How many calls of exactly this kind are seen.
    pub attempts: u64,
    /// The proof: the successful call if there is one, otherwise all attempts, and what was looked through.
    pub proof: Answer,
}

impl Vault {
    /// Says whether `tool` was already called with exactly `args` (key order ignored), across any number of
    /// compactions; in one session, or in all.
    ///
    /// ```
    /// # fn main() -> spanvault::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a directory for the example");
    /// # let vault = spanvault::Vault::open(dir.path().join("agent.vault"))?;
    /// # let session = vault.session("run-42")?;
    /// use spanvault::{Execution, SpanDraft};
    ///
    /// let args = serde_json::json!({"to": "ops@example.org", "subject": "The export is slow"});
    /// assert_eq!(vault.executed("send_mail", &args, None)?.execution, Execution::Absent);
    /// session.record(SpanDraft::tool_call("send_mail", args.clone()))?;
    /// assert_eq!(vault.executed("send_mail", &args, None)?.execution, Execution::Unknown);
    /// session.record(SpanDraft::tool_result("", "Mail sent successfully."))?;
    /// assert_eq!(vault.executed("send_mail", &args, None)?.execution, Execution::Confirmed);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Vault::ask`].
    pub fn executed(&self, tool: &str, args: &Value, session: Option<&str>) -> Result<Executed> {
        let query = |get| {
            let query = Query::calls(tool).args_exactly(args.clone()).get(get);
            match session {
                Some(session) => query.session(session),
                None => query,
            }
        };
        let attempts = self.ask(&query(Get::Count))?;
        let seen = attempts.value.as_u64().unwrap_or(0);
        let succeeded = self.ask(&query(Get::Exists).fate("succeeded"))?;
        if succeeded.answer == Verdict::Present {
            return Ok(Executed { execution: Execution::Confirmed, attempts: seen, proof: succeeded });
        }
        if attempts.answer == Verdict::Insufficient {
            return Ok(Executed { execution: Execution::Unknown, attempts: seen, proof: attempts });
        }
        // A call that was rejected or never started changed nothing; one that failed on the way may have.
        let mut execution = Execution::Absent;
        for nth in 1..=i64::try_from(seen).unwrap_or(i64::MAX) {
            let fate = self.ask(&query(Get::Fate).nth(nth))?;
            if fate.value.get("executed") != Some(&Value::Bool(false)) {
                execution = Execution::Unknown;
                break;
            }
        }
        Ok(Executed { execution, attempts: seen, proof: attempts })
    }
}
