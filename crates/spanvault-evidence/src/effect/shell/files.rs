//! Commands whose operands decide what they touch and write: `cp`, `cd`, `tee`, `dd` …

use super::command::{self, Arg, Input, Options, Part};
use super::reader::Reader;
use super::{archives, awk, search, sed};

/// Counts a command on files; `None` where `name` is none of them.
pub(super) fn run(reader: &mut Reader, name: &str, args: &[Arg], input: &Input) -> Option<Input> {
    match name {
        "cd" => {
            let target = args.iter().find(|arg| !arg.text.starts_with('-') || arg.text == "-");
            reader.change_directory(target);
        }
        "pushd" | "popd" => {
            let target = args.iter().find(|arg| !arg.text.starts_with(['-', '+']));
            match target {
                Some(_) => reader.change_directory(target),
                None => reader.change_directory(Some(&Arg::certain("-"))),
            }
        }
        "install" if args.iter().any(|arg| arg.text == "-d" || arg.text == "--directory") => {
            for part in Options::new(args, &["-m", "-o", "-g"]) {
                if let Part::Operand(operand) = part {
                    reader.write(operand);
                }
            }
        }
        "cp" | "mv" | "ln" | "install" | "gcp" | "gmv" => copy(reader, args, name),
        "find" | "gfind" => return Some(search::find(reader, args)),
        "fd" | "fdfind" => return Some(search::fd(reader, args)),
        "sed" | "gsed" => sed::run(reader, args),
        "awk" | "gawk" | "mawk" | "nawk" => awk::run(reader, args),
        "tee" => args.iter().filter(|arg| !arg.text.starts_with('-')).for_each(|arg| reader.write(arg)),
        "dd" => dd(reader, args),
        "tar" | "gtar" | "bsdtar" => archives::tar(reader, args),
        "gzip" | "gunzip" | "bzip2" | "bunzip2" | "xz" | "unxz" | "zstd" | "unzstd" | "lz4" => {
            archives::compress(reader, args);
        }
        "unzip" => archives::unzip(reader, args),
        "read" | "mapfile" | "readarray" => {
            args.iter()
                .filter(|arg| !arg.text.starts_with('-'))
                .for_each(|arg| reader.assign(&arg.text, None));
        }
        "export" | "local" | "declare" | "typeset" | "readonly" => declare(reader, args),
        "ls" => {
            touch_operands(reader, args, &["-I", "-w", "-T"]);
            return Some(search::names_under(reader, args.iter().filter(|arg| !arg.text.starts_with('-'))));
        }
        "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" => return Some(search::grep(reader, args)),
        // What only passes lines on keeps the names that it got.
        "head" | "tail" | "sort" | "tr"
            if matches!(input, Input::Names(_)) && args.iter().all(is_number_or_flag) =>
        {
            return Some(input.clone());
        }
        _ => return None,
    }
    Some(Input::Stream)
}

fn is_number_or_flag(arg: &Arg) -> bool {
    let text = arg.text.trim_start_matches(['-', '+', 'n']);
    text.bytes().all(|b| b.is_ascii_digit()) || (arg.text.starts_with('-') && !arg.text.starts_with("-o"))
}

/// Operands that are read.
fn touch_operands(reader: &mut Reader, args: &[Arg], values: &[&str]) {
    for part in Options::new(args, values) {
        if let Part::Operand(operand) = part {
            reader.touch(&operand.text);
        }
    }
}

/// `cp SOURCE… TARGET`; `mv`, which also takes the sources away; `ln SOURCE`, which has a target of its own.
fn copy(reader: &mut Reader, args: &[Arg], name: &str) {
    const VALUES: &[&str] = &["-t", "--target-directory", "-S", "--suffix", "-m", "-o", "-g"];
    let takes_away = name.ends_with("mv");
    let mut operands: Vec<&Arg> = Vec::new();
    let mut target: Option<Arg> = None;
    for part in Options::new(args, VALUES) {
        match part {
            Part::Option("-t" | "--target-directory", value) => target = value,
            Part::Option(..) => {}
            Part::Operand(operand) => operands.push(operand),
        }
    }
    if let ("ln", [_], None) = (name, operands.as_slice(), &target) {
        target = Some(Arg::certain("."));
    }
    let into_directory = target.is_some() || operands.len() > 2;
    let target = match target {
        Some(target) => target,
        None => match operands.pop() {
            Some(last) => last.clone(),
            None => return reader.tally.hide(),
        },
    };
    let base = |arg: &Arg| arg.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
    let certainly_into =
        into_directory || target.text.ends_with('/') || matches!(target.text.as_str(), "." | "..");
    // Without looking, `cp a b` may write `b` or `b/a`: both are named unless the words rule one out.
    let certainly_onto = !certainly_into && operands.iter().any(|source| base(source) == base(&target));
    let has_extension = base(&target).trim_start_matches('.').contains('.');
    for source in &operands {
        if takes_away {
            reader.write(source);
        } else {
            reader.touch(&source.text);
        }
    }
    if !certainly_into {
        reader.write(&target);
    }
    if certainly_into || !(certainly_onto || has_extension) {
        for source in &operands {
            let text = format!("{}/{}", target.text.trim_end_matches('/'), base(source));
            let text = if target.text == "/" { format!("/{}", base(source)) } else { text };
            let certain = target.certain && source.certain;
            reader.write(&Arg { text, certain, pattern: source.pattern || target.pattern });
        }
    }
}

fn dd(reader: &mut Reader, args: &[Arg]) {
    for arg in args {
        if let Some(file) = arg.text.strip_prefix("of=") {
            reader.write(&Arg { text: file.to_owned(), ..arg.clone() });
        } else if let Some(file) = arg.text.strip_prefix("if=") {
            reader.touch(file);
        }
    }
}

fn declare(reader: &mut Reader, args: &[Arg]) {
    for arg in args.iter().filter(|arg| !arg.text.starts_with('-')) {
        if let Some((name, value)) = arg.text.split_once('=') {
            if command::loads_code(name) {
                reader.tally.hide();
            }
            reader.assign(name, arg.certain.then(|| vec![value.to_owned()]));
        }
    }
}
