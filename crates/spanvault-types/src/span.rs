//! What is known of a span without reading its bytes.

use bincode::{Decode, Encode};
use serde::{Deserialize, Serialize};

/// Who speaks in a span.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The person or program that the agent serves.
    User = 0,
    /// The agent.
    Assistant = 1,
    /// A tool, answering a call.
    Tool = 2,
    /// The runtime: prompts, markers, progress.
    System = 3,
}

impl Role {
    /// The word that JSON, queries and people use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::System => "system",
        }
    }
}

/// What a span is; where it has several parts, the strongest of them.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum SpanKind {
    /// A record of the runtime that is no part of the conversation: progress, snapshots, titles, unknown types.
    Meta = 0,
    /// Bytes that could not be read as a record; kept, counted, reported.
    Quarantined = 1,
    /// Bytes above the size limit for parsing; kept, counted, searched as bytes.
    TooLarge = 2,
    /// The agent's thinking.
    Thinking = 3,
    /// Words.
    Message = 4,
    /// The summary that the source's own runtime wrote when it compacted.
    CompactSummary = 5,
    /// A result of a tool call.
    ToolResult = 6,
    /// One or more tool calls.
    ToolCall = 7,
}

impl SpanKind {
    /// The word that JSON and people see.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Meta => "meta",
            Self::Quarantined => "quarantined",
            Self::TooLarge => "too_large",
            Self::Thinking => "thinking",
            Self::Message => "message",
            Self::CompactSummary => "compact_summary",
            Self::ToolResult => "tool_result",
            Self::ToolCall => "tool_call",
        }
    }

    /// Whether a span of this kind counts as conversation (the kept suffix is counted in these).
    pub const fn is_conversation(self) -> bool {
        !matches!(self, Self::Meta | Self::Quarantined)
    }

    /// Whether the bytes of such a span were read as a record when it was cut. Of what never was, nobody knows what it
    /// says.
    pub const fn was_parsed(self) -> bool {
        !matches!(self, Self::Quarantined | Self::TooLarge)
    }
}
