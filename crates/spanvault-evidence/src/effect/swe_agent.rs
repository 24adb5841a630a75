//! The commands that SWE-agent adds to its shell: a viewer of one open file, searches, and an editor of it.

use super::tally::Tally;

/// What such a command does; `None` where it is none, so that it is read as shell.
pub(super) fn tally(script: &str) -> Option<Tally> {
    let script = script.trim();
    let mut words = script.split_whitespace();
    let name = words.next()?;
    if name == "edit" {
        // It edits the file that was opened before, which the command does not name.
        return Some(Tally::opaque());
    }
    // Anything that a shell would take apart is left to its reader.
    if script.contains(['\n', ';', '|', '&', '<', '>', '`', '$', '(']) {
        return None;
    }
    let named = |word: Option<&str>| word.map(|word| word.trim_matches(['"', '\'']).to_owned());
    let mut tally = Tally::default();
    match name {
        "goto" | "scroll_up" | "scroll_down" | "submit" => {}
        "open" => tally.touch(&named(words.next())?),
        "find_file" | "search_file" | "search_dir" => {
            let _wanted = words.next();
            if let Some(place) = named(words.last()) {
                tally.touch(&place);
            }
        }
        "create" => tally.write(&named(words.next())?),
        _other => return None,
    }
    Some(tally)
}
