//! The command line of Spanvault: arguments in, calls of the facade, answers out.
//!
//! An edge: it holds no rule of its own about what is kept, permitted or true. It reads arguments ([`command`] is
//! the whole grammar), opens the vault the way the command needs it, and converts what the facade says into its own
//! `…Response` types, which are the JSON that others rely on. Start with [`run`].

mod actor;
mod args;
mod commands;
mod context;
mod failure;
mod files;
mod help;
mod output;
mod run;
mod sink;
mod values;
mod wire;

pub use args::command;
pub use run::run;
