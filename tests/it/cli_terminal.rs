//! What is different where a person looks at a terminal: tables, colours, a pager, progress.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::cli_harness::Sandbox;
use crate::cli_story::{SESSION, story, told};

/// Runs a command whose output goes to a terminal of that many rows; gives what the terminal was sent.
fn on_a_terminal(mut command: Command, rows: u16) -> String {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let size = Winsize { ws_row: rows, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
    let end = open_end(&terminal);
    tcsetwinsize(&end, size).unwrap();
    let mut child = command
        .env_remove("NO_COLOR")
        .env("TERM", std::env::var("TEST_TERM").unwrap_or_else(|_unset| "xterm".to_owned()))
        .stdin(Stdio::null())
        .stdout(Stdio::from(end.try_clone().unwrap()))
        .stderr(Stdio::from(end))
        .spawn()
        .unwrap();
    drop(command);
    let mut shown = Vec::new();
    let mut reader = File::from(terminal);
    let mut buffer = [0; 4096];
    // The terminal reports an error, not an end, once nobody holds its other side.
    while let Ok(read @ 1..) = reader.read(&mut buffer) {
        shown.extend_from_slice(&buffer[..read]);
    }
    child.wait().unwrap();
    String::from_utf8_lossy(&shown).replace("\r\n", "\n")
}

fn open_end(terminal: &OwnedFd) -> OwnedFd {
    let name = ptsname(terminal, Vec::new()).unwrap().into_string().unwrap();
    std::fs::OpenOptions::new().read(true).write(true).open(name).unwrap().into()
}

#[test]
fn a_terminal_gets_a_drawn_table_and_a_pipe_bare_columns() {
    let sandbox = told();
    let drawn = on_a_terminal(sandbox.command(&["sessions"]), 40);
    assert!(drawn.contains('│') && drawn.contains("\x1b["), "{drawn}");
    let bare = sandbox.ok(&["sessions"]).out;
    assert!(!bare.contains('│') && !bare.contains('\x1b'), "{bare}");
}

#[test]
fn no_color_leaves_the_table_and_takes_the_colours() {
    let sandbox = told();
    let mut command = sandbox.command(&["sessions"]);
    // Set by a shell, because the harness clears what it is given.
    command.arg("--json");
    let json = on_a_terminal(command, 40);
    assert!(!json.contains('\x1b') && json.contains("{\"session\""), "{json}");
    let program = sandbox.command(&["sessions"]);
    let mut shell = Command::new("sh");
    shell
        .env_clear()
        .envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .current_dir(program.get_current_dir().unwrap())
        .args(["-c", "NO_COLOR=1 exec \"$0\" sessions"])
        .arg(program.get_program());
    let plain = on_a_terminal(shell, 40);
    assert!(plain.contains('│') && !plain.contains('\x1b'), "{plain}");
}

#[test]
fn what_is_longer_than_the_terminal_goes_through_the_pager() {
    let sandbox = told();
    let mut command = sandbox.command(&["spans"]);
    command.env("PAGER", "sed 's/^/paged: /'");
    let long = on_a_terminal(command, 10);
    assert!(long.lines().all(|line| line.starts_with("paged: ")), "{long}");
    let mut command = sandbox.command(&["sessions"]);
    command.env("PAGER", "sed 's/^/paged: /'");
    let short = on_a_terminal(command, 40);
    assert!(!short.contains("paged: "), "{short}");
    let mut command = sandbox.command(&["spans"]);
    command.env("PAGER", "cat");
    assert!(!on_a_terminal(command, 10).contains("paged: "));
}

#[test]
fn a_pager_that_is_closed_early_is_no_error() {
    let sandbox = told();
    let mut command = sandbox.command(&["context", SESSION]);
    command.env("PAGER", "head -1");
    let shown = on_a_terminal(command, 5);
    assert!(shown.contains("session story") && !shown.contains("error"), "{shown}");
}

#[test]
fn a_pipe_is_never_paged_and_never_sees_progress() {
    let sandbox = Sandbox::new();
    sandbox.write("story.jsonl", story());
    let mut command = sandbox.command(&["ingest", "story.jsonl"]);
    command.env("PAGER", "sed 's/^/paged: /'");
    let output = command.output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!String::from_utf8_lossy(&output.stdout).contains("paged: "));
}

#[test]
fn a_transcript_does_not_control_the_terminal_that_shows_it() {
    let sandbox = Sandbox::new();
    let line = r#"{"type":"user","uuid":"u1","sessionId":"evil","message":{"role":"user","content":"\u001b]0;owned\u0007\u001b[2Jgone"}}"#;
    sandbox.write("evil.jsonl", format!("{line}\n"));
    sandbox.ok(&["ingest", "evil.jsonl"]);
    let shown = on_a_terminal(sandbox.command(&["context", "evil"]), 40);
    assert!(!shown.contains("\x1b]0;") && !shown.contains("\x1b[2J"), "{shown:?}");
    assert!(shown.contains("gone"));
    assert!(sandbox.ok(&["context", "evil"]).out.contains("\x1b[2J"), "a pipe gets the text as it is");
}
