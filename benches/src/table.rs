//! The table and the plot of a comparison, written where they are read: into docs/performance.md.

use std::fmt::Write as _;
use std::path::PathBuf;

use crate::Outcome;

/// One thing that was measured of every engine.
#[derive(Debug, Clone)]
pub struct Row {
    /// What.
    pub name: String,
    /// In what.
    pub unit: &'static str,
    /// Whether the highest figure is the best.
    pub higher_is_better: bool,
    /// The engines and their figures, the one under test first.
    pub values: Vec<(&'static str, f64)>,
    /// The bare limit.
    pub bare: Option<f64>,
}

const BEGIN: &str = "<!-- peers: begin -->\n";
const END: &str = "<!-- peers: end -->\n";

/// Puts the table into docs/performance.md between its two marks, and the plot beside it.
///
/// # Errors
/// What the file system says, or where the page has no marks.
#[expect(clippy::disallowed_methods, reason = "pages of the repository")]
pub fn write_page(rows: &[Row]) -> Outcome {
    let docs = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let path = docs.join("performance.md");
    let page = String::from_utf8(std::fs::read(&path)?)?;
    let (before, rest) = page.split_once(BEGIN).ok_or("the page has no mark where the table begins")?;
    let (_old, after) = rest.split_once(END).ok_or("the page has no mark where the table ends")?;
    std::fs::write(&path, format!("{before}{BEGIN}{}{END}{after}", table(rows)?))?;
    Ok(std::fs::write(docs.join("performance.svg"), plot(rows)?)?)
}

fn table(rows: &[Row]) -> Outcome<String> {
    let mut out = String::from("| |");
    let engines = rows.first().map(|row| row.values.as_slice()).unwrap_or_default();
    for (engine, _value) in engines {
        write!(out, " {engine} |")?;
    }
    out.push_str(" bare limit |\n|---|");
    out.push_str(&"---|".repeat(engines.len() + 1));
    out.push('\n');
    for row in rows {
        write!(out, "| {}, {} |", row.name, row.unit)?;
        for (_engine, value) in &row.values {
            write!(out, " {} |", shown(*value))?;
        }
        writeln!(out, " {} |", row.bare.map_or(String::new(), shown))?;
    }
    Ok(out)
}

/// Width of a bar that is as good as the best, in pixels.
const BAR: f64 = 420.0;
const BAR_HEIGHT: f64 = 14.0;

/// A group of bars for each row; the length says how near to the best.
fn plot(rows: &[Row]) -> Outcome<String> {
    let mut bars = String::new();
    let mut y = 24.0;
    for row in rows {
        let best = row.values.iter().map(|(_, value)| goodness(row, *value)).fold(0.0, f64::max);
        writeln!(bars, r#"<text x="8" y="{y}" class="name">{}, {}</text>"#, row.name, row.unit)?;
        y += 6.0;
        for (n, (engine, value)) in row.values.iter().enumerate() {
            let width = (BAR * goodness(row, *value) / best).max(1.0);
            let class = if n == 0 { "ours" } else { "other" };
            let text = y + 11.0;
            writeln!(bars, r#"<text x="84" y="{text}" class="engine">{engine}</text>"#)?;
            writeln!(bars, r#"<rect x="90" y="{y}" width="{width:.1}" height="12" class="{class}"/>"#)?;
            writeln!(
                bars,
                r#"<text x="{:.1}" y="{text}" class="value">{}</text>"#,
                94.0 + width,
                shown(*value)
            )?;
            y += BAR_HEIGHT;
        }
        y += 26.0;
    }
    Ok(format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 {y}" font-family="sans-serif" font-size="11">
<style>.name {{ font-weight: bold }} .engine {{ text-anchor: end }} .ours {{ fill: #1f6feb }} .other {{ fill: #9aa4b0 }} text {{ fill: #57606a }}</style>
{bars}</svg>
"#
    ))
}

fn goodness(row: &Row, value: f64) -> f64 {
    if row.higher_is_better { value } else { 1.0 / value.max(1e-9) }
}

fn shown(value: f64) -> String {
    let digits = match value {
        large if large >= 100.0 => 0,
        middle if middle >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.digits$}")
}
