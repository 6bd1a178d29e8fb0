//! kube-scheduler's configuration where a profile is expected.

use crate::source::{FileId, Files, Span, Spanned};

/// The kinds that `schedc import` reads, and a word without which another kind of that name is meant.
const KINDS: [(&str, &str); 2] = [("KubeSchedulerConfiguration", ""), ("Policy", "predicates")];

/// Returns the kind of the configuration in a file of YAML or JSON, with its place. `None`: the file has no configuration.
pub(super) fn find(files: &Files, file: FileId) -> Option<Spanned<String>> {
    let text = files.text(file);
    KINDS.iter().filter(|(_, word)| text.contains(word)).find_map(|(kind, _)| {
        let mut places = text.match_indices(kind).map(|(start, _)| (start, start + kind.len()));
        let (start, end) = places.find(|&(start, end)| is_value_of_kind(&text[..start], &text[end..]))?;
        Some(Spanned { value: (*kind).to_owned(), span: Span { file, start, end } })
    })
}

/// Whether `kind: `, in YAML or JSON, ends `before`, and nothing else of the value is `after`.
fn is_value_of_kind(before: &str, after: &str) -> bool {
    let quotes = ['"', '\''];
    let key = before.trim_end_matches(quotes).trim_end().strip_suffix(':').map(|key| key.trim_end());
    let is_key = key.is_some_and(|key| key.trim_end_matches(quotes).ends_with("kind"));
    is_key && !after.starts_with(|c: char| c.is_alphanumeric())
}
