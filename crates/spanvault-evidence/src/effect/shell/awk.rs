//! `awk`: whether its program writes files or runs commands.

use super::command::{Arg, Options, Part};
use super::reader::Reader;

/// `awk PROGRAM FILE…`: a program that prints into files or runs commands is opaque.
pub(super) fn run(reader: &mut Reader, args: &[Arg]) {
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
                if !operand.certain || acts(&operand.text) {
                    reader.tally.hide();
                }
            }
            Part::Operand(operand) => reader.touch(&operand.text),
        }
    }
}

/// Whether an awk program may write files or run commands.
fn acts(program: &str) -> bool {
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
