//! One session of a vault: the place where an agent records, compacts and looks back.

use spanvault_store::Durability;
use spanvault_types::{ContentHash, Position, SpanContent};

use crate::classes::ClassStreams;
use crate::draft::{Receipt, SpanDraft};
use crate::error::{Error, Result};
use crate::ids::SpanId;
use crate::joint::{ReadSpan, Recorded, Request};
use crate::postings::SpanTerms;
use crate::threads::map_in_order;
use crate::vault::Vault;

/// From this many drafts on it pays to read them on several threads.
const MANY: usize = 64;

/// A session. Cheap to make; all state is in the vault.
#[derive(Debug, Clone)]
pub struct Session<'v> {
    pub(crate) vault: &'v Vault,
    pub(crate) at: Position,
    name: String,
    durability: Durability,
}

impl<'v> Session<'v> {
    pub(crate) const fn new(vault: &'v Vault, at: Position, name: String) -> Self {
        Self { vault, at, name, durability: Durability::Sync }
    }

    /// The same session, whose spans are recorded less durably, and faster. Everything else in it, compaction above all, is
    /// durable when it returns, and so is then whatever was recorded before.
    ///
    /// ```
    /// # fn main() -> spanvault::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a directory for the example");
    /// # let vault = spanvault::Vault::open(dir.path().join("agent.vault"))?;
    /// use spanvault::{Durability, SpanDraft};
    ///
    /// let session = vault.session("run-42")?.with_durability(Durability::Buffered);
    /// let thought = session.record(SpanDraft::assistant("Let me think about that."))?;
    /// assert!(!thought.is_durable());
    /// vault.sync()?;
    /// assert!(vault.durable() >= thought.span.0);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_durability(self, durability: Durability) -> Self {
        Self { durability, ..self }
    }

    /// Its name, unique in the vault.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its id: the log position of its opening.
    pub const fn id(&self) -> Position {
        self.at
    }

    /// Records one span; when this returns it survives a power cut, unless the session asks for less
    /// ([`Session::with_durability`]).
    ///
    /// Threads that record at the same time share one sync.
    ///
    /// ```
    /// # fn main() -> spanvault::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a directory for the example");
    /// # let vault = spanvault::Vault::open(dir.path().join("agent.vault"))?;
    /// # let session = vault.session("run-42")?;
    /// use spanvault::SpanDraft;
    ///
    /// let call = SpanDraft::tool_call_with_id("call-1", "write_file", serde_json::json!({"path": "/etc/app.toml"}));
    /// let receipt = session.record(call)?;
    /// session.record(SpanDraft::tool_result("call-1", "written"))?;
    /// assert_eq!(vault.recover(receipt.hash)?, receipt.bytes);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Invalid` where the draft is not a message; `Unavailable` where the disk is full or the vault is open for
    /// reading only. After a failed sync every later call fails until the vault is opened again.
    pub fn record(&self, draft: SpanDraft) -> Result<Receipt> {
        let mut receipts = self.record_all(vec![draft])?;
        receipts.pop().ok_or_else(|| Error::internal("record one span: nothing was recorded"))
    }

    /// Records several spans as one batch: all of them or none.
    ///
    /// # Errors
    /// As [`Session::record`].
    pub fn record_all(&self, drafts: Vec<SpanDraft>) -> Result<Vec<Receipt>> {
        // Everything that needs no lock comes before it: other threads are waiting to record.
        let read = self.read_all(&drafts)?;
        let mut classes = ClassStreams::default();
        let contents = read.iter().map(|read| Some(("", &read.content)));
        let classes = classes.classify(contents, &self.vault.registry);
        let spans = drafts.into_iter().zip(read).zip(classes).map(|((draft, read), class)| {
            let Read { content, hash, terms } = read;
            ReadSpan { bytes: draft.bytes, hash, content, class, terms }
        });
        let request = Request { session: self.at, spans: spans.collect(), durability: self.durability };
        let Recorded { request, spans, commit } = self.vault.joint.record(self.vault, request)?;
        tracing::debug!(session = %self.at, commit = %commit, spans = spans.len(), "recorded spans");
        let durable = if self.durability == Durability::Sync { commit } else { self.vault.durable() };
        let receipts = request.spans.into_iter().zip(spans).map(|(span, at)| Receipt {
            span: SpanId(at),
            hash: span.hash,
            durable,
            bytes: span.bytes,
        });
        Ok(receipts.collect())
    }

    /// Reads every draft; many of them on several threads.
    fn read_all(&self, drafts: &[SpanDraft]) -> Result<Vec<Read>> {
        let read = |draft: &SpanDraft| {
            let (content, hash) = (parse(&draft.bytes)?, ContentHash::of(&draft.bytes));
            let terms = self.vault.terms_of(self.at, &content, hash);
            Ok(Read { content, hash, terms })
        };
        if drafts.len() < MANY {
            drafts.iter().map(read).collect()
        } else {
            map_in_order(drafts, read).into_iter().collect()
        }
    }
}

/// What a draft says, its hash, and what is to be posted of it.
struct Read {
    content: SpanContent,
    hash: ContentHash,
    terms: Option<SpanTerms>,
}

fn parse(bytes: &[u8]) -> Result<SpanContent> {
    spanvault_import::parse(spanvault_import::CHAT_JSON, bytes).map_err(|unparsed| {
        Error::invalid(format!("record a span: {unparsed}"))
            .with_hint("a draft is one JSON message with a role and a content, as the chat APIs have it")
    })
}
