//! `policy`: what is assumed where nobody declared a demand.

use std::io;

use clap::{Args, Subcommand};
use serde::Serialize;
use spanvault::Policy;
use spanvault_types::Ttl;

use crate::actor::ActorArgs;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::output::{Page, Response, counted};

/// Show and set what is assumed where nothing was declared
///
/// That nobody declared a demand does not mean that nobody needs the evidence. So an audit is assumed until 90 days
/// after the recording; an explicit demand takes its place in its scope. A change acts at once, on all originals.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    spanvault policy show\n  \
    spanvault policy set --assume audit=30d\n  \
    spanvault policy set --assume none --reason \"scratch vault\"")]
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Show(ShowArgs),
    Set(SetArgs),
}

/// Show the policy in force
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  spanvault policy show --json")]
struct ShowArgs {}

/// Set the assumed audit
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  spanvault policy set --assume audit=30d")]
struct SetArgs {
    /// How long after its recording an audit is assumed to need an original, or that none is
    #[arg(long, value_name = "audit=D|none", value_parser = assumption)]
    assume: Assumption,
    #[command(flatten)]
    by: ActorArgs,
}

#[derive(Debug, Clone, Copy)]
enum Assumption {
    Audit(Ttl),
    None,
}

fn assumption(text: &str) -> Result<Assumption, String> {
    match (text, text.strip_prefix("audit=")) {
        ("none", _) => Ok(Assumption::None),
        (_, Some(length)) => Ttl::parse(length).map(Assumption::Audit).map_err(|error| error.to_string()),
        _ => Err("expected audit=D, for example audit=90d, or none".to_owned()),
    }
}

pub(crate) fn run(args: &PolicyArgs, context: &mut Context) -> Result<Exit, Failure> {
    match &args.what {
        What::Show(_args) => {
            let policy = context.reading()?.policy()?;
            context.output.emit(&PolicyResponse::from(&policy))?;
        }
        What::Set(args) => {
            let by = args.by.actor()?;
            context.writing(|vault, output| {
                let audit = match args.assume {
                    Assumption::Audit(length) => Some(length),
                    Assumption::None => None,
                };
                vault.assume_audit(audit, by)?;
                output.emit(&PolicyResponse::from(&vault.policy()?))
            })?;
        }
    }
    Ok(Exit::Done)
}

#[derive(Debug, Serialize)]
struct PolicyResponse {
    /// How long after its recording an audit is assumed to need an original.
    assumed_audit: Option<String>,
    /// The grace where no rule says otherwise.
    default_grace: String,
    retention_rules: u64,
}

impl From<&Policy> for PolicyResponse {
    fn from(policy: &Policy) -> Self {
        let audit = policy.assumed_audit_ms.and_then(|ms| Ttl::from_ms(ms).ok());
        Self {
            assumed_audit: audit.map(|audit| audit.to_string()),
            default_grace: policy.default_grace.to_string(),
            retention_rules: policy.rules.len() as u64,
        }
    }
}

impl Response for PolicyResponse {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        let audit = self
            .assumed_audit
            .as_ref()
            .map_or_else(|| "none".to_owned(), |length| format!("until {length} after the recording"));
        page.field("assumed audit", audit)?;
        page.field("default grace", &self.default_grace)?;
        page.field("retention", counted(self.retention_rules, "rule"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assumption_is_an_audit_with_a_length_or_none() {
        assert!(matches!(assumption("none"), Ok(Assumption::None)));
        assert!(
            matches!(assumption("audit=90d"), Ok(Assumption::Audit(length)) if length.to_string() == "90d")
        );
        for bad in ["", "audit", "audit=", "audit=0d", "replay=1d"] {
            assert!(assumption(bad).is_err(), "{bad}");
        }
    }
}
