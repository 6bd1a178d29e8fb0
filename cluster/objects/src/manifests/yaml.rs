//! YAML in the dialect of Kubernetes' tools: scalars of version 1.1, no duplicate keys.

use serde::de::{DeserializeOwned, IgnoredAny};

/// Part of a stream between two lines that begin with `---`: one document, or several if `...` ends a document. In
/// JSON, one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunk<'a> {
    /// The text, including a leading `---`.
    text: &'a str,
    /// The line on which the text begins.
    first_line: u32,
    /// The line of its first content.
    pub(super) line: u32,
}

/// Splits a stream at the lines that begin with `---`, like `kubectl`. An invalid document therefore does not affect
/// the others. Chunks that have only comments or directives are left out.
pub(super) fn chunks(text: &str) -> Vec<Chunk<'_>> {
    let mut chunks = Vec::new();
    let (mut start, mut start_line) = (0, 1);
    let mut content = None;
    let (mut offset, mut number) = (0, 1_u32);
    for line in text.split_inclusive('\n') {
        let after_marker =
            line.strip_prefix("---").filter(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']));
        if after_marker.is_some() {
            if let Some(content) = content.take() {
                chunks.push(Chunk { text: &text[start..offset], first_line: start_line, line: content });
            }
            (start, start_line) = (offset, number);
        }
        let body = after_marker.unwrap_or(line).trim();
        let directive = line.starts_with('%') && content.is_none();
        if content.is_none() && !body.is_empty() && !body.starts_with('#') && !directive {
            content = Some(number);
        }
        offset += line.len();
        number = number.saturating_add(1);
    }
    if let Some(content) = content {
        chunks.push(Chunk { text: &text[start..], first_line: start_line, line: content });
    }
    chunks
}

/// Parses the documents of a chunk (more than one if `...` ends a document). An error is a line and a message.
pub(super) fn parse<T: DeserializeOwned>(chunk: &Chunk<'_>) -> Result<Vec<T>, (u32, String)> {
    serde_saphyr::from_multiple_with_options(chunk.text, options()).map_err(|error| {
        let line = error.location().and_then(|location| chunk.line_of(location));
        (line.unwrap_or(chunk.line), message(&error))
    })
}

impl<'a> Chunk<'a> {
    /// Returns a single document that begins on this line.
    pub(super) fn of(text: &'a str, line: u32) -> Chunk<'a> {
        Chunk { text, first_line: line, line }
    }

    /// Returns the line of a location in the chunk, counted in the stream.
    pub(super) fn line_of(&self, location: serde_saphyr::Location) -> Option<u32> {
        let line = u32::try_from(location.line()).ok().filter(|&line| line > 0)?;
        Some(self.first_line.saturating_add(line - 1))
    }
}

/// Returns whether the whole text is YAML.
pub(super) fn all_parse(text: &str) -> bool {
    chunks(text).iter().all(|chunk| parse::<IgnoredAny>(chunk).is_ok())
}

/// Formats a problem for authors of manifests, without hints about the API of `serde_saphyr`, and without the
/// location, which is reported separately.
fn message(error: &serde_saphyr::Error) -> String {
    let text = error.without_snippet().render_with_formatter(&serde_saphyr::UserMessageFormatter);
    let line = text.lines().next().unwrap_or_default();
    let end = line.rfind(" at line ").unwrap_or(line.len());
    line[..end].to_owned()
}

fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        // Manifests may be large; the expansion of aliases has its own limit.
        budget: serde_saphyr::budget! {
            max_events: usize::MAX,
            max_nodes: usize::MAX,
            max_total_scalar_bytes: usize::MAX,
            max_documents: usize::MAX,
            enforce_alias_anchor_ratio: false,
        },
        legacy_octal_numbers: true,
        with_snippet: false,
    }
}
