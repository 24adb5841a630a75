//! A query made ready to run: every word understood, every pattern compiled.

use std::num::NonZeroI64;

use regex::Regex;

use super::calls::CallFilter;
use super::error::QueryError;
use super::get::Get;
use super::query::{Find, Query, Scope, Side, Words};
use super::scope::ScopeFilter;
use super::terms::Need;
use super::text::TextFilter;

/// A query ready to run.
#[derive(Debug)]
pub(super) struct Plan {
    /// Where to look, as it was asked.
    pub(super) asked: Scope,
    pub(super) scope: ScopeFilter,
    /// One search, or two whose order is asked for.
    pub(super) searches: Vec<Search>,
    pub(super) get: Getter,
}

/// One thing to find, and which of what is found.
#[derive(Debug)]
pub(super) struct Search {
    pub(super) finder: Finder,
    pub(super) pick: Pick,
}

/// What to find.
#[derive(Debug)]
pub(super) enum Finder {
    Calls(CallFilter),
    Text(TextFilter),
}

/// Which of the things found an answer is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pick {
    /// All of them.
    All,
    /// The only one.
    Only,
    /// The n-th from the start, or from the end.
    Nth(NonZeroI64),
    /// The first and the last.
    Ends,
}

/// A [`Get`] with its pattern compiled.
#[derive(Debug)]
pub(super) struct Getter {
    pub(super) get: Get,
    pub(super) pattern: Option<Regex>,
}

impl Plan {
    pub(super) fn new(query: &Query) -> Result<Self, QueryError> {
        if let Some(field) = query.misplaced() {
            return Err(QueryError::field(field, "does not narrow this kind of question"));
        }
        fits(query)?;
        let searches = if let Find::Order(sides) = &query.find {
            sides.iter().map(Search::side).collect::<Result<_, _>>()?
        } else {
            vec![Search { finder: Finder::new(&query.find)?, pick: pick(query)? }]
        };
        Ok(Self {
            asked: query.scope.clone(),
            scope: ScopeFilter::new(&query.scope)?,
            searches,
            get: Getter::new(&query.get)?,
        })
    }

    /// Whether the scope takes all spans of each session in it.
    fn takes_whole_sessions(&self) -> bool {
        let Scope { session: _, source, record, before_index, after_index, before_time, after_time, role } =
            &self.asked;
        source.is_none()
            && record.is_none()
            && before_index.is_none()
            && after_index.is_none()
            && before_time.is_none()
            && after_time.is_none()
            && role.is_none()
    }

    /// Whether everything that was recorded is in scope.
    pub(super) fn takes_everything(&self) -> bool {
        self.asked.session.is_none() && self.takes_whole_sessions()
    }

    /// What a span must hold so that it can matter, a need for each search; `None` where that narrows nothing, or
    /// where the scope takes some spans of a session and leaves others.
    pub(super) fn needs(&self) -> Option<Vec<Need>> {
        let need = |search: &Search| match &search.finder {
            Finder::Calls(filter) => Some(filter.need()).filter(|need| !need.is_empty()),
            Finder::Text(_) => None,
        };
        if self.takes_whole_sessions() { self.searches.iter().map(need).collect() } else { None }
    }

    /// Whether of calls that cannot be seen through only their number matters once enough are listed.
    pub(super) fn counts_opaque(&self, needs: &[Need]) -> bool {
        matches!((self.searches.as_slice(), needs), ([search], [need])
            if matches!(search.pick, Pick::All | Pick::Only) && need.opaque_is_doubt)
    }

    /// The searches for words.
    pub(super) fn texts(&self) -> impl Iterator<Item = &TextFilter> {
        self.searches.iter().filter_map(|search| match &search.finder {
            Finder::Text(filter) => Some(filter),
            Finder::Calls(_) => None,
        })
    }

    /// Whether calls are to be found, for which a transcript has to be seen as a whole.
    pub(super) fn pairs_calls(&self) -> bool {
        self.searches.iter().any(|search| matches!(search.finder, Finder::Calls(_)))
    }
}

impl Search {
    fn side(side: &Side) -> Result<Self, QueryError> {
        let pick = match side.nth {
            Some(nth) => Pick::Nth(ordinal("order.nth", nth)?),
            None => Pick::Ends,
        };
        Ok(Self { finder: Finder::new(&side.find)?, pick })
    }
}

impl Finder {
    fn new(find: &Find) -> Result<Self, QueryError> {
        match find {
            Find::Calls(calls) => CallFilter::new("calls", calls, false).map(Self::Calls),
            Find::Negatives(calls) => CallFilter::new("negatives", calls, true).map(Self::Calls),
            Find::Text(text) => TextFilter::new(text).map(Self::Text),
            Find::Order(_) => Err(QueryError::field("order", "a side is calls or text")),
        }
    }
}

impl Getter {
    fn new(get: &Get) -> Result<Self, QueryError> {
        let pattern = if let Get::ResultRegex(pattern) = get {
            Some(
                Regex::new(pattern)
                    .map_err(|error| QueryError::field("get: result.regex", error.to_string()))?,
            )
        } else {
            None
        };
        Ok(Self { get: get.clone(), pattern })
    }
}

fn pick(query: &Query) -> Result<Pick, QueryError> {
    match (query.nth, &query.get) {
        (Some(_), Get::Count) => Err(QueryError::field("nth", "`count` counts all that is found")),
        (Some(nth), _one) => ordinal("nth", nth).map(Pick::Nth),
        (None, Get::Exists | Get::Count | Get::Spans | Get::Paths) => Ok(Pick::All),
        (None, _of_one) => Ok(Pick::Only),
    }
}

/// How far from the end can be counted: so many matches are held at once.
const FROM_END_MAX: i64 = 1000;

fn ordinal(field: &str, nth: i64) -> Result<NonZeroI64, QueryError> {
    match NonZeroI64::new(nth) {
        None => Err(QueryError::field(field, "0 is no ordinal: 1 is the first, -1 the last")),
        Some(_) if nth < -FROM_END_MAX => Err(QueryError::field(
            field,
            format!("more than {FROM_END_MAX} from the end; count from the start"),
        )),
        Some(ordinal) => Ok(ordinal),
    }
}

/// Refuses a `get` or `nth` that makes no sense for what is to be found.
fn fits(query: &Query) -> Result<(), QueryError> {
    let get = &query.get;
    let misfit = |what: &str| Err(QueryError::field("get", format!("`{get}` cannot be said of {what}")));
    match &query.find {
        Find::Calls(_) | Find::Negatives(_) if get.is_of_text() => misfit("calls"),
        Find::Text(_) if get.is_of_one_call() || *get == Get::Paths => misfit("text"),
        Find::Text(text) if *get == Get::Quote && !matches!(text.words, Words::QuoteAfter { .. }) => {
            misfit("text without `after` and `quote`")
        }
        Find::Order(_) if !matches!(get, Get::Exists | Get::Value) => misfit("an order"),
        Find::Order(_) if query.nth.is_some() => {
            Err(QueryError::field("nth", "each side of an order has its own"))
        }
        Find::Calls(_) | Find::Negatives(_) | Find::Text(_) | Find::Order(_) => Ok(()),
    }
}
