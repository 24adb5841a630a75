//! Archives and compressed files.

use super::command::{Arg, Options, Part};
use super::reader::Reader;

/// `tar`: lists, makes an archive, or unpacks one.
pub(super) fn tar(reader: &mut Reader, args: &[Arg]) {
    let first = args.first().map(|arg| arg.text.as_str()).unwrap_or_default();
    // `tar xzf a.tgz` and `tar -x -z -f a.tgz`.
    let letters: String = args
        .iter()
        .map(|arg| arg.text.as_str())
        .filter(|text| text.starts_with('-') && !text.starts_with("--"))
        .chain((!first.starts_with('-')).then_some(first))
        .collect();
    let long = |name: &str| args.iter().any(|arg| arg.text == name);
    let value_of = |short: char, name: &str| -> Option<Arg> {
        args.iter().enumerate().find_map(|(at, arg)| {
            let attached = arg.text.strip_prefix(name).and_then(|rest| rest.strip_prefix('='));
            if let Some(value) = attached {
                return Some(Arg { text: value.to_owned(), ..arg.clone() });
            }
            let bundle = (arg.text.starts_with('-') && !arg.text.starts_with("--")) || at == 0;
            (bundle && arg.text.ends_with(short)).then(|| args.get(at + 1).cloned()).flatten()
        })
    };
    let archive = value_of('f', "--file");
    if letters.contains('t') || long("--list") {
        if let Some(archive) = archive {
            reader.touch(&archive.text);
        }
    } else if letters.contains('x') || long("--extract") || long("--get") {
        if let Some(archive) = archive {
            reader.touch(&archive.text);
        }
        reader.write(&value_of('C', "--directory").unwrap_or_else(|| Arg::certain(".")));
    } else {
        match archive {
            Some(archive) => reader.write(&archive),
            None if letters.contains('c') => {}
            None => reader.tally.hide(),
        }
    }
    if args
        .iter()
        .any(|arg| arg.text.starts_with("--to-command") || arg.text.starts_with("--checkpoint-action"))
    {
        reader.tally.hide();
    }
}

/// Compressors replace their operands unless they write to standard output or only look.
pub(super) fn compress(reader: &mut Reader, args: &[Arg]) {
    let looks = args.iter().any(|arg| {
        let text = arg.text.as_str();
        matches!(text, "--stdout" | "--to-stdout" | "--test" | "--list")
            || (text.starts_with('-') && !text.starts_with("--") && text.contains(['c', 't', 'l']))
    });
    for part in Options::new(args, &["-S", "-T", "-o"]) {
        match part {
            Part::Option("-o", Some(file)) => reader.write(&file),
            Part::Option(..) => {}
            Part::Operand(operand) if looks => reader.touch(&operand.text),
            Part::Operand(operand) => {
                reader.write(operand);
                // The file beside it that appears or goes.
                let stem = operand.text.rsplit_once('.').map_or(operand.text.as_str(), |(stem, _)| stem);
                reader.write(&Arg { text: format!("{stem}*"), pattern: true, ..operand.clone() });
            }
        }
    }
}

/// `unzip`: unpacks unless it is told to look.
pub(super) fn unzip(reader: &mut Reader, args: &[Arg]) {
    let mut looks = false;
    let mut target = None;
    for part in Options::new(args, &["-d", "-x"]) {
        match part {
            Part::Option("-d", value) => target = value,
            Part::Option(option, _) => looks |= option.contains(['l', 'p', 't', 'z', 'v']),
            Part::Operand(operand) => reader.touch(&operand.text),
        }
    }
    if !looks {
        reader.write(&target.unwrap_or_else(|| Arg::certain(".")));
    }
}
