//! Cuts a cassette into the messages that its calls add to the conversation.

use std::io::Read;
use std::ops::{ControlFlow, Range};

use spanvault_types::{Role, SpanContent, SpanKind};

use super::INTERACTIONS;
use super::block::{Entry, dash, entries, items, trimmed};
use super::history::History;
use super::{original, scalar};
use crate::importer::unread;
use crate::reading::utf8;
use crate::source::{read_chunks, take_line};
use crate::{ImportError, Limits, Piece, Quarantine, Record, Unparsed};

/// The members of a request that hold the conversation.
const LISTS: [&str; 3] = ["messages", "input", "contents"];
/// The members of a request that hold what is said to the model beforehand.
const BEFOREHAND: [&str; 4] = ["system", "instructions", "systemInstruction", "system_instruction"];
/// More bytes before the first call than this are handed over in several gaps.
const GAP_BYTES_MAX: usize = 1 << 20;

pub(super) fn cut(
    source: &mut dyn Read,
    limits: &Limits,
    sink: &mut dyn FnMut(Piece) -> ControlFlow<()>,
) -> Result<(), ImportError> {
    let mut cutter = Cutter {
        limits,
        sink,
        history: History::default(),
        line: Vec::new(),
        pending: Vec::new(),
        depth: None,
        listed: false,
        in_call: false,
        in_parts: false,
        offset: 0,
        index: 0,
    };
    let flow = read_chunks(source, |chunk| Ok(cutter.chunk(chunk)))?;
    if flow.is_continue() {
        // A sink that breaks here has nothing left to miss.
        let (ControlFlow::Continue(()) | ControlFlow::Break(())) = cutter.end();
    }
    Ok(())
}

struct Cutter<'a> {
    limits: &'a Limits,
    sink: &'a mut dyn FnMut(Piece) -> ControlFlow<()>,
    history: History,
    line: Vec<u8>,
    /// The lines of the current call, or else what stands between calls.
    pending: Vec<u8>,
    /// How deep the dashes of the calls stand.
    depth: Option<usize>,
    /// The list of calls has begun.
    listed: bool,
    in_call: bool,
    /// Parts of the call were handed over already, because it is larger than a body may be.
    in_parts: bool,
    /// The byte of the source at which `pending` starts.
    offset: u64,
    index: u64,
}

impl Cutter<'_> {
    fn chunk(&mut self, mut chunk: &[u8]) -> ControlFlow<()> {
        while take_line(&mut self.line, &mut chunk, self.limits.body_bytes()).is_some() {
            self.line()?;
        }
        ControlFlow::Continue(())
    }

    fn end(&mut self) -> ControlFlow<()> {
        self.line()?;
        self.flush()
    }

    fn line(&mut self) -> ControlFlow<()> {
        let line = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(line.get(..256).unwrap_or(&line));
        let depth = text.bytes().position(|byte| byte != b' ').filter(|_| !text.trim().is_empty());
        if let Some(depth) = depth {
            let is_item = dash(text.get(depth..).unwrap_or_default()) > 0;
            if !self.listed {
                self.listed = text.trim_start_matches('\u{feff}').trim_end() == INTERACTIONS;
            } else if is_item && *self.depth.get_or_insert(depth) == depth {
                self.flush()?;
                self.in_call = true;
            } else if self.depth.is_some_and(|calls| depth < calls || (depth == calls && !is_item)) {
                self.flush()?;
                self.in_call = false;
                self.listed = false;
                self.depth = None;
            }
        }
        let bytes_max = if self.in_call { self.limits.body_bytes() } else { GAP_BYTES_MAX };
        if self.pending.len() + line.len() > bytes_max && !self.pending.is_empty() {
            self.part()?;
        }
        self.pending.extend_from_slice(&line);
        self.line = line;
        self.line.clear();
        ControlFlow::Continue(())
    }

    /// Hands over what is pending though more of it is to come.
    fn part(&mut self) -> ControlFlow<()> {
        let bytes = std::mem::take(&mut self.pending);
        if !self.in_call {
            return self.gap(&bytes);
        }
        self.in_parts = true;
        self.unread_call(&bytes, SpanKind::TooLarge, None)
    }

    fn flush(&mut self) -> ControlFlow<()> {
        let bytes = std::mem::take(&mut self.pending);
        let in_parts = std::mem::take(&mut self.in_parts);
        if !self.in_call {
            return self.gap(&bytes);
        }
        self.in_call = false;
        if in_parts || bytes.len() > self.limits.record_bytes_max {
            self.unread_call(&bytes, SpanKind::TooLarge, None)?;
            self.index += 1;
            return ControlFlow::Continue(());
        }
        match utf8(&bytes) {
            Ok(text) => self.call(text),
            Err(reason) => {
                self.unread_call(&bytes, SpanKind::Quarantined, Some(reason))?;
                self.index += 1;
                ControlFlow::Continue(())
            }
        }
    }

    fn unread_call(&mut self, bytes: &[u8], kind: SpanKind, reason: Option<Unparsed>) -> ControlFlow<()> {
        let quarantine = reason.map(|reason| Quarantine { offset: self.offset, reason });
        self.span(bytes, unread(kind), quarantine)
    }

    /// Cuts the lines of one call.
    fn call(&mut self, text: &str) -> ControlFlow<()> {
        let call = Call::find(text);
        if call.said.is_empty() {
            let whole = trimmed(text, 0..text.len());
            let bytes = text.get(whole.clone()).unwrap_or_default().as_bytes();
            self.original(bytes, original::read(bytes))?;
            return self.gap(text.get(whole.end..).unwrap_or_default().as_bytes());
        }
        let read = |(said, range): (Said, Range<usize>)| {
            let original = text.get(range.clone()).unwrap_or_default();
            (said, range, original::read(original.as_bytes()))
        };
        let parts: Vec<_> = call.said.into_iter().map(read).collect();
        let asked =
            || parts.iter().filter(|(said, ..)| *said == Said::Asked).filter_map(|part| part.2.as_ref().ok());
        // What repeats a conversation repeats an answer of the model, and else it begins one.
        let goes_on = call.repeats && asked().any(|content| content.role == Role::Assistant);
        if asked().next().is_some() {
            self.history.begin(asked().next(), goes_on);
        }
        let mut answered = false;
        let mut at = 0;
        for (said, range, content) in parts {
            if said == Said::Answered && !std::mem::replace(&mut answered, true) && call.is_repeated_answer {
                self.history.begin(None, true);
            }
            let known = content.as_ref().is_ok_and(|content| match said {
                Said::Beforehand => self.history.repeats_beforehand(content),
                Said::Answered if !call.is_repeated_answer => {
                    self.history.add(content);
                    false
                }
                Said::Asked | Said::Answered => self.history.repeats(content),
            });
            if !known {
                self.gap(text.get(at..range.start).unwrap_or_default().as_bytes())?;
                at = range.end;
                let bytes = text.get(range).unwrap_or_default().as_bytes();
                self.original(bytes, content)?;
            }
        }
        self.gap(text.get(at..).unwrap_or_default().as_bytes())
    }

    fn original(&mut self, bytes: &[u8], content: Result<SpanContent, Unparsed>) -> ControlFlow<()> {
        match content {
            Ok(content) => self.span(bytes, content, None)?,
            Err(reason) => self.unread_call(bytes, SpanKind::Quarantined, Some(reason))?,
        }
        self.index += 1;
        ControlFlow::Continue(())
    }

    fn span(
        &mut self,
        bytes: &[u8],
        content: SpanContent,
        quarantine: Option<Quarantine>,
    ) -> ControlFlow<()> {
        if bytes.is_empty() {
            return ControlFlow::Continue(());
        }
        self.offset += bytes.len() as u64;
        (self.sink)(Piece::Span(Record {
            bytes: bytes.to_vec(),
            session: String::new(),
            record: String::new(),
            index: self.index,
            content,
            quarantine,
        }))
    }

    fn gap(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        if bytes.is_empty() {
            return ControlFlow::Continue(());
        }
        self.offset += bytes.len() as u64;
        (self.sink)(Piece::Gap(bytes.to_vec()))
    }
}

/// By whom something was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    /// To the model, before the conversation.
    Beforehand,
    /// In the request.
    Asked,
    /// In the response.
    Answered,
}

/// What of one call is conversation.
#[derive(Default)]
struct Call {
    /// What was said, in the order of the text.
    said: Vec<(Said, Range<usize>)>,
    /// The request repeats the conversation; otherwise the provider remembers it.
    repeats: bool,
    /// The answer may repeat what was said before: it was asked for again, or is what a compaction kept.
    is_repeated_answer: bool,
}

impl Call {
    fn find(text: &str) -> Self {
        let mut call = Self { repeats: true, ..Self::default() };
        let parts = entries(text, 0..text.len());
        if let Some(request) = parts.iter().find(|entry| entry.name == "request") {
            for entry in entries(text, request.below.clone()) {
                match entry.name {
                    "method" => call.is_repeated_answer |= entry.inline == "GET",
                    "parsed_body" => call.request(text, &entry),
                    "body" => {
                        let scalar = value_of(text, &entry);
                        call.said
                            .extend(scalar::pieces(text, scalar, &LISTS, &BEFOREHAND).unwrap_or_default());
                    }
                    _ => {}
                }
            }
        }
        let asked = !call.said.is_empty() || call.is_repeated_answer;
        if let Some(response) = parts.iter().find(|entry| entry.name == "response" && asked) {
            for entry in entries(text, response.below.clone()) {
                if matches!(entry.name, "parsed_body" | "body") {
                    call.response(text, &entry);
                }
            }
        }
        call
    }

    fn request(&mut self, text: &str, body: &Entry<'_>) {
        let members = entries(text, body.below.clone());
        if !members.iter().any(|entry| LISTS.contains(&entry.name)) {
            return;
        }
        for entry in members {
            if BEFOREHAND.contains(&entry.name) && entry.inline != "[]" && entry.inline != "null" {
                self.said.push((Said::Beforehand, trimmed(text, entry.lines)));
            } else if LISTS.contains(&entry.name) {
                let list = items(text, entry.below.clone());
                if entry.inline.is_empty() {
                    self.said.extend(list.into_iter().map(|item| (Said::Asked, trimmed(text, item))));
                } else {
                    self.said.push((Said::Asked, trimmed(text, entry.lines)));
                }
            } else if matches!(entry.name, "previous_response_id" | "conversation") && entry.inline != "null"
            {
                self.repeats = false;
            }
        }
    }

    fn response(&mut self, text: &str, body: &Entry<'_>) {
        let members = entries(text, body.below.clone());
        self.is_repeated_answer |=
            members.iter().any(|entry| entry.name == "object" && entry.inline == "response.compaction");
        let output =
            members.iter().find(|entry| entry.name == "output").filter(|entry| entry.inline.is_empty());
        let list = output.map(|entry| items(text, entry.below.clone())).unwrap_or_default();
        if list.is_empty() {
            let shows = |name: &str| members.iter().any(|entry| entry.name == name);
            let shapes = ["content", "choices", "candidates", "output", "string", "error"];
            if shapes.into_iter().any(shows) {
                self.said.push((Said::Answered, trimmed(text, body.lines.clone())));
            }
        } else {
            self.said.extend(list.into_iter().map(|item| (Said::Answered, trimmed(text, item))));
        }
    }
}

/// Where the value of an entry begins and ends.
fn value_of(text: &str, entry: &Entry<'_>) -> Range<usize> {
    let lines = trimmed(text, entry.lines.clone());
    let line = text.get(lines.clone()).unwrap_or_default();
    let after = line.find(':').map_or(0, |colon| colon + 1);
    let space = line.get(after..).map_or(0, |rest| rest.len() - rest.trim_start().len());
    lines.start + after + space..lines.end
}
