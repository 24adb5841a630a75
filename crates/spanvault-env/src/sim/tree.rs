//! Directories and files of the simulated disk, as they are and as the platter has them.
//!
//! Every change of a directory waits in one list until the directory is synced. The same function applies it to
//! the live tree at once and to the platter later, or at a crash, if it survives.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use rustix::io::Errno;

use super::content::{Content, SECTOR};
use super::crash::{Fate, Fates};

pub(super) type Ino = u64;

const ROOT: Ino = 1;

#[derive(Debug, Clone)]
pub(super) struct Tree {
    nodes: BTreeMap<Ino, Node>,
    pending: Vec<Change>,
    next: Ino,
}

#[derive(Debug, Clone)]
enum Node {
    File { content: Content, handles: usize },
    Dir { live: Entries, durable: Entries },
}

type Entries = BTreeMap<String, Ino>;

/// A name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    dir: Ino,
    name: String,
}

/// A change of directories: a name goes, a name comes, or both at once.
#[derive(Debug, Clone)]
struct Change {
    ino: Ino,
    from: Option<Place>,
    to: Option<Place>,
}

#[derive(Debug, Clone, Copy)]
enum Side {
    Live,
    Durable,
}

impl Tree {
    pub(super) fn new() -> Self {
        let root = Node::Dir { live: Entries::new(), durable: Entries::new() };
        Self { nodes: BTreeMap::from([(ROOT, root)]), pending: Vec::new(), next: ROOT + 1 }
    }

    pub(super) fn find(&self, path: &Path) -> Result<Ino, Errno> {
        let mut ino = ROOT;
        for name in names(path) {
            ino = *self.entries(ino)?.get(&name).ok_or(Errno::NOENT)?;
        }
        Ok(ino)
    }

    pub(super) fn is_dir(&self, ino: Ino) -> bool {
        matches!(self.nodes.get(&ino), Some(Node::Dir { .. }))
    }

    pub(super) fn find_file(&self, path: &Path) -> Result<Ino, Errno> {
        let ino = self.find(path)?;
        if self.is_dir(ino) { Err(Errno::ISDIR) } else { Ok(ino) }
    }

    pub(super) fn content(&self, ino: Ino) -> Result<&Content, Errno> {
        match self.nodes.get(&ino) {
            Some(Node::File { content, .. }) => Ok(content),
            Some(Node::Dir { .. }) => Err(Errno::ISDIR),
            None => Err(Errno::STALE),
        }
    }

    pub(super) fn content_mut(&mut self, ino: Ino) -> Result<&mut Content, Errno> {
        match self.nodes.get_mut(&ino) {
            Some(Node::File { content, .. }) => Ok(content),
            Some(Node::Dir { .. }) => Err(Errno::ISDIR),
            None => Err(Errno::STALE),
        }
    }

    /// Name, number and length of each entry; `None` for a directory.
    pub(super) fn list(&self, path: &Path) -> Result<Vec<(String, Option<usize>)>, Errno> {
        let entries = self.entries(self.find(path)?)?;
        Ok(entries
            .iter()
            .map(|(name, ino)| (name.clone(), self.content(*ino).ok().map(Content::len)))
            .collect())
    }

    pub(super) fn create_file(&mut self, path: &Path) -> Result<Ino, Errno> {
        self.create(path, Node::File { content: Content::default(), handles: 0 })
    }

    /// Puts a file there, its bytes and its name durable, and nothing else becoming so.
    pub(super) fn put_file(&mut self, path: &Path, content: Content) -> Result<(), Errno> {
        let to = self.place(path)?;
        let ino = match self.find_file(path) {
            Ok(ino) => {
                *self.content_mut(ino)? = content;
                ino
            }
            Err(Errno::NOENT) => self.add(Node::File { content, handles: 0 }),
            Err(errno) => return Err(errno),
        };
        let change = Change { ino, from: None, to: Some(to) };
        self.apply(&change, Side::Live);
        self.apply(&change, Side::Durable);
        Ok(())
    }

    pub(super) fn create_dir(&mut self, path: &Path) -> Result<(), Errno> {
        self.create(path, Node::Dir { live: Entries::new(), durable: Entries::new() }).map(|_ino| ())
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> Result<(), Errno> {
        let (from_place, to_place) = (self.place(from)?, self.place(to)?);
        let ino = self.find(from)?;
        if from_place == to_place {
            return Ok(());
        }
        if names(to).starts_with(&names(from)) {
            return Err(Errno::INVAL);
        }
        match self.entries(to_place.dir)?.get(&to_place.name) {
            Some(target) if self.is_dir(*target) => {
                if !self.is_dir(ino) {
                    return Err(Errno::ISDIR);
                }
                if !self.entries(*target)?.is_empty() {
                    return Err(Errno::NOTEMPTY);
                }
            }
            Some(_file) if self.is_dir(ino) => return Err(Errno::NOTDIR),
            _ => {}
        }
        self.change(Change { ino, from: Some(from_place), to: Some(to_place) });
        Ok(())
    }

    pub(super) fn remove(&mut self, path: &Path) -> Result<(), Errno> {
        let ino = self.find_file(path)?;
        let from = self.place(path)?;
        self.change(Change { ino, from: Some(from), to: None });
        Ok(())
    }

    /// Makes the changes of one directory durable. A rename into another directory becomes durable with its new
    /// name; until the old directory is synced too, the old name may come back.
    pub(super) fn sync_dir(&mut self, path: &Path) -> Result<(), Errno> {
        let synced = self.find(path)?;
        if !self.is_dir(synced) {
            return Err(Errno::NOTDIR);
        }
        let here = |place: &Option<Place>| place.as_ref().is_none_or(|place| place.dir == synced);
        for change in std::mem::take(&mut self.pending) {
            match (here(&change.from), here(&change.to)) {
                (true, true) => self.apply(&change, Side::Durable),
                (false, true) => {
                    self.apply(&Change { from: None, ..change.clone() }, Side::Durable);
                    self.pending.push(Change { to: None, ..change });
                }
                (_, false) => self.pending.push(change),
            }
        }
        self.forget_unreachable();
        Ok(())
    }

    pub(super) fn opened(&mut self, ino: Ino) {
        if let Some(Node::File { handles, .. }) = self.nodes.get_mut(&ino) {
            *handles += 1;
        }
    }

    pub(super) fn closed(&mut self, ino: Ino) {
        let Some(Node::File { handles, .. }) = self.nodes.get_mut(&ino) else { return };
        *handles = handles.saturating_sub(1);
        if *handles == 0 && !self.has_name(ino) {
            self.forget_unreachable();
        }
    }

    /// The bytes that are taken: each file and directory counts one sector more than its content. What was removed
    /// counts until its directory is synced and nobody has it open.
    pub(super) fn used_bytes(&self) -> u64 {
        let bytes_of = |node: &Node| match node {
            Node::File { content, .. } => content.len() + SECTOR,
            Node::Dir { .. } => SECTOR,
        };
        self.nodes.values().map(|node| bytes_of(node) as u64).sum()
    }

    /// All files, by path, with their lengths.
    pub(super) fn files(&self) -> Vec<(PathBuf, u64)> {
        let mut files = Vec::new();
        let mut waiting = vec![(PathBuf::from("/"), ROOT)];
        while let Some((path, ino)) = waiting.pop() {
            match self.nodes.get(&ino) {
                Some(Node::File { content, .. }) => files.push((path, content.len() as u64)),
                Some(Node::Dir { live, .. }) => {
                    waiting.extend(live.iter().map(|(name, ino)| (path.join(name), *ino)));
                }
                None => {}
            }
        }
        files.sort();
        files
    }

    /// The tree after a power cut: what was durable, and of the rest what the fates keep.
    pub(super) fn after_crash(&self, fates: &mut Fates) -> Self {
        let mut after = self.clone();
        for change in std::mem::take(&mut after.pending) {
            match fates.deal() {
                Fate::Kept => after.apply(&change, Side::Durable),
                Fate::Lost => {}
                // The new name came and the old one did not go.
                Fate::Torn(_) => after.apply(&Change { from: None, ..change }, Side::Durable),
            }
        }
        for node in after.nodes.values_mut() {
            match node {
                Node::Dir { live, durable } => live.clone_from(durable),
                Node::File { content, handles } => {
                    *content = Content::durable(content.after_crash(fates));
                    *handles = 0;
                }
            }
        }
        after.forget_unreachable();
        after
    }

    /// The tree after every process ended: nothing is lost and nothing became durable by it.
    pub(super) fn after_restart(&self) -> Self {
        let mut after = self.clone();
        for node in after.nodes.values_mut() {
            if let Node::File { handles, .. } = node {
                *handles = 0;
            }
        }
        after
    }

    fn entries(&self, dir: Ino) -> Result<&Entries, Errno> {
        match self.nodes.get(&dir) {
            Some(Node::Dir { live, .. }) => Ok(live),
            Some(Node::File { .. }) => Err(Errno::NOTDIR),
            None => Err(Errno::NOENT),
        }
    }

    fn place(&self, path: &Path) -> Result<Place, Errno> {
        let mut names = names(path);
        let name = names.pop().ok_or(Errno::BUSY)?;
        let dir = self.find(&names.iter().collect::<PathBuf>())?;
        self.entries(dir)?;
        Ok(Place { dir, name })
    }

    fn create(&mut self, path: &Path, node: Node) -> Result<Ino, Errno> {
        let to = self.place(path)?;
        if self.entries(to.dir)?.contains_key(&to.name) {
            return Err(Errno::EXIST);
        }
        let ino = self.add(node);
        self.change(Change { ino, from: None, to: Some(to) });
        Ok(ino)
    }

    fn add(&mut self, node: Node) -> Ino {
        let ino = self.next;
        self.next += 1;
        self.nodes.insert(ino, node);
        ino
    }

    fn change(&mut self, change: Change) {
        self.apply(&change, Side::Live);
        self.pending.push(change);
    }

    fn apply(&mut self, change: &Change, side: Side) {
        let ino = change.ino;
        if let Some(from) = &change.from
            && let Some(entries) = self.side_mut(from.dir, side)
            && entries.get(&from.name) == Some(&ino)
        {
            entries.remove(&from.name);
        }
        if let Some(to) = &change.to
            && let Some(entries) = self.side_mut(to.dir, side)
        {
            entries.insert(to.name.clone(), ino);
        }
    }

    fn side_mut(&mut self, dir: Ino, side: Side) -> Option<&mut Entries> {
        match (self.nodes.get_mut(&dir)?, side) {
            (Node::Dir { live, .. }, Side::Live) => Some(live),
            (Node::Dir { durable, .. }, Side::Durable) => Some(durable),
            (Node::File { .. }, _) => None,
        }
    }

    /// Whether a file has a name that a look-up finds.
    fn has_name(&self, ino: Ino) -> bool {
        self.nodes
            .values()
            .any(|node| matches!(node, Node::Dir { live, .. } if live.values().any(|named| *named == ino)))
    }

    /// Frees what no name, no handle and no waiting change leads to.
    fn forget_unreachable(&mut self) {
        let mut waiting = vec![ROOT];
        for (ino, node) in &self.nodes {
            if matches!(node, Node::File { handles, .. } if *handles > 0) {
                waiting.push(*ino);
            }
        }
        waiting.extend(self.pending.iter().map(|change| change.ino));
        let mut reached = BTreeSet::new();
        while let Some(ino) = waiting.pop() {
            if reached.insert(ino)
                && let Some(Node::Dir { live, durable }) = self.nodes.get(&ino)
            {
                waiting.extend(live.values().chain(durable.values()));
            }
        }
        self.nodes.retain(|ino, _| reached.contains(ino));
    }
}

/// The names along a path from the root, `.` and `..` resolved. A relative path starts at the root.
pub(super) fn names(path: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name.to_string_lossy().into_owned()),
            Component::ParentDir => {
                names.pop();
            }
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    names
}
