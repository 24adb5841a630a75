//! The atoms of a call: the call, every argument, and the details inside of each.

use std::collections::HashMap;
use std::ops::Range;

use spanvault_types::{ByteRange, Call, ContentHash, Part};

use super::json::{Leaf, decodes_to_prefix, leaves, leaves_of, unescaped};
use super::locate::{Locator, range_of};
use super::scan::Layout;
use super::{Atom, AtomKind, found_in, path, place};

/// Adds the atoms of a call, in the order of their bytes.
pub(super) fn atoms_of_call(index: usize, part: &Part, call: &Call, original: &[u8], atoms: &mut Vec<Atom>) {
    let first = atoms.len();
    let whole = range_of(part, original);
    let raw = original.get(whole.clone()).unwrap_or_default();
    let stands = leaves(raw);
    atoms.push(Atom {
        kind: AtomKind::Call,
        text: call.tool.clone(),
        normal: call.tool.clone(),
        part: index,
        range: name_range(&call.tool, raw, &stands, &whole, original),
    });
    let mut arguments = leaves_of(&call.args, ARGUMENTS_MAX + 1);
    // All of a call that has more arguments than a person could read stands for the ones that are left out.
    if arguments.len() > ARGUMENTS_MAX {
        arguments.truncate(ARGUMENTS_MAX);
        let all = call.args.to_string();
        let range = ByteRange { start: whole.start as u64, end: whole.end as u64 };
        atoms.push(Atom {
            kind: AtomKind::Argument,
            normal: format!("={}", brief(&all)),
            text: all,
            part: index,
            range,
        });
    }
    let places = Places::of(&arguments, raw, &stands);
    for (at, (pointer, text)) in arguments.iter().enumerate() {
        let mut locator = places.locator(at, text, original, &whole);
        let range = locator.locate(0, text.len());
        atoms.push(Atom {
            kind: AtomKind::Argument,
            text: text.clone(),
            normal: format!("{pointer}={}", brief(text)),
            part: index,
            range,
        });
        if names_a_path(pointer) && is_one_path(text) {
            let normal = path::found(text, 0, text.len()).normal.into_owned();
            atoms.push(Atom { kind: AtomKind::Path, text: text.clone(), normal, part: index, range });
        } else {
            place(&found_in(text, Layout::Argument), text, index, &mut locator, atoms);
        }
    }
    if let Some(new) = atoms.get_mut(first..) {
        new.sort_by_key(|atom| (atom.range.start, std::cmp::Reverse(atom.range.end)));
    }
}

/// How many arguments of a call become atoms of their own.
const ARGUMENTS_MAX: usize = 4 << 10;

/// The longest value that a normal form holds in full, in bytes.
const VALUE_BYTES_MAX: usize = 200;

/// How much of a longer value a normal form shows, in bytes.
const HEAD_BYTES: usize = 60;

/// A value, or the start of a long one and a digest of all of it.
fn brief(text: &str) -> String {
    if text.len() <= VALUE_BYTES_MAX {
        return text.to_owned();
    }
    let mut head = HEAD_BYTES;
    while !text.is_char_boundary(head) {
        head -= 1;
    }
    let hash = ContentHash::of(text.as_bytes());
    let digest = hash.as_bytes().first_chunk().map_or(0, |head| u64::from_be_bytes(*head));
    format!("{}…{}#{digest:016x}", text.get(..head).unwrap_or_default(), text.len())
}

/// Names of arguments that hold one path.
fn names_a_path(pointer: &str) -> bool {
    let name = pointer.rsplit('/').find(|part| !part.bytes().all(|b| b.is_ascii_digit())).unwrap_or_default();
    matches!(
        name,
        "path"
            | "file_path"
            | "filePath"
            | "filepath"
            | "file"
            | "filename"
            | "notebook_path"
            | "absolute_path"
            | "target_file"
            | "dir"
            | "dir_path"
            | "directory"
            | "cwd"
            | "workdir"
            | "source"
            | "destination"
            | "paths"
            | "old_path"
            | "new_path"
            | "repo_path"
    )
}

fn is_one_path(text: &str) -> bool {
    let whole = text.len() <= 1_024 && !text.contains(['\n', '\r']) && !text.contains("://");
    whole && (text.contains('/') || text.contains('\\') || text.starts_with('~') || path::is_file_name(text))
}

/// Where a call states its tool's name.
fn name_range(tool: &str, raw: &[u8], stands: &[Leaf], whole: &Range<usize>, original: &[u8]) -> ByteRange {
    let says = |leaf: &&Leaf| {
        leaf.is_string
            && raw.get(leaf.start..leaf.end).and_then(|raw| decodes_to_prefix(raw, tool)) == Some(tool.len())
    };
    let named = |leaf: &&Leaf| {
        ["/name", "/function", "/tool", "/tool_name", "/function_name", "/toolName"]
            .iter()
            .any(|end| leaf.pointer.ends_with(end))
    };
    let leaf = stands
        .iter()
        .find(|leaf| named(leaf) && says(leaf))
        .or_else(|| stands.iter().find(|leaf| says(leaf)));
    match leaf {
        Some(leaf) => {
            let (start, end) = (whole.start + leaf.start, whole.start + leaf.end);
            ByteRange { start: start as u64, end: end as u64 }
        }
        None => Locator::searching(original, tool, whole.clone()).locate(0, tool.len()),
    }
}

/// Where each argument stands in the bytes of its call.
enum Places {
    /// In the JSON of the call itself: content of each, and whether it is a string.
    Direct(Vec<Range<usize>>),
    /// In JSON that is the text of a string in the JSON of the call, as OpenAI writes arguments.
    Nested { outer: Range<usize>, mid: String, inner: Vec<Range<usize>> },
    /// Nobody knows.
    Unknown,
}

impl Places {
    fn of(arguments: &[(String, String)], raw: &[u8], stands: &[Leaf]) -> Self {
        if let Some(direct) = matching(arguments, raw, stands) {
            return Self::Direct(direct);
        }
        for outer in stands.iter().filter(|leaf| leaf.is_string && leaf.end - leaf.start > 2) {
            let text = raw.get(outer.start..outer.end).unwrap_or_default();
            if !text.iter().any(|b| matches!(b, b'{' | b'[')) {
                continue;
            }
            let mid = unescaped(text);
            let inside = leaves(mid.as_bytes());
            if let Some(inner) = matching(arguments, mid.as_bytes(), &inside) {
                return Self::Nested { outer: outer.start..outer.end, mid, inner };
            }
        }
        Self::Unknown
    }

    fn locator<'a>(
        &'a self,
        at: usize,
        text: &'a str,
        original: &'a [u8],
        whole: &Range<usize>,
    ) -> Locator<'a> {
        let moved = |range: &Range<usize>| whole.start + range.start..whole.start + range.end;
        match self {
            Self::Direct(places) => match places.get(at) {
                Some(content) => Locator::in_literal(original, moved(content), text, whole.clone()),
                None => Locator::searching(original, text, whole.clone()),
            },
            Self::Nested { outer, mid, inner } => match inner.get(at) {
                Some(content) => {
                    Locator::nested(original, moved(outer), mid, content.clone(), text, whole.clone())
                }
                None => Locator::searching(original, text, whole.clone()),
            },
            Self::Unknown => Locator::searching(original, text, whole.clone()),
        }
    }
}

/// How many places of the first argument are tried as the place of all.
const TRIES_MAX: usize = 8;

/// The leaves that are the arguments: all under one pointer, each with its argument's text.
fn matching(arguments: &[(String, String)], raw: &[u8], stands: &[Leaf]) -> Option<Vec<Range<usize>>> {
    let (first_pointer, first_text) = arguments.first()?;
    let says = |leaf: &Leaf, text: &str| {
        let bytes = raw.get(leaf.start..leaf.end).unwrap_or_default();
        if leaf.is_string {
            decodes_to_prefix(bytes, text) == Some(text.len())
        } else {
            bytes == text.as_bytes()
        }
    };
    let by_pointer: HashMap<&str, &Leaf> = stands.iter().map(|leaf| (leaf.pointer.as_str(), leaf)).collect();
    let prefixes = stands.iter().filter_map(|leaf| {
        let prefix = leaf.pointer.strip_suffix(first_pointer.as_str())?;
        says(leaf, first_text).then_some(prefix)
    });
    prefixes.take(TRIES_MAX).find_map(|prefix| {
        arguments
            .iter()
            .map(|(pointer, text)| {
                let leaf = by_pointer.get(format!("{prefix}{pointer}").as_str())?;
                says(leaf, text).then_some(leaf.start..leaf.end)
            })
            .collect()
    })
}
