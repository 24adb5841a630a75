//! Transcript files to spans, one module per format.
//!
//! An importer cuts a file into [`Piece`]s: the records that are originals, and the gaps between them. Put
//! together again the pieces are the file, byte for byte, whatever the file held. What an original says is
//! read from its own bytes alone ([`Importer::parse`]), so it can be read again at any time.
//!
//! Absent on purpose: this crate opens no file, writes nothing, follows no path that a transcript names, and
//! knows no vault. Start with [`Importer`].

#![warn(clippy::indexing_slicing)]

mod agentdojo;
mod aider;
mod antigravity;
mod atif;
mod blocks;
mod chat;
mod claude_code;
mod codex;
mod compaction;
mod container;
mod copilot;
mod cursor;
mod document;
mod droid;
mod error;

mod gemini;
mod generic;
mod grok;
mod head;
mod hermes;
mod importer;
mod inspect;
mod json;
mod kimi;
mod lcm;
mod lines;
mod marks;
mod messages_typed;
mod mini_swe;
mod object_format;
mod opencode;
mod openhands;
mod otlp;
mod pi;
mod qwen;
mod reading;
mod sharegpt;
mod side_file;
mod source;
mod specstory;
mod sqlite;
mod stamp;
mod swe_agent;
mod tau2;
mod tau_bench;
mod tau_few_shot;
#[cfg(test)]
mod testing;
mod text_format;
mod time;
mod vcr;
mod who_when;
mod words;

use spanvault_types::SpanContent;

pub use compaction::Kept;
pub use container::{Container, Member};
pub use error::{ImportError, Unparsed};
pub use head::Head;
pub use importer::{Confidence, Importer, Limits, Piece, Quarantine, Record};
pub use side_file::{is_stub, side_file};
pub use words::{keeps_words, may_be_added, writes_plainly};

/// A digest of the sources of this crate: another state of them may read the same bytes otherwise.
pub const SOURCE_DIGEST: &str = env!("SPANVAULT_SOURCE_DIGEST");

/// How many bytes from the start of a file [`detect`] looks at; more are ignored.
pub const HEAD_BYTES: usize = 1 << 20;

/// The format of single chat messages: what spans are recorded in that come from no file.
pub const CHAT_JSON: &str = "chat_json";

static IMPORTERS: &[&dyn Importer] = &[
    &claude_code::ClaudeCode,
    &claude_code::ClaudeWebJson,
    &tau_bench::TauBench,
    &mini_swe::MiniSwe,
    &agentdojo::AgentDojo,
    &tau2::Tau2,
    &tau2::Tau2Voice,
    &tau_few_shot::TauFewShot,
    &sharegpt::ShareGpt,
    &messages_typed::MessagesTyped,
    &who_when::WhoWhen,
    &atif::Atif,
    &inspect::Inspect,
    &otlp::OtlpGenAi,
    &gemini::GeminiCli,
    &gemini::GeminiJsonl,
    &pi::Pi,
    &pi::OpenClaw,
    &swe_agent::SweAgent,
    &openhands::OpenHandsEvent,
    &openhands::OpenHandsTrajectory,
    &openhands::OpenHandsOutput,
    &grok::Grok,
    &specstory::SpecStory,
    &aider::Aider,
    &vcr::Vcr::AnthropicMessages,
    &vcr::Vcr::OpenAiChat,
    &vcr::Vcr::OpenAiResponses,
    &vcr::Vcr::Google,
    &vcr::Vcr::Bedrock,
    &vcr::Vcr::LangchainAgents,
    &codex::Codex,
    &antigravity::Antigravity,
    &copilot::Copilot,
    &cursor::Cursor,
    &droid::Droid,
    &hermes::Hermes,
    &kimi::Kimi,
    &opencode::OpenCode,
    &qwen::Qwen,
    &lcm::Lcm,
    &chat::ChatJson,
    // What nobody knows comes last.
    &generic::GenericJsonl,
    &generic::GenericText,
];

/// All importers, the more specific ones first.
pub fn importers() -> &'static [&'static dyn Importer] {
    IMPORTERS
}

/// The names of all formats, for people to choose from.
pub fn formats() -> Vec<&'static str> {
    importers().iter().map(|importer| importer.format()).collect()
}

/// The importer of the format with this name.
///
/// # Errors
/// [`ImportError::UnknownFormatName`] where there is none.
pub fn by_name(format: &str) -> Result<&'static dyn Importer, ImportError> {
    importers()
        .iter()
        .copied()
        .find(|importer| importer.format() == format)
        .ok_or_else(|| ImportError::UnknownFormatName { name: format.to_owned() })
}

/// Finds the format of a file by its content; its name plays no part.
///
/// `head` is the start of the file: the whole of a small one, [`HEAD_BYTES`] of a large one.
///
/// # Errors
/// [`ImportError::EmptySource`] where there is nothing but white space, [`ImportError::UnknownFormat`] where no importer
/// knows the content and it is no text. Text that nobody knows is of a generic format, see [`is_generic`].
pub fn detect(head: &[u8]) -> Result<&'static dyn Importer, ImportError> {
    let head = Head::new(head);
    if head.bytes().iter().all(u8::is_ascii_whitespace) {
        return Err(ImportError::EmptySource);
    }
    let mut best: Option<(Confidence, &'static dyn Importer)> = None;
    for importer in importers() {
        let confidence = importer.detect(&head);
        if confidence == Confidence::Certain {
            return Ok(*importer);
        }
        if confidence > best.map_or(Confidence::No, |(found, _)| found) {
            best = Some((confidence, *importer));
        }
    }
    best.map(|(_, importer)| importer).ok_or(ImportError::UnknownFormat)
}

/// Whether a format is one that keeps records and reads nothing in them.
pub fn is_generic(format: &str) -> bool {
    generic::NAMES.contains(&format)
}

/// The format that any bytes can be kept as.
pub fn fallback() -> &'static dyn Importer {
    &generic::GenericText
}

/// Reads an original again.
///
/// Spans that were too large or quarantined when they were cut are not to be read again: their kind says so.
///
/// # Errors
/// [`Unparsed`] where the bytes are no record of that format, or no such format is known.
pub fn parse(format: &str, original: &[u8]) -> Result<SpanContent, Unparsed> {
    match by_name(format) {
        Ok(importer) => importer.parse(original),
        Err(_unknown) => Err(Unparsed::UnknownFormat { name: format.to_owned() }),
    }
}
