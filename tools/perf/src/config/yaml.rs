//! YAML in the dialect of Kubernetes' tools.

use std::fs;
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::Error;

/// Returns the text of a file.
pub(crate) fn text(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|error| Error::new(format!("{}: cannot be read: {error}", path.display())))
}

/// Parses the only document of a text. `name` is its name in errors.
pub(crate) fn document<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, Error> {
    let options = serde_saphyr::options! {
        // Files may be large. Repetition by aliases has a separate limit.
        budget: serde_saphyr::budget! {
            max_events: usize::MAX,
            max_nodes: usize::MAX,
            max_total_scalar_bytes: usize::MAX,
            enforce_alias_anchor_ratio: false,
        },
        legacy_octal_numbers: true,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let line = error.location().map(|location| location.line()).filter(|line| *line > 0);
        let place = line.map_or_else(|| name.to_owned(), |line| format!("{name}:{line}"));
        let text = error.without_snippet().render_with_formatter(&serde_saphyr::UserMessageFormatter);
        let message = text.lines().next().unwrap_or_default();
        let end = message.rfind(" at line ").unwrap_or(message.len());
        Error::new(format!("{place}: is not YAML: {}", &message[..end]))
    })
}
