//! Walks the tree of pages that a table is.

use std::io::{self, Read, Seek};
use std::rc::Rc;

use super::page::{HEADER_BYTES, Pages, number, varint};
use super::record::{Payload, Row};
use super::{Table, damaged};

/// No tree of 2^32 pages is deeper.
const DEPTH_MAX: usize = 20;
const INNER: u32 = 5;
const LEAF: u32 = 13;

/// Where a row stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    page: u32,
    cell: u16,
}

/// A page of the tree, and the next of its cells.
struct Node {
    number: u32,
    page: Rc<[u8]>,
    next: u32,
}

impl Node {
    fn new<R: Read + Seek>(pages: &mut Pages<R>, number: u32) -> io::Result<Self> {
        Ok(Self { number, page: pages.page(number)?, next: 0 })
    }

    /// Where the header of the page's tree begins.
    const fn start(&self) -> usize {
        if self.number == 1 { HEADER_BYTES } else { 0 }
    }

    fn kind(&self) -> io::Result<u32> {
        number(&self.page, self.start(), 1)
    }

    fn cells(&self) -> io::Result<u32> {
        number(&self.page, self.start() + 3, 2)
    }

    /// Where a cell begins.
    fn cell(&self, n: u32) -> io::Result<usize> {
        let header_bytes = if self.kind()? == INNER { 12 } else { 8 };
        Ok(number(&self.page, self.start() + header_bytes + 2 * n as usize, 2)? as usize)
    }

    /// The page below that comes next; the last one stands in the header.
    fn child(&self, n: u32) -> io::Result<u32> {
        let at = if n < self.cells()? { self.cell(n)? } else { self.start() + 8 };
        number(&self.page, at, 4)
    }
}

pub(super) fn scan<R: Read + Seek>(
    pages: &mut Pages<R>,
    table: &Table,
    take: &mut dyn FnMut(&mut Row<'_, R>, Place) -> io::Result<()>,
) -> io::Result<()> {
    // A page belongs to one place of one tree, or to one row: no walk asks for more of them than there are.
    let mut left = pages.count;
    let mut use_pages = |count: u32| {
        left = left.checked_sub(count).ok_or_else(|| damaged("its pages point in circles"))?;
        Ok::<_, io::Error>(())
    };
    use_pages(1)?;
    let mut way = vec![Node::new(pages, table.root)?];
    while let Some(node) = way.last_mut() {
        let (kind, cells, n) = (node.kind()?, node.cells()?, node.next);
        node.next += 1;
        match kind {
            INNER if n <= cells => {
                let child = node.child(n)?;
                use_pages(1)?;
                if way.len() >= DEPTH_MAX {
                    return Err(damaged("its pages point in circles"));
                }
                way.push(Node::new(pages, child)?);
            }
            LEAF if n < cells => {
                let cell = u16::try_from(n).map_err(|_too_large| damaged("a page has too many rows"))?;
                let place = Place { page: node.number, cell };
                let (row_id, payload) = payload_of(node, n, pages.usable)?;
                use_pages(pages_of(&payload, pages.usable)?)?;
                take(&mut Row::new(pages, table, row_id, payload), place)?;
            }
            INNER | LEAF => {
                way.pop();
            }
            _ => return Err(damaged("a table is kept in no way that can be read")),
        }
    }
    Ok(())
}

pub(super) fn row_at<'d, R: Read + Seek>(
    pages: &'d mut Pages<R>,
    table: &'d Table,
    place: Place,
) -> io::Result<Row<'d, R>> {
    let node = Node::new(pages, place.page)?;
    let (row_id, payload) = payload_of(&node, place.cell.into(), pages.usable)?;
    Ok(Row::new(pages, table, row_id, payload))
}

/// The number of a row, and what of its bytes stands in the cell.
fn payload_of(node: &Node, n: u32, usable: usize) -> io::Result<(i64, Payload)> {
    let (len, at) = varint(&node.page, node.cell(n)?)?;
    let (row_id, at) = varint(&node.page, at)?;
    let len = usize::try_from(len).map_err(|_too_large| damaged("a row is too long"))?;
    // The rule of the format for how much of a long row stays in its page.
    let most = usable - 35;
    let least = (usable - 12) * 32 / 255 - 23;
    let here = if len <= most {
        len
    } else {
        let rest = least + (len - least) % (usable - 4);
        if rest <= most { rest } else { least }
    };
    let bytes =
        node.page.get(at..at + here).ok_or_else(|| damaged("a row does not fit in its page"))?.to_vec();
    let next = if here < len { number(&node.page, at + here, 4)? } else { 0 };
    Ok((row_id.cast_signed(), Payload { bytes, len, next }))
}

/// How many further pages a row fills.
fn pages_of(payload: &Payload, usable: usize) -> io::Result<u32> {
    let elsewhere = payload.len - payload.bytes.len();
    u32::try_from(elsewhere.div_ceil(usable - 4)).map_err(|_too_large| damaged("a row is too long"))
}
