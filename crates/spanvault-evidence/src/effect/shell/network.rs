//! Commands that talk to other machines: `curl`, `wget`, `gh api`, `ssh`, database clients.

use super::command::{Arg, Input, Options, Part};
use super::reader::Reader;
use crate::effect::sql;

/// Counts a command that talks to others; `None` where `name` is none of them.
pub(super) fn run(reader: &mut Reader, name: &str, args: &[Arg]) -> Option<Input> {
    match name {
        "curl" => curl(reader, args),
        "wget" => wget(reader, args),
        "http" | "https" | "xh" => httpie(reader, args),
        "gh" if args.first().is_some_and(|arg| arg.text == "api") => {
            gh_api(reader, args.get(1..).unwrap_or_default());
        }
        "scp" | "rsync" | "sftp" => remote_copy(reader, args),
        "psql" | "mysql" | "mariadb" | "sqlite3" | "duckdb" | "clickhouse-client" | "sqlcmd" => {
            database(reader, name, args);
        }
        "redis-cli" | "mongosh" | "mongo" => reader.tally.hide(),
        _ => return None,
    }
    Some(Input::Stream)
}

/// Whether an HTTP method only asks.
fn only_asks(method: &Arg) -> bool {
    method.certain && ["GET", "HEAD", "OPTIONS"].iter().any(|asks| asks.eq_ignore_ascii_case(&method.text))
}

fn curl(reader: &mut Reader, args: &[Arg]) {
    const VALUES: &[&str] = &[
        "-X",
        "--request",
        "-d",
        "--data",
        "--data-raw",
        "--data-binary",
        "--data-urlencode",
        "--json",
        "-F",
        "--form",
        "-T",
        "--upload-file",
        "-o",
        "--output",
        "-D",
        "--dump-header",
        "-c",
        "--cookie-jar",
        "-K",
        "--config",
        "-H",
        "--header",
        "-u",
        "--user",
        "-A",
        "--user-agent",
        "-e",
        "--referer",
        "-b",
        "--cookie",
        "-m",
        "--max-time",
        "-w",
        "--write-out",
        "-x",
        "--proxy",
        "--connect-timeout",
        "--retry",
        "--retry-delay",
        "--cacert",
        "--cert",
        "--key",
        "-r",
        "--range",
        "--output-dir",
        "--trace",
        "--trace-ascii",
        "--stderr",
        "--max-redirs",
        "-E",
        "--resolve",
        "-Y",
        "-y",
        "-z",
    ];
    let mut method: Option<Arg> = None;
    let mut sends = false;
    let mut as_query = false;
    for part in Options::new(args, VALUES) {
        let Part::Option(option, value) = part else { continue };
        match (option, value) {
            ("-X" | "--request", value) => method = value,
            (
                "-d" | "--data" | "--data-raw" | "--data-binary" | "--data-urlencode" | "--json" | "-F"
                | "--form" | "-T" | "--upload-file",
                _,
            ) => {
                sends = true;
            }
            ("-G" | "--get", _) => as_query = true,
            (
                "-o" | "--output" | "-D" | "--dump-header" | "-c" | "--cookie-jar" | "--trace"
                | "--trace-ascii" | "--stderr",
                Some(file),
            ) => {
                reader.write(&file);
            }
            ("-K" | "--config", _) => reader.tally.hide(),
            ("-O" | "--remote-name" | "--remote-name-all", _) => write_downloads(reader, args),
            // Short options in one word: `-sSLO`, `-sXPOST`.
            (bundle, None) if !bundle.starts_with("--") => {
                if bundle.contains('O') {
                    write_downloads(reader, args);
                }
                if let Some((_, named)) = bundle.split_once('X') {
                    method = Some(Arg { certain: !named.is_empty(), ..Arg::certain(named) });
                }
                sends |= bundle.contains(['d', 'F', 'T']);
                if bundle.ends_with('o') {
                    reader.tally.hide();
                }
            }
            _ => {}
        }
    }
    match method {
        Some(method) if only_asks(&method) => {}
        None if !sends || as_query => {}
        _ => reader.tally.act_outside(),
    }
}

/// Files named like the last component of each URL.
fn write_downloads(reader: &mut Reader, args: &[Arg]) {
    for url in args.iter().filter(|arg| arg.text.contains("://")) {
        let path = url.text.split(['?', '#']).next().unwrap_or_default();
        let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        reader.write(&Arg { text: name.to_owned(), ..url.clone() });
    }
}

fn wget(reader: &mut Reader, args: &[Arg]) {
    const VALUES: &[&str] = &[
        "-O",
        "--output-document",
        "-o",
        "--output-file",
        "-P",
        "--directory-prefix",
        "-a",
        "--method",
        "--post-data",
        "--post-file",
        "--body-data",
        "--header",
        "-t",
        "-T",
        "-U",
        "--user-agent",
        "--timeout",
        "--tries",
        "-i",
    ];
    let mut output: Option<Arg> = None;
    let mut directory: Option<Arg> = None;
    let mut spider = false;
    for part in Options::new(args, VALUES) {
        let Part::Option(option, value) = part else { continue };
        match (option, value) {
            ("-O" | "--output-document", value) => output = value,
            ("-P" | "--directory-prefix", value) => directory = value,
            ("-o" | "--output-file" | "-a", Some(log)) => reader.write(&log),
            ("--method", Some(method)) if only_asks(&method) => {}
            ("--method" | "--post-data" | "--post-file" | "--body-data", _) => reader.tally.act_outside(),
            ("--spider", _) => spider = true,
            ("-r" | "--recursive" | "-m" | "--mirror" | "-i", _) => {
                directory = directory.or_else(|| Some(Arg::certain(".")));
            }
            // `-qO-`, `-qO file`.
            (bundle, None) if !bundle.starts_with("--") => {
                if let Some((_, file)) = bundle.split_once('O') {
                    if file.is_empty() {
                        reader.tally.hide();
                    }
                    output = Some(Arg::certain(if file.is_empty() { "-" } else { file }));
                }
            }
            _ => {}
        }
    }
    match (output, directory) {
        _ if spider => {}
        (Some(file), _) => reader.write(&file),
        (None, Some(directory)) => reader.write(&directory),
        (None, None) => write_downloads(reader, args),
    }
}

/// `http [METHOD] URL [ITEM…]`: items turn an unnamed method into POST.
fn httpie(reader: &mut Reader, args: &[Arg]) {
    let operands: Vec<&Arg> = args.iter().filter(|arg| !arg.text.starts_with('-')).collect();
    let named = operands
        .first()
        .filter(|arg| !arg.text.is_empty() && arg.text.bytes().all(|b| b.is_ascii_uppercase()));
    let asks = match named {
        Some(method) => only_asks(method),
        None => operands.len() <= 1,
    };
    if !asks {
        reader.tally.act_outside();
    }
    if args.iter().any(|arg| matches!(arg.text.as_str(), "-d" | "--download" | "-o" | "--output")) {
        reader.tally.hide();
    }
}

/// `gh api`: a GET unless it is given fields or another method.
fn gh_api(reader: &mut Reader, args: &[Arg]) {
    const VALUES: &[&str] = &[
        "-X",
        "--method",
        "-f",
        "--raw-field",
        "-F",
        "--field",
        "--input",
        "-q",
        "--jq",
        "-H",
        "--header",
        "-t",
        "--template",
        "-p",
        "--preview",
        "--hostname",
        "--cache",
    ];
    let mut method = None;
    let mut sends = false;
    let mut graphql = false;
    let mut mutation = false;
    for part in Options::new(args, VALUES) {
        match part {
            Part::Option("-X" | "--method", value) => method = value,
            Part::Option("-f" | "--raw-field" | "-F" | "--field" | "--input", value) => {
                sends = true;
                mutation |= value.is_none_or(|value| !value.certain || value.text.contains("mutation"));
            }
            Part::Option(..) => {}
            Part::Operand(operand) => graphql |= operand.text == "graphql",
        }
    }
    let asks = match method {
        Some(method) => only_asks(&method),
        None if graphql => !mutation,
        None => !sends,
    };
    if !asks {
        reader.tally.act_outside();
    }
}

fn remote_copy(reader: &mut Reader, args: &[Arg]) {
    let values = &["-e", "-i", "-P", "-F", "-o", "--exclude", "--include", "--rsh", "-l", "-c"];
    let mut operands: Vec<&Arg> = Vec::new();
    for part in Options::new(args, values) {
        match part {
            Part::Option("-n" | "--dry-run" | "--list-only", _) => return,
            // A program that rsync runs to reach the other side.
            Part::Option("--rsync-path" | "-S", _) => reader.tally.hide(),
            Part::Option(..) => {}
            Part::Operand(operand) => operands.push(operand),
        }
    }
    let Some(target) = operands.pop() else { return };
    for source in &operands {
        reader.touch(&source.text);
    }
    if target.text.contains(':') {
        reader.tally.act_outside();
    } else {
        reader.write(target);
    }
    if args.iter().any(|arg| arg.text == "--remove-source-files") {
        for source in operands {
            reader.write(source);
        }
    }
}

/// Database clients: what the statement on the command line does; one that comes from elsewhere is opaque.
fn database(reader: &mut Reader, name: &str, args: &[Arg]) {
    let embedded = matches!(name, "sqlite3" | "duckdb");
    let values: &[&str] = match name {
        "psql" => &[
            "-c",
            "--command",
            "-h",
            "-U",
            "-d",
            "-p",
            "-f",
            "--file",
            "-v",
            "-o",
            "-P",
            "-F",
            "--host",
            "--username",
            "--dbname",
            "--port",
        ],
        "sqlite3" | "duckdb" => &["-cmd", "-separator", "-init", "-c"],
        "clickhouse-client" => &["-q", "--query", "-h", "--host", "--port", "-u", "--user", "--password"],
        "sqlcmd" => &["-Q", "-q", "-S", "-U", "-P", "-d", "-i", "-o"],
        _ => &["-e", "--execute", "-h", "-u", "-P", "-D", "--host", "--user", "--port", "--database"],
    };
    let mut statements: Vec<Arg> = Vec::new();
    let mut operands: Vec<&Arg> = Vec::new();
    for part in Options::new(args, values) {
        match part {
            Part::Option(
                "-c" | "--command" | "-e" | "--execute" | "-cmd" | "-q" | "--query" | "-Q",
                Some(value),
            ) => {
                statements.push(value);
            }
            Part::Option("-l" | "--list", _) => return,
            Part::Option("-o", Some(file)) => reader.write(&file),
            Part::Option(..) => {}
            Part::Operand(operand) => operands.push(operand),
        }
    }
    if embedded {
        statements.extend(operands.iter().skip(1).map(|arg| (*arg).clone()));
        if let Some(file) = operands.first() {
            reader.touch(&file.text);
        }
    }
    if statements.is_empty() {
        return reader.tally.hide();
    }
    if statements.iter().all(|statement| statement.certain && sql::only_reads(&statement.text)) {
        return;
    }
    match operands.first() {
        Some(file) if embedded => {
            reader.write(file);
            // An embedded engine also opens and exports other files.
            reader.tally.hide();
        }
        _ => reader.tally.act_outside(),
    }
}
