//! Cassettes: the recorded HTTP calls of a program to the APIs of model providers, as YAML.
//!
//! Each request repeats the conversation so far. What a cassette adds to it becomes spans: the new messages of a
//! request, and the response to it. What was there before stays in the gaps, and so do headers. All providers are
//! read alike, because one cassette may hold calls to several; the format is named by the last of them.

mod block;
mod cutter;
mod history;
mod message;
mod original;
mod scalar;
mod stream;
#[cfg(test)]
mod tests;
mod yaml;

use std::io::Read;
use std::ops::ControlFlow;

use spanvault_types::SpanContent;

use crate::{Confidence, Head, ImportError, Importer, Limits, Piece, Unparsed};

/// A cassette of calls to one provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Vcr {
    AnthropicMessages,
    OpenAiChat,
    OpenAiResponses,
    Google,
    Bedrock,
    LangchainAgents,
}

/// How the list of calls begins.
const INTERACTIONS: &str = "interactions:";

impl Importer for Vcr {
    fn format(&self) -> &'static str {
        match self {
            Self::AnthropicMessages => "vcr_anthropic_messages",
            Self::OpenAiChat => "vcr_openai_chat",
            Self::OpenAiResponses => "vcr_openai_responses",
            Self::Google => "vcr_google",
            Self::Bedrock => "vcr_bedrock",
            Self::LangchainAgents => "vcr_langchain_agents",
        }
    }

    fn detect(&self, head: &Head<'_>) -> Confidence {
        match provider_of(head) {
            Some((provider, confidence)) if provider == *self => confidence,
            Some(_) | None => Confidence::No,
        }
    }

    fn cut(
        &self,
        source: &mut dyn Read,
        limits: &Limits,
        sink: &mut dyn FnMut(Piece) -> ControlFlow<()>,
    ) -> Result<(), ImportError> {
        cutter::cut(source, limits, sink)
    }

    fn parse(&self, original: &[u8]) -> Result<SpanContent, Unparsed> {
        original::read(original)
    }
}

/// The provider of the last call to one in a cassette that starts with `head`.
///
/// The address of a call comes after what was sent, which may fill the head; then its host tells, where one is named.
fn provider_of(head: &Head<'_>) -> Option<(Vcr, Confidence)> {
    let text = head.text();
    let mut lines = text.lines();
    let listed =
        lines.by_ref().take(8).any(|line| line.trim_start_matches('\u{feff}').trim_end() == INTERACTIONS);
    if !listed {
        return None;
    }
    let (mut found, mut host, mut named_host) = (None, None, false);
    for line in lines {
        let entry = line.trim_start().trim_start_matches("- ");
        if std::mem::replace(&mut named_host, entry.trim_end() == "host:") {
            host = provider_on(entry.trim_end()).or(host);
        }
        let Some(uri) = entry.strip_prefix("uri: ") else { continue };
        match provider_at(uri) {
            Some(Vcr::LangchainAgents) => return Some((Vcr::LangchainAgents, Confidence::Certain)),
            provider => found = provider.or(found),
        }
    }
    found
        .map(|provider| (provider, Confidence::Certain))
        .or_else(|| host.map(|provider| (provider, Confidence::Likely)))
}

/// The provider whose host this is. All formats of cassettes are read alike, so it does not matter which API of one.
fn provider_on(host: &str) -> Option<Vcr> {
    match host {
        "api.openai.com" => Some(Vcr::OpenAiResponses),
        _ => provider_at(host),
    }
}

fn provider_at(uri: &str) -> Option<Vcr> {
    let has = |part: &str| uri.contains(part);
    if has("api.smith.langchain.com") {
        Some(Vcr::LangchainAgents)
    } else if has("bedrock-runtime") || has("/converse") {
        Some(Vcr::Bedrock)
    } else if has("/chat/completions") {
        Some(Vcr::OpenAiChat)
    } else if has("/v1/responses") {
        Some(Vcr::OpenAiResponses)
    } else if has("enerateContent") || has("generativelanguage.googleapis.com") {
        Some(Vcr::Google)
    } else if has("api.anthropic.com") || has("/v1/messages") {
        Some(Vcr::AnthropicMessages)
    } else {
        None
    }
}
