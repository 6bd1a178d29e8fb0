//! Output of results and messages.

#![cfg_attr(not(feature = "tools"), allow(dead_code, reason = "programs without the feature `tools` print less"))]

use std::fmt::Display;
use std::io::Write;

use clap::ValueEnum;
use clap::builder::styling::{AnsiColor, Style};
use comfy_table::{CellAlignment, Row, Table};
use schedc_bounds::text::shortened;
use serde::Serialize;

use super::failure::Failure;

/// Output format of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A table for users
    Table,
    /// JSON for programs
    Json,
    /// YAML for users and programs
    Yaml,
}

/// Prints a result. `table` formats it for users.
pub(crate) fn print<T: Serialize>(format: Format, result: &T, table: impl FnOnce(&T) -> String) -> Result<(), Failure> {
    let text = match format {
        Format::Table => table(result),
        Format::Json => json(result)? + "\n",
        Format::Yaml => yaml(result)?,
    };
    print_text(&text)
}

/// Returns a result as indented JSON. Like [`yaml`], this function is compiled once for all types.
pub(crate) fn json(result: &dyn erased_serde::Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(result).map_err(Failure::new)
}

/// Returns a result as JSON on one line.
pub(crate) fn json_line(result: &dyn erased_serde::Serialize) -> serde_json::Result<String> {
    serde_json::to_string(result)
}

/// Returns a result as YAML.
pub(crate) fn yaml(result: &dyn erased_serde::Serialize) -> Result<String, Failure> {
    serde_saphyr::to_string(&result).map_err(Failure::new)
}

/// Prints a text, with colours on terminals only.
pub(crate) fn print_text(text: &str) -> Result<(), Failure> {
    let mut stdout = anstream::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    Ok(stdout.flush()?)
}

/// Prints a note to standard error.
pub(crate) fn note(text: impl Display) {
    let note = styled(AnsiColor::Cyan.on_default().bold(), "note:");
    // An error here is ignored: results are useful without notes.
    let _ = writeln!(anstream::stderr(), "{note} {}", message(text));
}

/// Prints an error that does not end the command.
pub(crate) fn print_error(text: impl Display) {
    // If standard error is closed, the message is lost.
    let _ = writeln!(anstream::stderr(), "{} {}", error("error:"), message(text));
}

/// Prints a warning.
pub(crate) fn warning(text: impl Display) {
    let warning = styled(AnsiColor::Yellow.on_default().bold(), "warning:");
    // An error here is ignored: results are useful without warnings.
    let _ = writeln!(anstream::stderr(), "{warning} {}", message(text));
}

/// Limits each line of a message to 4,000 characters, because messages may quote any user input.
pub(crate) fn message(text: impl Display) -> String {
    let text = text.to_string();
    text.split('\n').map(|line| shortened(line, MAX_LINE_LENGTH)).collect::<Vec<_>>().join("\n")
}

const MAX_LINE_LENGTH: usize = 4000;

/// Formats a heading.
pub(crate) fn heading(text: impl Display) -> String {
    styled(Style::new().bold(), text)
}

/// Formats a text in the style of the word `error:`.
pub(crate) fn error(text: impl Display) -> String {
    styled(AnsiColor::Red.on_default().bold(), text)
}

fn styled(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// A table without lines, in the style of `kubectl`.
pub(crate) struct Columns(Table);

impl Columns {
    /// Creates a table with named columns. A leading `>` marks a column of numbers, which is right-aligned.
    pub(crate) fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut table = Table::new();
        table.load_style(comfy_table::presets::NOTHING);
        let (names, numbers): (Vec<_>, Vec<_>) =
            names.into_iter().map(|name| (name.trim_start_matches('>'), name.starts_with('>'))).unzip();
        table.set_header(names);
        for (at, is_number) in numbers.into_iter().enumerate() {
            if let Some(column) = table.column_mut(at) {
                column.set_padding((0, 2));
                if is_number {
                    column.set_cell_alignment(CellAlignment::Right);
                }
            }
        }
        Columns(table)
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl Into<Row>) {
        self.0.add_row(cells);
    }

    /// Returns all lines, indented.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for line in self.0.lines() {
            text.push_str("  ");
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// Joins words with commas, in lines of at most 100 columns where possible.
pub(crate) fn wrapped<'a>(words: impl IntoIterator<Item = &'a str>, indent: usize) -> String {
    const WIDTH: usize = 100;
    let mut text = String::new();
    let mut column = 0;
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        let length = word.chars().count() + usize::from(words.peek().is_some());
        if column > 0 && column + 1 + length > WIDTH {
            text.push('\n');
            column = 0;
        }
        if column == 0 {
            text.extend(std::iter::repeat_n(' ', indent));
            column = indent;
        } else {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        if words.peek().is_some() {
            text.push(',');
        }
        column += length;
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn words_are_wrapped() {
        let words: Vec<String> = (0..14).map(|n| format!("default/pod-{n}")).collect();
        let text = wrapped(words.iter().map(String::as_str), 4);
        expect![[r#"
            words:
                default/pod-0, default/pod-1, default/pod-2, default/pod-3, default/pod-4, default/pod-5,
                default/pod-6, default/pod-7, default/pod-8, default/pod-9, default/pod-10, default/pod-11,
                default/pod-12, default/pod-13
        "#]]
        .assert_eq(&format!("words:\n{text}"));
    }

    #[test]
    fn lines_of_messages_are_bounded() {
        let name = "x".repeat(1_000_000);
        let text = message(format_args!("no pod `{name}`\nadd one"));
        assert!(text.len() < 4100 && text.starts_with("no pod `x") && text.ends_with("x`\nadd one"), "{text}");
    }

    #[test]
    fn numbers_are_aligned_to_the_right() {
        let mut columns = Columns::new(["NODE", ">PODS"]);
        columns.row(vec!["node-1", "7"]);
        columns.row(vec!["n2", "10"]);
        expect![[r#"
            table:
              NODE    PODS
              node-1     7
              n2        10
        "#]]
        .assert_eq(&format!("table:\n{}", columns.text()));
    }
}
