//! Commands whose operands decide what they write: `cp`, `find`, `sed`, `tee`, `dd`, `tar` …

use super::command::{self, Arg, Command, Input, Options, Part};
use super::script::Reader;
use super::sed;

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
        "find" | "gfind" => return Some(find(reader, args)),
        "fd" | "fdfind" => return Some(fd(reader, args)),
        "sed" | "gsed" => sed::run(reader, args),
        "awk" | "gawk" | "mawk" | "nawk" => awk(reader, args),
        "tee" => args.iter().filter(|arg| !arg.text.starts_with('-')).for_each(|arg| reader.write(arg)),
        "dd" => dd(reader, args),
        "tar" | "gtar" | "bsdtar" => tar(reader, args),
        "gzip" | "gunzip" | "bzip2" | "bunzip2" | "xz" | "unxz" | "zstd" | "unzstd" | "lz4" => {
            compress(reader, args);
        }
        "unzip" => unzip(reader, args),
        "read" | "mapfile" | "readarray" => {
            args.iter()
                .filter(|arg| !arg.text.starts_with('-'))
                .for_each(|arg| reader.assign(&arg.text, None));
        }
        "export" | "local" | "declare" | "typeset" | "readonly" => declare(reader, args),
        "ls" => {
            touch_operands(reader, args, &["-I", "-w", "-T"]);
            return Some(names_under(reader, args.iter().filter(|arg| !arg.text.starts_with('-'))));
        }
        "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" => return Some(search(reader, args)),
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

/// The names that a listing of `roots` gives: all lie under them, or under the directory where none is named.
fn names_under<'a>(reader: &Reader, roots: impl Iterator<Item = &'a Arg>) -> Input {
    let mut names = Vec::new();
    for root in roots {
        if !root.certain {
            return Input::Stream;
        }
        names.push(root.text.clone());
    }
    if names.is_empty() {
        names.push(".".into());
    }
    let resolved: Option<Vec<String>> = names.iter().map(|name| reader.path(name)).collect();
    resolved.map_or(Input::Stream, Input::Names)
}

/// `grep PATTERN FILE…`: with `-l` it gives names.
fn search(reader: &mut Reader, args: &[Arg]) -> Input {
    const VALUES: &[&str] = &[
        "-e",
        "-f",
        "-m",
        "-A",
        "-B",
        "-C",
        "-d",
        "-D",
        "-g",
        "-t",
        "-T",
        "-j",
        "-r",
        "--include",
        "--exclude",
        "--exclude-dir",
        "--regexp",
        "--file",
        "--glob",
        "--type",
        "--max-count",
        "--color",
        "--context",
        "--after-context",
        "--before-context",
    ];
    // `-r` takes a value in ripgrep only; elsewhere it means *recursive*.
    let values: Vec<&str> = VALUES.iter().copied().filter(|value| *value != "-r").collect();
    let mut pattern_given = false;
    let mut gives_names = false;
    let mut roots = Vec::new();
    for part in Options::new(args, &values) {
        match part {
            Part::Option("-e" | "-f" | "--regexp" | "--file", _) => pattern_given = true,
            Part::Option("--files", _) => {
                pattern_given = true;
                gives_names = true;
            }
            Part::Option("--files-with-matches" | "--files-without-match", _) => gives_names = true,
            Part::Option("--pre" | "--pager", _) => reader.tally.hide(),
            Part::Option(option, _) if option.starts_with("--") => {}
            Part::Option(option, _) => gives_names |= option.contains(['l', 'L']),
            Part::Operand(_) if !pattern_given => pattern_given = true,
            Part::Operand(operand) => {
                reader.touch(&operand.text);
                roots.push(operand);
            }
        }
    }
    if gives_names { names_under(reader, roots.into_iter()) } else { Input::Stream }
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

/// `find ROOT… EXPRESSION`: the names that it gives, and what its actions do under its roots.
fn find(reader: &mut Reader, args: &[Arg]) -> Input {
    let expression = args
        .iter()
        .position(|arg| {
            arg.text.starts_with(['-', '(', '!']) && !matches!(arg.text.as_str(), "-H" | "-L" | "-P")
        })
        .unwrap_or(args.len());
    let (roots, actions) = args.split_at(expression);
    let mut roots: Vec<Arg> = roots.iter().filter(|arg| !arg.text.starts_with('-')).cloned().collect();
    if roots.is_empty() {
        roots.push(Arg::certain("."));
    }
    for root in &roots {
        reader.touch(&root.text);
    }
    let mut at = 0;
    while let Some(action) = actions.get(at) {
        at += 1;
        match action.text.as_str() {
            "-delete" => roots.iter().for_each(|root| reader.write(root)),
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => match actions.get(at) {
                Some(file) => reader.write(file),
                None => reader.tally.hide(),
            },
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let rest = actions.get(at..).unwrap_or_default();
                let end =
                    rest.iter().position(|arg| arg.text == ";" || arg.text == "+").unwrap_or(rest.len());
                let mut args = Vec::new();
                for arg in rest.get(..end).unwrap_or_default() {
                    if arg.text.contains("{}") {
                        let each = |root: &Arg| Arg {
                            text: arg.text.replace("{}", &root.text),
                            pattern: true,
                            ..root.clone()
                        };
                        args.extend(roots.iter().map(each));
                    } else {
                        args.push(arg.clone());
                    }
                }
                command::run(reader, &Command { args, input: Input::Nothing });
                at += end + 1;
            }
            _ => {}
        }
    }
    names_under(reader, roots.iter())
}

/// `fd PATTERN [ROOT…]`, whose `-x` runs a command.
fn fd(reader: &mut Reader, args: &[Arg]) -> Input {
    const VALUES: &[&str] = &["-e", "-t", "-d", "-E", "--extension", "--type", "--max-depth", "--exclude"];
    let mut operands = Vec::new();
    for part in Options::new(args, VALUES) {
        match part {
            Part::Option("-x" | "-X" | "--exec" | "--exec-batch", _) => {
                reader.tally.hide();
                return Input::Stream;
            }
            Part::Option(..) => {}
            Part::Operand(operand) => operands.push(operand),
        }
    }
    let roots = operands.get(1..).unwrap_or_default();
    for root in roots {
        reader.touch(&root.text);
    }
    names_under(reader, roots.iter().copied())
}

/// `awk PROGRAM FILE…`: a program that prints into files or runs commands is opaque.
fn awk(reader: &mut Reader, args: &[Arg]) {
    let mut program_seen = false;
    for part in Options::new(args, &["-F", "-v", "-f", "-i", "--include"]) {
        match part {
            Part::Option("-f" | "-i" | "--include" | "--file", _) => {
                reader.tally.hide();
                program_seen = true;
            }
            Part::Option(..) => {}
            Part::Operand(operand) if !program_seen => {
                program_seen = true;
                if !operand.certain || awk_acts(&operand.text) {
                    reader.tally.hide();
                }
            }
            Part::Operand(operand) => reader.touch(&operand.text),
        }
    }
}

/// Whether an awk program may write files or run commands.
fn awk_acts(program: &str) -> bool {
    let mut bare = String::with_capacity(program.len());
    let mut in_string = false;
    let mut escaped = false;
    for c in program.chars() {
        match c {
            '"' if !escaped => {
                in_string = !in_string;
                bare.push('"');
            }
            _ if in_string => {}
            _ => bare.push(c),
        }
        escaped = c == '\\' && !escaped;
    }
    let writes = bare.split([';', '{', '}', '\n']).any(|print| {
        print
            .split_once("print")
            .is_some_and(|(_, print)| print.contains('>') || print.replace("||", "").contains('|'))
    });
    writes
        || bare.contains("system")
        || bare.contains("| getline")
        || bare.contains("|getline")
        || bare.contains("@load")
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

/// `tar`: lists, makes an archive, or unpacks one.
fn tar(reader: &mut Reader, args: &[Arg]) {
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
fn compress(reader: &mut Reader, args: &[Arg]) {
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

fn unzip(reader: &mut Reader, args: &[Arg]) {
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
