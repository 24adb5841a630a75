//! `replay`: the originals of a session, in order, byte for byte.

use std::fmt::Write as _;
use std::io;

use clap::Args;
use serde::Serialize;
use spanvault::{Replay, ReplayedSpan, Session};

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::output::{Page, Response, Tone, counted};
use crate::sink::Stopped;
use crate::wire;

/// Give the originals of a session in order, byte for byte
///
/// Every original is read and verified before the first one is given: where one cannot be had, nothing is, and what
/// is missing is named (exit 5). Each original is followed by a line break; with "--json" each is an object with its
/// text, or with its bytes in hexadecimal where they are no text.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  spanvault replay run-42 | jq -c .message")]
pub(crate) struct ReplayArgs {
    /// The session, by its name or a unique start of it
    #[arg(value_name = "SESSION")]
    session: String,
}

pub(crate) fn run(args: &ReplayArgs, context: &mut Context) -> Result<Exit, Failure> {
    let vault = context.reading()?;
    let session = vault.find(&args.session)?;
    let mut stopped = Stopped::default();
    let replayed = session.replay(&mut |span| stopped.heed(give(span, context)));
    match stopped.or(replayed)? {
        Replay::Complete { .. } => Ok(Exit::Done),
        Replay::Insufficient { missing } => {
            let missing = missing.into_iter().map(|(span, hash, whereabouts)| MissingResponse {
                span: span.to_string(),
                hash: hash.map(|hash| hash.to_string()),
                reason: whereabouts.as_str(),
            });
            let response = InsufficientResponse::new(&session, missing.collect());
            context.output.emit(&response)?;
            Ok(Exit::Insufficient)
        }
    }
}

fn give(span: ReplayedSpan, context: &mut Context) -> Result<(), Failure> {
    if context.output.is_json() {
        return context.output.line(&ReplayedResponse::from(span));
    }
    context.output.bytes(&span.bytes)?;
    context.output.bytes(b"\n")
}

#[derive(Debug, Serialize)]
struct ReplayedResponse {
    span: String,
    hash: String,
    index: u64,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hex: Option<String>,
}

impl From<ReplayedSpan> for ReplayedResponse {
    fn from(span: ReplayedSpan) -> Self {
        let bytes = span.bytes.len() as u64;
        let (text, hex) = match String::from_utf8(span.bytes) {
            Ok(text) => (Some(text), None),
            Err(error) => (None, Some(hex(error.as_bytes()))),
        };
        Self { span: span.span.to_string(), hash: span.hash.to_string(), index: span.index, bytes, text, hex }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut digits, byte| {
        // Writing into a string cannot fail.
        write!(digits, "{byte:02x}").unwrap_or_default();
        digits
    })
}

#[derive(Debug, Serialize)]
struct InsufficientResponse {
    answer: &'static str,
    session: String,
    missing: Vec<MissingResponse>,
}

#[derive(Debug, Serialize)]
struct MissingResponse {
    span: String,
    hash: Option<String>,
    reason: &'static str,
}

impl InsufficientResponse {
    fn new(session: &Session<'_>, missing: Vec<MissingResponse>) -> Self {
        Self { answer: "insufficient", session: session.name().to_owned(), missing }
    }
}

/// How many missing originals people are shown.
const MISSING_SHOWN: usize = 10;

impl Response for InsufficientResponse {
    fn human(&self, page: &mut Page<'_>) -> io::Result<()> {
        let word = page.paint(Tone::Warning, "insufficient evidence");
        let session = page.safe(&self.session).into_owned();
        let missing = counted(self.missing.len() as u64, "original");
        page.line(format_args!("{word}: {missing} of session {session} cannot be had"))?;
        for missing in self.missing.iter().take(MISSING_SHOWN) {
            let hash = missing.hash.as_deref().map_or_else(|| "unknown".to_owned(), wire::short_hash);
            page.line(format_args!("  {}  {} {hash}", missing.reason, missing.span))?;
        }
        let more = self.missing.len().saturating_sub(MISSING_SHOWN);
        if more > 0 { page.line(format_args!("  and {more} more")) } else { Ok(()) }
    }
}
