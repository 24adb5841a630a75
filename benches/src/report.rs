//! Says what was measured, beside what it has to be, and keeps it.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use crate::Outcome;
use crate::settings::Settings;

/// What a figure has to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Target {
    /// No more than this.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
}

/// One figure.
#[derive(Debug, Clone)]
struct Figure {
    name: String,
    value: f64,
    unit: &'static str,
    target: Option<Target>,
}

/// The figures of one run of one bench.
#[derive(Debug)]
pub struct Report {
    bench: &'static str,
    /// What the run was about: sizes and counts.
    about: Map<String, Value>,
    figures: Vec<Figure>,
}

impl Report {
    /// An empty one.
    pub fn new(bench: &'static str) -> Self {
        Self { bench, about: Map::new(), figures: Vec::new() }
    }

    /// Says a size or count that the figures depend on.
    pub fn about(&mut self, name: &str, value: impl Into<Value>) {
        self.about.insert(name.to_owned(), value.into());
    }

    /// Adds a figure that is there to be compared.
    pub fn figure(&mut self, name: impl Into<String>, value: f64, unit: &'static str) {
        self.figures.push(Figure { name: name.into(), value, unit, target: None });
    }

    /// Adds a figure that has a target.
    pub fn judged(&mut self, name: impl Into<String>, value: f64, unit: &'static str, target: Target) {
        self.figures.push(Figure { name: name.into(), value, unit, target: Some(target) });
    }

    /// Prints all figures, and keeps them where `--record` says so.
    ///
    /// # Errors
    /// What the file system says.
    pub fn finish(self, settings: &Settings) -> Outcome {
        let mut out = io::stdout().lock();
        let about: Vec<String> = self.about.iter().map(|(name, value)| format!("{name} {value}")).collect();
        writeln!(out, "{}: {}", self.bench, about.join(", "))?;
        for figure in &self.figures {
            let Figure { name, value, unit, .. } = figure;
            writeln!(out, "  {name:<44} {:>12} {unit:<5} {}", shown(*value), figure.verdict())?;
        }
        if settings.has("record") {
            let path = self.keep()?;
            writeln!(out, "  recorded in {}", path.display())?;
        }
        Ok(())
    }

    /// Appends a line to the history of the bench.
    #[expect(
        clippy::disallowed_methods,
        reason = "the history is a file of the repository, and its date is that of the calendar"
    )]
    fn keep(&self) -> Outcome<PathBuf> {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("history/{}.jsonl", self.bench));
        let figures: Map<String, Value> =
            self.figures.iter().map(|figure| (figure.name.clone(), json!(rounded(figure.value)))).collect();
        let line = json!({
            "commit": commit(),
            "seconds_since_1970": SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs(),
            "machine": machine()?,
            "about": self.about,
            "figures": figures,
        });
        let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
        writeln!(file, "{line}")?;
        Ok(path)
    }
}

impl Figure {
    fn verdict(&self) -> String {
        let (word, bound, is_met) = match self.target {
            None => return String::new(),
            Some(Target::AtMost(bound)) => ("at most", bound, self.value <= bound),
            Some(Target::AtLeast(bound)) => ("at least", bound, self.value >= bound),
        };
        let verdict = if is_met { "met" } else { "MISSED" };
        format!("{verdict}: {word} {}", shown(bound))
    }
}

/// Four digits that count.
fn rounded(value: f64) -> f64 {
    shown(value).parse().unwrap_or(value)
}

fn shown(value: f64) -> String {
    let digits = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.digits$}")
}

/// The commit that is measured, with a word where the work tree differs from it.
fn commit() -> String {
    let described = Command::new("git")
        .args(["-C", env!("CARGO_MANIFEST_DIR"), "describe", "--always", "--dirty", "--abbrev=12"])
        .output();
    match described {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        _ => "unknown".to_owned(),
    }
}

/// The machine in general words.
fn machine() -> Outcome<String> {
    let cores = std::thread::available_parallelism()?;
    Ok(format!("{cores} cores, {} {}", std::env::consts::ARCH, std::env::consts::OS))
}
