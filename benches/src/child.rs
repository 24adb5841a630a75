//! The bench once more, as a process of its own: for memory that nothing else has touched, and to be killed.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::Outcome;

/// A process that runs this bench with other words.
#[derive(Debug)]
pub struct Twin {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Twin {
    /// Starts one.
    ///
    /// # Errors
    /// What the system says.
    pub fn start(words: &[&str]) -> Outcome<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let out = BufReader::new(child.stdout.take().ok_or("the process has no output")?);
        Ok(Self { child, out })
    }

    /// The next line that it prints.
    ///
    /// # Errors
    /// Where it ends before.
    pub fn line(&mut self) -> Outcome<String> {
        let mut line = String::new();
        if self.out.read_line(&mut line)? == 0 {
            return Err(format!("the process has ended: {}", self.child.wait()?).into());
        }
        Ok(line.trim_end().to_owned())
    }

    /// Waits for its end, which has to be a good one.
    ///
    /// # Errors
    /// Where it is not.
    pub fn end(mut self) -> Outcome {
        let status = self.child.wait()?;
        if status.success() { Ok(()) } else { Err(format!("the process has ended: {status}").into()) }
    }

    /// Kills it where it stands (`SIGKILL`).
    ///
    /// # Errors
    /// What the system says.
    pub fn kill(mut self) -> Outcome {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}
