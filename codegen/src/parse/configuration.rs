//! Detection of kube-scheduler's configuration in place of a profile.

use crate::source::{FileId, Files, Span, Spanned};

/// The kinds that `schedc import` reads, each with a word. If other APIs have a kind of the same name, only a file that
/// also contains this word is a configuration; otherwise, the word is empty.
const KINDS: [(&str, &str); 2] = [("KubeSchedulerConfiguration", ""), ("Policy", "predicates")];

/// Returns the kind of a YAML or JSON configuration with its location. `None`: the file is no configuration.
pub(super) fn find(files: &Files, file: FileId) -> Option<Spanned<String>> {
    let text = files.text(file);
    KINDS.iter().filter(|(_, word)| text.contains(word)).find_map(|(kind, _)| {
        let mut places = text.match_indices(kind).map(|(start, _)| (start, start + kind.len()));
        let (start, end) = places.find(|&(start, end)| is_value_of_kind(&text[..start], &text[end..]))?;
        Some(Spanned { value: (*kind).to_owned(), span: Span { file, start, end } })
    })
}

/// Returns whether `before` ends with `kind: `, in YAML or JSON, and `after` does not continue the value.
fn is_value_of_kind(before: &str, after: &str) -> bool {
    let quotes = ['"', '\''];
    let key = before.trim_end_matches(quotes).trim_end().strip_suffix(':').map(|key| key.trim_end());
    let is_key = key.is_some_and(|key| key.trim_end_matches(quotes).ends_with("kind"));
    is_key && !after.starts_with(|c: char| c.is_alphanumeric())
}
