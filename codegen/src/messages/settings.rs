//! The values at the top of a profile.

use std::ops::RangeInclusive;

use crate::diagnostic::Diagnostic;
use crate::source::{Span, Spanned};

pub(crate) fn percentage_out_of_range(percentage: &Spanned<i128>) -> Diagnostic {
    Diagnostic::at(
        percentage.span,
        format!("percentage-of-nodes-to-score must be in 0..=100, not {}", percentage.value),
        "out of range",
    )
    .note("100 evaluates all nodes, 0 chooses the percentage by the size of the cluster, as kube-scheduler does")
}

/// Reports that the number of `key` is outside of `range`.
pub(crate) fn number_out_of_range(key: &str, number: &Spanned<i128>, range: &RangeInclusive<i128>) -> Diagnostic {
    let bound = if number.value < *range.start() {
        format!("at least {}", range.start())
    } else {
        format!("at most {}", range.end())
    };
    Diagnostic::at(number.span, format!("{key} must be {bound}, not {}", number.value), "out of range")
}

pub(crate) fn limit_out_of_range(key: &str, limit: &Spanned<i128>, range: &RangeInclusive<i128>) -> Diagnostic {
    let diagnostic = number_out_of_range(key, limit, range);
    if limit.value < *range.start() { diagnostic.help("leave the key out if there is no limit") } else { diagnostic }
}

/// Reports an initial backoff above the maximum. `initial` and `max` are in seconds; at least one of them was written.
pub(crate) fn backoff_shrinks(
    initial: u64,
    initial_at: Option<Span>,
    max: u64,
    max_at: Option<Span>,
) -> Option<Diagnostic> {
    let title = format!("pod-max-backoff-seconds ({max}) is less than pod-initial-backoff-seconds ({initial})");
    match (initial_at, max_at) {
        (Some(initial_at), Some(max_at)) => {
            Some(Diagnostic::at(max_at, title, "the longest backoff").secondary(initial_at, "the first backoff"))
        }
        (Some(initial_at), None) => Some(
            Diagnostic::at(initial_at, title, "more than the default of the longest backoff")
                .help(format!("set pod-max-backoff-seconds to {initial} or more")),
        ),
        (None, Some(max_at)) => Some(
            Diagnostic::at(max_at, title, "less than the default of the first backoff")
                .help(format!("set pod-initial-backoff-seconds to {max} or less")),
        ),
        (None, None) => None,
    }
}

pub(crate) fn empty_scheduler_name(name: &Spanned<String>) -> Diagnostic {
    Diagnostic::at(name.span, "scheduler-name must not be empty", "no pod can request this scheduler")
        .help("leave the key out to be `default-scheduler`")
}

pub(crate) fn bad_scheduler_name(name: &Spanned<String>, suggestion: Option<&str>) -> Diagnostic {
    let diagnostic =
        Diagnostic::at(name.span, format!("`{}` cannot be the name of a scheduler", name.value), "not a DNS subdomain")
            .note(
                "at most 253 lower-case letters, digits, `-` and `.`; each part starts and ends with a letter or digit",
            );
    match suggestion {
        None => diagnostic,
        Some(valid) => diagnostic.suggest(format!("`{valid}` is valid"), name.span, format!("\"{valid}\"")),
    }
}
