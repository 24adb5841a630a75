//! Who did it, and why: what the log keeps about a change.

use clap::Args;
use spanvault_types::Actor;

use crate::failure::Failure;

/// Who asks for a change, and why.
#[derive(Debug, Args)]
pub(crate) struct ActorArgs {
    /// Who does it, for the log; the operating system's user by default
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,
    /// Why, for the log
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// Who asks for a change that must not go without a reason.
#[derive(Debug, Args)]
pub(crate) struct ReasonedArgs {
    /// Who does it, for the log; the operating system's user by default
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,
    /// Why, for the log; this change does not go without one
    #[arg(long, value_name = "TEXT", required = true)]
    reason: String,
}

impl ActorArgs {
    pub(crate) fn actor(&self) -> Result<Actor, Failure> {
        actor(self.actor.as_deref(), self.reason.as_deref().unwrap_or_default())
    }
}

impl ReasonedArgs {
    pub(crate) fn actor(&self) -> Result<Actor, Failure> {
        actor(self.actor.as_deref(), &self.reason)
    }
}

fn actor(name: Option<&str>, reason: &str) -> Result<Actor, Failure> {
    let name = match name.map(str::trim) {
        Some("") => {
            return Err(Failure::usage("name an actor without a name", "say who with \"--actor NAME\""));
        }
        Some(name) => name.to_owned(),
        None => whoami::username().map_err(|error| {
            Failure::usage(
                format!("find the operating system's user: {error}"),
                "say who with \"--actor NAME\"",
            )
        })?,
    };
    Ok(Actor { name, reason: reason.trim().to_owned() })
}
