//! Standard output: a closed pipe ends the program quietly. Aligned tables.

use std::io::{ErrorKind, Write};

use serde::Serialize;

use crate::failure::{Failure, Outcome};

/// Writes text to standard output; a closed pipe is [`Failure::Closed`].
pub fn print(text: &str) -> Outcome<()> {
    let mut out = std::io::stdout().lock();
    checked(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Writes text for a person to standard output, or to standard error if the result itself goes to standard output.
pub fn print_beside(text: &str, result_printed: bool) -> Outcome<()> {
    if !result_printed {
        return print(text);
    }
    // A failure to write it is ignored, as for a note.
    let _ = std::io::stderr().write_all(text.as_bytes());
    Ok(())
}

/// Turns the result of a write to standard output into an outcome; a closed pipe is [`Failure::Closed`].
pub fn checked(result: std::io::Result<()>) -> Outcome<()> {
    result.map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Failure::Closed,
        _ => Failure::Input(format!("standard output: writing failed: {error}. Check where it is redirected to.")),
    })
}

/// Prints a value as indented JSON.
pub fn print_json(value: &impl Serialize) -> Outcome<()> {
    print(&to_json(value)?)
}

/// A value as indented JSON with a final line break.
pub fn to_json(value: &impl Serialize) -> Outcome<String> {
    let mut text = serde_json::to_string_pretty(value).map_err(|e| Failure::Result(format!("JSON: {e}.")))?;
    text.push('\n');
    Ok(text)
}

/// The JSON word of a value, such as a status or a phase's group.
pub fn word(value: impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(String::from)).unwrap_or_default()
}

/// A note on standard error.
pub fn note(text: &str) {
    // A failure to write a note is ignored.
    let _ = writeln!(std::io::stderr(), "pirlab: {text}");
}

/// A table in columns as wide as their widest cell.
#[derive(Clone, Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
    right: Vec<bool>,
}

impl Table {
    /// A table with this header; a column whose title starts with `>` is aligned to the right.
    pub fn new(header: &[&str]) -> Self {
        let right = header.iter().map(|title| title.starts_with('>')).collect();
        let titles = header.iter().map(|title| title.trim_start_matches('>').to_string()).collect();
        Self { rows: vec![titles], right }
    }

    /// A table without a header: keys and values.
    pub fn pairs() -> Self {
        Self::default()
    }

    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// The table as text; empty if it has only its header.
    pub fn text(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|c| self.rows.iter().filter_map(|row| row.get(c)).map(|cell| cell.chars().count()).max().unwrap_or(0))
            .collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::from("  ");
            for (c, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                let padding = " ".repeat(width - cell.chars().count());
                let right = self.right.get(c).copied().unwrap_or(false);
                line.push_str(&if right { format!("{padding}{cell}") } else { format!("{cell}{padding}") });
                line.push_str("  ");
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests;
