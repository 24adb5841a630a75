//! Summaries from outside: a text that is there already, or a command that writes one.
//!
//! The command is the user's own program, run by the shell with the user's own rights. It gets text and gives text;
//! it is given no vault, and what it writes goes through admission like any other summary.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use spanvault::{Error, ErrorKind, Result, Summarizer, SummaryRequest};
use spanvault_env::{Clock as _, RealClock};
use spanvault_types::Ttl;

/// The longest summary that is read, in bytes: more than any context holds.
const SUMMARY_BYTES_MAX: u64 = 16 << 20;
/// How much of what a failed command said is repeated, in bytes.
const COMPLAINT_BYTES_MAX: u64 = 400;
/// How long its last words are waited for after its end: something that it left running may keep the stream open.
const COMPLAINT_PATIENCE: Duration = Duration::from_millis(200);

/// One text for one range.
pub(super) struct GivenText {
    text: Option<String>,
}

impl GivenText {
    pub(super) const fn new(text: String) -> Self {
        Self { text: Some(text) }
    }
}

impl Summarizer for GivenText {
    fn name(&self) -> &'static str {
        "file"
    }

    fn summarize(&mut self, _range: &SummaryRequest<'_>) -> Result<String> {
        self.text.take().ok_or_else(|| {
            Error::from_caller(
                ErrorKind::Invalid,
                "summarise with one text: what may be summarised is more than one range of spans",
            )
            .with_hint(
                "name one session, keep more of it verbatim with \"--keep-last\", or use \"--summarizer\"",
            )
        })
    }
}

/// A command that the shell runs for each range.
pub(super) struct Command {
    command: String,
    timeout: Ttl,
}

impl Command {
    pub(super) const fn new(command: String, timeout: Ttl) -> Self {
        Self { command, timeout }
    }

    fn failed(&self, what: &str) -> Error {
        Error::from_caller(ErrorKind::Internal, format!("run the summarizer {:?}: {what}", self.command))
            .with_hint("nothing was changed; run the command by hand, or leave it to the built-in summarizer")
    }
}

impl Summarizer for Command {
    fn name(&self) -> &'static str {
        "command"
    }

    fn summarize(&mut self, range: &SummaryRequest<'_>) -> Result<String> {
        let ran = run(&self.command, range.text(), self.timeout)
            .map_err(|error| self.failed(&error.to_string()))?;
        match ran {
            Ran::TimedOut => Err(self.failed(&format!("no end after {}", self.timeout))),
            Ran::TooLong => Err(self.failed("it writes more than a summary")),
            Ran::Ended { status, output, .. } if status.success() => {
                String::from_utf8(output).map_err(|_bytes| self.failed("what it writes is no UTF-8"))
            }
            Ran::Ended { status, complaint, .. } => {
                let complaint = String::from_utf8_lossy(&complaint);
                let complaint = complaint.trim();
                let colon = if complaint.is_empty() { "" } else { ": " };
                Err(self.failed(&format!("{status}{colon}{complaint}")))
            }
        }
    }
}

/// How a command ended.
enum Ran {
    /// By itself.
    Ended { status: ExitStatus, output: Vec<u8>, complaint: Vec<u8> },
    /// It was stopped because it took too long.
    TimedOut,
    /// It was stopped because it wrote too much.
    TooLong,
}

/// What the threads around a command report.
enum Report {
    Output(io::Result<Vec<u8>>),
    Complaint(Vec<u8>),
    Exited,
}

/// Runs a command with `input` on its standard input.
///
/// It gets a process group of its own, so that what it started is stopped with it.
fn run(command: &str, input: String, timeout: Ttl) -> io::Result<Ran> {
    let mut child = std::process::Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let group = Pid::from_child(&child);
    let reports = listen(&mut child, input, group);
    let mut ended = Ended::default();
    let stopped = ended.await_all(&reports, timeout);
    if stopped.is_some() {
        // Until it is waited for, its number is its own: no other process can be hit. Where it is gone by itself,
        // there is nothing to stop.
        kill_process_group(group, Signal::KILL).unwrap_or_default();
    }
    let status = child.wait()?;
    if let Some(stopped) = stopped {
        return Ok(stopped);
    }
    if ended.complaint.is_none()
        && let Ok(Report::Complaint(complaint)) = reports.recv_timeout(COMPLAINT_PATIENCE)
    {
        ended.complaint = Some(complaint);
    }
    let output = ended.output.unwrap_or(Ok(Vec::new()))?;
    Ok(Ran::Ended { status, output, complaint: ended.complaint.unwrap_or_default() })
}

/// What has been heard of a command so far.
#[derive(Default)]
struct Ended {
    has_exited: bool,
    output: Option<io::Result<Vec<u8>>>,
    complaint: Option<Vec<u8>>,
}

impl Ended {
    /// Listens until the command has exited and all of its output is there; says why it has to be stopped instead.
    fn await_all(&mut self, reports: &Receiver<Report>, timeout: Ttl) -> Option<Ran> {
        let clock = RealClock::new();
        let end = clock.boot_ms().saturating_add(timeout.as_ms());
        while !self.has_exited || self.output.is_none() {
            let left = Duration::from_millis(end.saturating_sub(clock.boot_ms()));
            match reports.recv_timeout(left) {
                Ok(Report::Output(Ok(output))) if output.len() as u64 > SUMMARY_BYTES_MAX => {
                    return Some(Ran::TooLong);
                }
                Ok(Report::Output(output)) => self.output = Some(output),
                Ok(Report::Complaint(complaint)) => self.complaint = Some(complaint),
                Ok(Report::Exited) => self.has_exited = true,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return Some(Ran::TimedOut);
                }
            }
        }
        None
    }
}

/// Feeds a command and listens to it, each stream in a thread of its own, so that none can block another.
fn listen(child: &mut Child, input: String, group: Pid) -> Receiver<Report> {
    let (sender, reports) = mpsc::channel();
    if let Some(mut stdin) = child.stdin.take() {
        // A command need not read all of it.
        thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    }
    if let Some(stdout) = child.stdout.take() {
        let sender = sender.clone();
        thread::spawn(move || drop(sender.send(Report::Output(read_up_to(stdout, SUMMARY_BYTES_MAX + 1)))));
    }
    if let Some(stderr) = child.stderr.take() {
        let sender = sender.clone();
        thread::spawn(move || {
            let complaint = read_up_to(stderr, COMPLAINT_BYTES_MAX).unwrap_or_default();
            drop(sender.send(Report::Complaint(complaint)));
        });
    }
    thread::spawn(move || {
        // Looks without waiting for it in the sense of the system, so that its number stays taken.
        waitid(WaitId::Pid(group), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
            .map(drop)
            .unwrap_or_default();
        drop(sender.send(Report::Exited));
    });
    reports
}

/// Reads a stream to its end; of more than `limit` bytes the rest is read and dropped, so that nobody blocks on it.
fn read_up_to(mut stream: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.by_ref().take(limit).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == limit {
        io::copy(&mut stream, &mut io::sink())?;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_for(command: &str, input: &str, timeout: &str) -> Ran {
        run(command, input.to_owned(), Ttl::parse(timeout).unwrap()).unwrap()
    }

    #[test]
    fn a_command_gets_text_and_gives_text() {
        let Ran::Ended { status, output, .. } = run_for("tr a-z A-Z", "words", "10s") else {
            panic!("stopped")
        };
        assert!(status.success());
        assert_eq!(output, b"WORDS");
    }

    #[test]
    fn more_text_than_a_pipe_holds_blocks_nobody() {
        let long = "x".repeat(1 << 20);
        let Ran::Ended { output, .. } = run_for("cat", &long, "10s") else { panic!("stopped") };
        assert_eq!(output.len(), long.len());
        let Ran::Ended { status, .. } = run_for("true", &long, "10s") else { panic!("stopped") };
        assert!(status.success());
    }

    #[test]
    fn what_a_failed_command_says_is_repeated() {
        let Ran::Ended { status, complaint, .. } = run_for("echo no model >&2; exit 3", "", "10s") else {
            panic!("stopped")
        };
        assert_eq!(status.code(), Some(3));
        assert_eq!(complaint, b"no model\n");
    }

    #[test]
    fn a_command_that_hangs_is_stopped_with_all_that_it_started() {
        assert!(matches!(run_for("sleep 600 & sleep 600", "", "200ms"), Ran::TimedOut));
        assert!(matches!(run_for("exec sleep 600", "", "200ms"), Ran::TimedOut));
    }
}
